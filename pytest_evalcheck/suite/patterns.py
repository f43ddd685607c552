"""Dataset patterns of a suite turned into files: relative to it, inside the rootdir, never a suite.

`*`, `?` and `[abc]` stand for parts of one name, `**` for any number of folders.
Hidden files and folders are matched only by a pattern that begins with a dot
itself; links to folders are not followed by `**`; a folder with a suite of its own
belongs to that suite and is left to it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.suite.discovery import SUITE_FILE, is_suite_file
from pytest_evalcheck.suite.plan import shown_path

__all__ = ["match_files"]

GLOB: Final = re.compile(r"[*?\[]")
NEAR_LIMIT: Final = 500  # names looked at for an offer, so that a huge folder costs nothing


def match_files(
    pattern: str, *, base_dir: Path, rootdir: Path, suffixes: frozenset[str] | None
) -> list[Path]:
    """Return the real paths of the dataset files a pattern matches, sorted.

    Args:
        pattern: a path or glob relative to `base_dir`, with forward slashes.
        base_dir: the folder of the suite file.
        rootdir: the folder every match must lie in, links followed.
        suffixes: the endings a dataset file may have; None takes any, for an entry
            that says its format.

    Raises:
        ConfigError: it is no relative path, leads out of the rootdir, or matches nothing.
    """
    refuse_form(pattern)
    refuse_outside(pattern, base_dir, rootdir)
    exact = base_dir / pattern
    if not GLOB.search(pattern) or exact.is_file():
        return [exact_file(pattern, exact, base_dir, rootdir, suffixes)]
    found = [path for path in walk(base_dir, pattern.split("/")) if not is_suite_file(path.name)]
    matches = [path for path in found if fits(path, suffixes)]
    if not matches:
        raise nothing(pattern, base_dir, rootdir, found)
    return sorted({inside(path, pattern, rootdir) for path in matches})


def fits(path: Path, suffixes: frozenset[str] | None) -> bool:
    """Tell whether a file's ending is that of a dataset."""
    return suffixes is None or path.suffix.lower() in suffixes


def refuse_form(pattern: str) -> None:
    """Refuse what is no relative path with forward slashes.

    Raises:
        ConfigError: it is absolute, has backslashes or characters no path has.
    """
    if "\\" in pattern:
        raise fault(
            f"{pattern!r} has backslashes",
            "forward slashes",
            f"Write {pattern.replace(chr(92), '/')!r}.",
        )
    if os.path.isabs(pattern) or re.match(r"[A-Za-z]:|~", pattern):
        raise fault(
            f"{pattern!r} is an absolute path",
            "a path relative to the suite file",
            "Datasets lie inside the rootdir.",
        )
    if re.search(r"[\x00-\x1f\x7f]", pattern):
        raise fault(f"{pattern!r} has control characters", "a path")


def refuse_outside(pattern: str, base_dir: Path, rootdir: Path) -> None:
    """Refuse a pattern whose fixed beginning leads out of the rootdir.

    Raises:
        ConfigError: it does.
    """
    parts = pattern.split("/")
    fixed = next((at for at, part in enumerate(parts) if GLOB.search(part)), len(parts))
    if ".." in parts[fixed:]:
        raise fault(f"{pattern!r} has '..' after a wildcard", "'..' only at the beginning")
    start = os.path.normpath(os.path.join(base_dir, *parts[:fixed]))
    if not Path(start).is_relative_to(os.path.normpath(rootdir)):
        raise outside(pattern)


def exact_file(
    pattern: str,
    path: Path,
    base_dir: Path,
    rootdir: Path,
    suffixes: frozenset[str] | None,
) -> Path:
    """Return the real path of a file named without wildcards.

    Raises:
        ConfigError: it is not there, a folder, a suite, of an unknown ending, or
            belongs to a nearer suite.
    """
    real = inside(path, pattern, rootdir)
    if real.is_dir():
        folder = pattern.rstrip("/")
        raise fault(f"{pattern!r} is a folder", "a file or a pattern", f"Write '{folder}/*.jsonl'.")
    if not real.is_file():
        raise nothing(pattern, base_dir, rootdir, [])
    if is_suite_file(path.name):
        raise fault(f"{pattern!r} is a suite file", "a dataset", "A suite runs by itself.")
    owner = nearer_suite(path, base_dir)
    if owner is not None:
        raise fault(
            f"{pattern!r} belongs to the nearer suite {shown_path(owner, base_dir)!r}",
            "a dataset of this suite",
            "List it there.",
        )
    if not fits(path, suffixes):
        raise fault(
            f"{pattern!r} has no ending of a dataset",
            "one of " + ", ".join(sorted(suffixes or ())),
            "Name its `format`.",
        )
    return real


