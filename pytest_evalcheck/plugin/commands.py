"""The options that do one thing and end: write a suite, add a metric, print the schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from pytest_evalcheck.errors import EvalcheckError
from pytest_evalcheck.plugin.options import read_settings
from pytest_evalcheck.plugin.run import CheckRegistry
from pytest_evalcheck.plugin.suites import problems_text
from pytest_evalcheck.suite import SUITE_FILE, find_suite, is_suite_file
from pytest_evalcheck.suite.plan import shown_path

__all__ = ["run_command"]

INIT: Final = "--evalcheck-init"
ADD_METRIC: Final = "--evalcheck-add-metric"
SCHEMA: Final = "--evalcheck-schema"


def run_command(config: pytest.Config) -> int:
    """Do what the one command option given asks for.

    Returns:
        Exit status 0.

    Raises:
        pytest.UsageError: it cannot be done, or several are given; nothing was written.
    """
    option = config.option
    given = [
        flag
        for flag, value in (
            (SCHEMA, option.evalcheck_schema or None),
            (INIT, option.evalcheck_init),
            (ADD_METRIC, option.evalcheck_add_metric),
        )
        if value is not None
    ]
    if len(given) > 1:
        raise pytest.UsageError(f"{' and '.join(given)}: give one of them at a time")
    # Checks that a conftest.py adds are part of the schema and may be added as metrics.
    config.hook.pytest_evalcheck_register(registry=CheckRegistry())
    try:
        if given == [SCHEMA]:
            return _print_schema()
        if given == [INIT]:
            return _init(config, option.evalcheck_init)
        return _add_metric(config, option.evalcheck_add_metric)
    except EvalcheckError as error:
        raise pytest.UsageError(problems_text(error)) from None
    except OSError as error:
        raise pytest.UsageError(f"{given[0]}: {error.filename}: {error.strerror}") from None


def _print_schema() -> int:
    from pytest_evalcheck.suite import json_schema

    _say(json.dumps(json_schema(), indent=2, ensure_ascii=True))
    return 0


def _init(config: pytest.Config, folder: str) -> int:
    from pytest_evalcheck.first_run import write_suite

    if not folder.strip():
        raise pytest.UsageError(f"{INIT}: no folder is named. Write {INIT} evals")
    target = (config.invocation_params.dir / folder).resolve()
    rootdir = config.rootpath.resolve()
    if not target.is_relative_to(rootdir):
        rootdir = target
    for path in write_suite(target, rootdir):
        _say(f"wrote {shown_path(path, config.invocation_params.dir.resolve())}")
    _say(f"Run it: pytest {folder}")
    return 0


def _add_metric(config: pytest.Config, text: str) -> int:
    from pytest_evalcheck.first_run import append_metric

    suite = _suite_of(config)
    written = append_metric(text, suite, config.rootpath.resolve())
    _say(f"added to {shown_path(suite, config.invocation_params.dir.resolve())}: {written}")
    return 0


def _suite_of(config: pytest.Config) -> Path:
    """Return the suite file that is meant: the one of the config, or the nearest one upward.

    Raises:
        pytest.UsageError: none, or more than one.
    """
    named = read_settings(config).config
    if named is not None:
        return named.resolve()
    here = config.invocation_params.dir
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        found = _suites_at((here / argument.split("::")[0] for argument in config.args), config)
    else:
        found = _suites_at([here], config) or _suites_at(map(here.joinpath, config.args), config)
    if len(found) != 1:
        names = ": " + ", ".join(sorted(shown_path(path, here.resolve()) for path in found))
        raise pytest.UsageError(
            f"{ADD_METRIC}: {len(found) or 'no'} suites are meant{names if found else ''}. "
            f"Name the folder of the one {SUITE_FILE} that takes the metric: "
            f"pytest evals {ADD_METRIC} ..."
        )
    return found.pop()


def _suites_at(places: Iterable[Path], config: pytest.Config) -> set[Path]:
    """Return the suites of the places: the file itself, or the nearest one upward."""
    found = set()
    for place in places:
        if not place.exists():
            raise pytest.UsageError(f"{ADD_METRIC}: there is no {place}")
        suite = (
            place
            if place.is_file() and is_suite_file(place.name)
            else find_suite(place.resolve(), config.rootpath.resolve())
        )
        if suite is not None:
            found.add(suite.resolve())
    return found


def _say(text: str) -> None:
    """Print a line; what the console's encoding lacks is shown escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
