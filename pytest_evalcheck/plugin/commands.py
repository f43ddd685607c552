"""The options that do one thing and end: write a suite, add a metric, print the schema."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_evalcheck.errors import EvalcheckError
from pytest_evalcheck.plugin.suites import problems_text
from pytest_evalcheck.suite import SUITE_FILE, find_suite
from pytest_evalcheck.suite.plan import shown_path

__all__ = ["run_command"]


def run_command(config: pytest.Config) -> int | None:
    """Do what a command option asks for; None where there is none.

    Returns:
        Exit status 0.

    Raises:
        pytest.UsageError: it cannot be done; nothing was written.
    """
    option = config.option
    try:
        if option.evalcheck_schema:
            return _print_schema()
        if option.evalcheck_init is not None:
            return _init(config, option.evalcheck_init)
        if option.evalcheck_add_metric is not None:
            return _add_metric(config, option.evalcheck_add_metric)
    except EvalcheckError as error:
        raise pytest.UsageError(problems_text(error)) from None
    except OSError as error:
        raise pytest.UsageError(f"{error.filename}: {error.strerror}") from None
    return None


def _print_schema() -> int:
    from pytest_evalcheck.suite import json_schema

    _say(json.dumps(json_schema(), indent=2, ensure_ascii=True))
    return 0


def _init(config: pytest.Config, folder: str) -> int:
    from pytest_evalcheck.first_run import write_suite

    target = (config.invocation_params.dir / folder).resolve()
    rootdir = config.rootpath.resolve()
    if not target.is_relative_to(rootdir):
        rootdir = target
    for path in write_suite(target, rootdir):
        _say(f"wrote {shown_path(path, config.invocation_params.dir)}")
    _say(f"Run it: pytest {folder}")
    return 0


def _add_metric(config: pytest.Config, text: str) -> int:
    from pytest_evalcheck.first_run import append_metric

    suite = _suite_of(config)
    written = append_metric(text, suite, config.rootpath.resolve())
    _say(f"added to {shown_path(suite, config.invocation_params.dir)}: {written}")
    return 0


def _suite_of(config: pytest.Config) -> Path:
    """Return the suite file that is meant.

    Raises:
        pytest.UsageError: none, or more than one.
    """
    if config.option.evalcheck_config:
        named: Path = config.invocation_params.dir / config.option.evalcheck_config
        return named.resolve()
    places = [config.invocation_params.dir / str(argument) for argument in config.args]
    found = {
        suite
        for place in places or [config.invocation_params.dir]
        if (suite := find_suite(place, config.rootpath)) is not None
    }
    if len(found) != 1:
        raise pytest.UsageError(
            f"--evalcheck-add-metric: {len(found)} suites are meant. "
            f"Name the folder of one {SUITE_FILE}, or give --evalcheck-config."
        )
    return found.pop()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
