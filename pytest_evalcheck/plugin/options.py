"""The options of the plugin: one table, read by pytest, the README test and the run.

This is imported by every pytest run the plugin is installed in. Its classes are written
out, since the decorator that would write them costs more than all the rest of the import.

PYTEST_DONT_REWRITE: every run imports this, and there is no assert to rewrite.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

__all__ = ["OPTIONS", "OptionSpec", "Settings", "add_options", "read_settings"]


class OptionSpec:
    """One command-line option and its ini twin.

    Attributes:
        flag: as typed, `--evalcheck-results`.
        help: one line.
        metavar: what the value is called, or "" for a switch.
        choices: the values allowed, empty when free.
        ini: whether an ini twin of the same name (underscores) exists.
    """

    __slots__ = ("choices", "flag", "help", "ini", "metavar")

    def __init__(
        self,
        *,
        flag: str,
        help: str,
        metavar: str = "",
        choices: tuple[str, ...] = (),
        ini: bool = True,
    ) -> None:
        self.flag = flag
        self.help = help
        self.metavar = metavar
        self.choices = choices
        self.ini = ini

    @property
    def dest(self) -> str:
        """The attribute of `config.option`, and the name of the ini twin."""
        return self.flag.removeprefix("--").replace("-", "_")


OPTIONS: Final = (
    OptionSpec(
        flag="--evalcheck-results",
        metavar="PATH",
        help="write every result to PATH.json (one document) or PATH.jsonl (a line as it comes)",
    ),
    OptionSpec(
        flag="--evalcheck-by",
        metavar="KEY",
        help="add the figures by the values of KEY: a metadata key, a tag, or 'tag'",
    ),
    OptionSpec(
        flag="--evalcheck-app-version",
        metavar="TEXT",
        help="the version of the application under test, for rows that do not name theirs",
    ),
    OptionSpec(
        flag="--evalcheck-config",
        metavar="PATH",
        help="use this suite file instead of the nearest evalcheck.yaml",
    ),
    OptionSpec(
        flag="--evalcheck-items",
        metavar="UNIT",
        choices=("metric", "row", "dataset"),
        help="one item per row and metric (default), per row, or per metric and dataset",
    ),
    OptionSpec(
        flag="--evalcheck-sample",
        metavar="N",
        help="run N rows of each dataset, chosen by their ids: the same rows every time",
        ini=False,
    ),
    OptionSpec(
        flag="--evalcheck-init",
        metavar="DIR",
        help="write a suite for the dataset files in DIR, or a small working one, and end",
        ini=False,
    ),
    OptionSpec(
        flag="--evalcheck-add-metric",
        metavar="YAML",
        help="append '{check: contains, value: x}' to the suite file as informational, and end",
        ini=False,
    ),
    OptionSpec(
        flag="--evalcheck-schema",
        help="print the JSON Schema of evalcheck.yaml for editors, and end",
        ini=False,
    ),
)


class Settings:
    """The options of one run, checked.

    Attributes:
        results: where the results file goes, or None.
        by: the key of the slices asked for, or None.
        app_version: version for rows that name none, or None.
        config: the suite file that governs everything, or None for the nearest one.
        items: what one pytest item stands for.
        sample: how many rows of each dataset run, or None for all.
    """

    __slots__ = ("app_version", "by", "config", "items", "results", "sample")

    def __init__(
        self,
        *,
        results: Path | None = None,
        by: str | None = None,
        app_version: str | None = None,
        config: Path | None = None,
        items: str = "metric",
        sample: int | None = None,
    ) -> None:
        self.results = results
        self.by = by
        self.app_version = app_version
        self.config = config
        self.items = items
        self.sample = sample


def add_options(parser: pytest.Parser) -> None:
    """Register every option and ini twin."""
    group = parser.getgroup("evalcheck", "LLM evaluations (pytest-evalcheck)")
    for option in OPTIONS:
        if not option.metavar:
            group.addoption(option.flag, dest=option.dest, action="store_true", help=option.help)
            continue
        extra: dict[str, Any] = {"choices": option.choices} if option.choices else {}
        group.addoption(
            option.flag,
            dest=option.dest,
            default=None,
            metavar=option.metavar,
            help=option.help,
            **extra,
        )
        if option.ini:
            parser.addini(option.dest, option.help, type="string", default="")


def read_settings(config: pytest.Config) -> Settings:
    """Return the settings of this run: flag over ini over default.

    Raises:
        pytest.UsageError: a value cannot be used, with what to write instead.
    """

    def value(name: str) -> Any:
        given = config.getoption(name, None)
        return given if given is not None else (config.getini(name) or None)

    return Settings(
        results=_results_path(value("evalcheck_results"), config),
        by=value("evalcheck_by"),
        app_version=value("evalcheck_app_version"),
        config=_suite_path(value("evalcheck_config"), config),
        items=_item_unit(value("evalcheck_items")),
        sample=_sample_size(config.getoption("evalcheck_sample", None)),
    )


def _results_path(text: str | None, config: pytest.Config) -> Path | None:
    if text is None:
        return None
    path = config.invocation_params.dir / text
    if path.suffix not in (".json", ".jsonl"):
        raise pytest.UsageError(f"--evalcheck-results {text}: the name must end in .json or .jsonl")
    if not path.parent.is_dir():
        raise pytest.UsageError(
            f"--evalcheck-results {text}: there is no folder {path.parent}. Create it first."
        )
    if path.is_dir():
        raise pytest.UsageError(f"--evalcheck-results {text}: this is a folder, not a file")
    return path


def _suite_path(text: str | None, config: pytest.Config) -> Path | None:
    if text is None:
        return None
    path = config.invocation_params.dir / text
    if not path.is_file():
        raise pytest.UsageError(f"--evalcheck-config {text}: there is no such file")
    return path


def _item_unit(text: str | None) -> str:
    allowed = ("metric", "row", "dataset")
    if text is not None and text not in allowed:
        raise pytest.UsageError(f"evalcheck_items = {text}: expected one of {', '.join(allowed)}")
    return text or "metric"


def _sample_size(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise pytest.UsageError(
            f"--evalcheck-sample {text}: expected a whole number of rows, 1 or more"
        )
    return int(text)
