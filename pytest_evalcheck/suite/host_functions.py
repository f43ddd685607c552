"""The user's functions by name: found inside the rootdir, imported, checked to be callable."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.suite.keys import near, show
from pytest_evalcheck.suite.user_frames import error_text, raise_point

__all__ = ["fault", "load_function"]

ASYNC: Final = "an async function"


def load_function(
    reference: str, *, base_dir: Path, rootdir: Path, may_be_async: bool = False
) -> Callable[..., Any]:
    """Return the function a reference names, importing its module.

    The suite's folder (and the file's own) can be imported from while the module is
    imported, and only then. An async function is refused unless it may be one.

    Raises:
        ConfigError: no such file, module or function, one outside of the rootdir, or
            the import failed; with near names where there are some.
    """
    place, colon, name = reference.rpartition(":")
    if not colon or not place.strip() or not name.strip():
        raise fault(
            f"{reference!r} does not name a function",
            "file.py:function or package.module:function",
        )
    if place.endswith(".py") or "/" in place or "\\" in place:
        module = import_file(find_file(place, base_dir, rootdir), place, base_dir)
    else:
        module = import_module(place, base_dir, rootdir)
    return find_callable(module, name, place, may_be_async=may_be_async)


def find_file(place: str, base_dir: Path, rootdir: Path) -> Path:
    """Return the real path of an evaluator's file.

    Raises:
        ConfigError: it is not there, or lies outside of the rootdir.
    """
    if "\\" in place:
        raise fault(
            f"{place!r} has backslashes",
            "forward slashes",
            f"Write {place.replace(chr(92), '/')!r}.",
        )
    path = Path(os.path.realpath(base_dir / place))
    if not path.is_relative_to(os.path.realpath(rootdir)):
        raise fault(
            f"{place!r} leads out of the rootdir", "a file inside it", "Move the file into it."
        )
    if not path.is_file():
        others = sorted(one.name for one in path.parent.glob("*.py"))[:200]
        raise fault(
            f"there is no file {place!r} beside the suite",
            "the path of a Python file, relative to the suite file",
            near(path.name, others),
        )
    return path


def import_file(path: Path, place: str, base_dir: Path) -> ModuleType:
    """Return the module of a file, imported once under a name of its own.

    Raises:
        ConfigError: the import failed.
    """
    digest = hashlib.sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    name = f"evalcheck_host_{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise fault(f"{place!r} is no Python file", "a file whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before running it: dataclasses look their module up
    try:
        with importable(str(base_dir), str(path.parent)):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        del sys.modules[name]
        raise
    except BaseException as error:
        del sys.modules[name]
        raise import_fault(place, error) from None
    return module


def import_module(name: str, base_dir: Path, rootdir: Path) -> ModuleType:
    """Return a module by its dotted name, from the suite's folder, the rootdir or the environment.

    Raises:
        ConfigError: there is no such module, or its import failed.
    """
    try:
        with importable(str(base_dir), str(rootdir)):
            module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise import_fault(name, error) from None
        raise fault(
            f"there is no module {error.name!r}",
            "file.py:function, or a module that can be imported",
            f"Write '{name}.py:…' if a file beside the suite is meant."
            if (base_dir / f"{name}.py").is_file()
            else "",
        ) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise import_fault(name, error) from None
    refuse_namesake(module, name, base_dir)
    return module


def refuse_namesake(module: ModuleType, name: str, base_dir: Path) -> None:
    """Refuse a module that another suite's module of the same name has displaced.

    Raises:
        ConfigError: a file of that name lies beside the suite, and another was imported.
    """
    path = base_dir / (name.replace(".", "/") + ".py")
    file = getattr(module, "__file__", None)
    if path.is_file() and file and os.path.realpath(file) != os.path.realpath(path):
        raise fault(
            f"the module {name!r} is another file's: {Path(file).name!r} of "
            f"{Path(file).parent.name!r}",
            "the file beside the suite",
            f"Write '{path.name}:…', which no other file can displace.",
        )


@contextmanager
def importable(*folders: str) -> Iterator[None]:
    """Put folders in front of `sys.path` for the length of one import."""
    added = list(dict.fromkeys(folders))
    sys.path[:0] = added
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for folder in added:
            if folder in sys.path:
                sys.path.remove(folder)


def find_callable(
    module: ModuleType, name: str, place: str, *, may_be_async: bool = False
) -> Callable[..., Any]:
    """Return the function of a module.

    Raises:
        ConfigError: it is not there, cannot be called, or is of a form that is not wanted.
    """
    found = getattr(module, name, None)
    if found is None:
        names = [one for one, value in vars(module).items() if inspect.isfunction(value)]
        offered = near(name, names) or (f"It has {', '.join(names[:5])}." if names else "")
        raise fault(f"{place!r} has no function {name!r}", "the name of a function there", offered)
    if not callable(found):
        raise fault(f"{name!r} of {place!r} is {show(found)}", "a function")
    form = odd_form(found)
    if form and not (may_be_async and form == ASYNC):
        raise fault(f"{name!r} of {place!r} is {form}", "a plain function that returns a score")
    return found  # type: ignore[no-any-return]


def odd_form(function: Any) -> str:
    """Return what a function is when a call of it gives something to await or iterate, or ''."""
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    if inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called):
        return ASYNC
    return "a generator" if inspect.isgeneratorfunction(called) else ""


def fault(found: str, expected: str = "", fix: str = "") -> ConfigError:
    """Return the error of an `evaluator` reference."""
    return ConfigError(
        Problem(found=found, expected=expected, fix=fix, where="evaluator", keys=("evaluator",))
    )


def import_fault(place: str, error: BaseException) -> ConfigError:
    """Return the error of a module that could not be imported, with the user's line."""
    if isinstance(error, SyntaxError) and error.filename:
        line = f"{Path(error.filename).name}:{error.lineno}"
    else:
        line = raise_point(error)
    where = f" ({line})" if line else ""
    return fault(f"importing {place!r} raised {error_text(error)}{where}", "", "Mend the module.")
