"""The text of a suite tried as if it stood in a file, before it is written there."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_evalcheck.errors import ConfigError, EvalcheckError, Problem
from pytest_evalcheck.suite.loader import Page, parse, read_suite
from pytest_evalcheck.suite.plan import Suite, shown_path

__all__ = ["read_trial", "suite_value"]


def read_trial(text: str, path: Path, rootdir: Path) -> Suite:
    """Return the suite that a file would hold with this text.

    Args:
        text: the whole text.
        path: the file it is meant for; not read.
        rootdir: the folder no path of the suite may leave.

    Raises:
        ConfigError: the file would not load; with all problems.
    """
    page = _page(path, rootdir)
    document, page.lines = parse(page, text)
    if not isinstance(document, Mapping):
        raise ConfigError(Problem(path=page.shown, found="no mapping", expected="a suite"))
    suite = read_suite(page, document)
    if page.problems:
        raise ConfigError(sorted(page.problems, key=lambda one: one.line or 0))
    return suite


def suite_value(text: str, path: Path, rootdir: Path) -> Any:
    """Return the plain value of a suite's text, or None where it cannot be read."""
    try:
        return parse(_page(path, rootdir), text)[0]
    except EvalcheckError:
        return None


def _page(path: Path, rootdir: Path) -> Page:
    path, rootdir = Path(os.path.abspath(path)), Path(os.path.abspath(rootdir))
    return Page(path, rootdir, shown_path(path, rootdir))
