"""A suite as frozen data: what was read, where it stands, which files it lists."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_evalcheck.datasets import DatasetOptions
    from pytest_evalcheck.model import Metric, Row

__all__ = ["DatasetRef", "Suite", "shown_path"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRef:
    """One entry of `datasets`: a pattern and how its files are read.

    Attributes:
        pattern: the path or glob as written, relative to the suite file.
        options: how the files are read.
        tags: become markers of the items of every row.
        title, description: what a person says of the data, or "".
        line: where the entry stands in the suite file, or 0.
    """

    pattern: str
    options: DatasetOptions
    tags: tuple[str, ...] = ()
    title: str = ""
    description: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One suite file, read and compiled.

    Attributes:
        path: the absolute path of the suite file.
        name: the path relative to the rootdir, with forward slashes.
        rootdir: the folder the suite's paths stay inside.
        datasets: the entries of `datasets`, in the order of the file.
        metrics: the compiled metrics, in the order of the file.
        tags: become markers of every item of the suite.
        inline_rows: the rows written in the suite file itself, or None without `rows`.
        files: every file the patterns match -> the entry that claims it, in the order
            of the entries and by name within one; keys are real paths.
    """

    path: Path
    name: str
    rootdir: Path
    datasets: tuple[DatasetRef, ...] = ()
    metrics: tuple[Metric, ...] = ()
    tags: tuple[str, ...] = ()
    inline_rows: tuple[Row, ...] | None = None
    files: Mapping[Path, DatasetRef] = field(default_factory=dict)

    def options_for(self, path: Path) -> DatasetRef | None:
        """Return the entry that claims a dataset file, or None when the suite lists it not."""
        return self.files.get(Path(os.path.realpath(path)))

    def listed_files(self) -> list[Path]:
        """Return the real paths of every dataset file the suite lists."""
        return list(self.files)

    def unmatched_metrics(self, rows: list[Row]) -> list[Metric]:
        """Return the metrics whose `applies_to` selects none of the rows.

        Args:
            rows: every row the suite's metrics could apply to, unfiltered.
        """
        return [
            metric
            for metric in self.metrics
            if metric.applies_to and not any(metric.applies(row) for row in rows)
        ]


def shown_path(path: Path, rootdir: Path) -> str:
    """Return a path relative to the rootdir with forward slashes, or as it is outside of it."""
    try:
        return path.relative_to(rootdir).as_posix()
    except ValueError:
        return path.as_posix()