def nearer_suite(path: Path, base_dir: Path) -> Path | None:
    """Return the suite file between a dataset below the suite's folder and that folder, or None."""
    base = os.path.normpath(base_dir)
    folder = os.path.dirname(os.path.normpath(path))
    while folder != base and folder.startswith(base + os.sep):
        candidate = os.path.join(folder, SUITE_FILE)
        if os.path.isfile(candidate):
            return Path(candidate)
        folder = os.path.dirname(folder)
    return None


def walk(folder: Path, parts: list[str]) -> Iterator[Path]:
    """Yield the files below a folder that match the parts of a pattern."""
    part, rest = parts[0], parts[1:]
    if part in ("", "."):
        if rest:
            yield from walk(folder, rest)
    elif part == "**":
        yield from walk(folder, rest or ["*"])
        for entry in entries(folder):
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield from below(Path(entry.path), parts)
    elif not GLOB.search(part):
        path = folder / part
        if rest and path.is_dir():
            yield from walk(path, rest) if part == ".." else below(path, rest)
        elif not rest and path.is_file():
            yield path
    else:
        for entry in entries(folder):
            if entry.name.startswith(".") > part.startswith(".") or not matches(entry, part):
                continue
            if rest and entry.is_dir():
                yield from below(Path(entry.path), rest)
            elif not rest and entry.is_file():
                yield Path(entry.path)


def below(folder: Path, parts: list[str]) -> Iterator[Path]:
    """Walk on in a folder, unless it has a suite of its own."""
    if not (folder / SUITE_FILE).is_file():
        yield from walk(folder, parts)


def matches(entry: os.DirEntry[str], part: str) -> bool:
    """Tell whether a name matches one part of a pattern, as written."""
    return fnmatchcase(entry.name, part)


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what a folder holds; one that cannot be read holds nothing."""
    try:
        with os.scandir(folder) as listed:
            return list(listed)
    except OSError:
        return []


def inside(path: Path, pattern: str, rootdir: Path) -> Path:
    """Return the real path of a match.

    Raises:
        ConfigError: a link leads out of the rootdir.
    """
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(rootdir)):
        raise outside(pattern)
    return real


def outside(pattern: str) -> ConfigError:
    """Return the error of a pattern that leads out of the rootdir."""
    return fault(
        f"{pattern!r} leads out of the rootdir", "a file inside it", "Move the data into it."
    )


def nothing(pattern: str, base_dir: Path, rootdir: Path, refused: list[Path]) -> ConfigError:
    """Return the error of a pattern that matches no dataset, naming the nearest files."""
    if refused:
        return fault(
            f"{pattern!r} matches no dataset file, only {refused[0].name!r}",
            "files with the ending of a dataset",
            "Name their `format` if they hold rows.",
        )
    from difflib import get_close_matches

    names = dataset_names(pattern, base_dir)
    wanted = GLOB.sub("", pattern.rpartition("/")[2])
    close = get_close_matches(wanted, names, n=3, cutoff=0.6) or names[:3]
    offer = f"There is {' and '.join(repr(name) for name in close)}." if close else ""
    return fault(f"{pattern!r} matches no file", "a dataset file of this suite", offer)


def dataset_names(pattern: str, base_dir: Path) -> list[str]:
    """Return the names of files near a pattern that could have been meant, sorted."""
    from pytest_evalcheck.datasets import DATASET_SUFFIXES

    start = pattern.rpartition("/")[0]
    folder = base_dir / start if not GLOB.search(start) else base_dir
    listed = entries(folder if folder.is_dir() else base_dir)[:NEAR_LIMIT]
    return sorted(
        entry.name
        for entry in listed
        if os.path.splitext(entry.name)[1].lower() in DATASET_SUFFIXES
        and not is_suite_file(entry.name)
        and not entry.name.startswith(".")
    )


def fault(found: str, expected: str = "", fix: str = "") -> ConfigError:
    """Return the error of a dataset pattern."""
    return ConfigError(Problem(found=found, expected=expected, fix=fix))
