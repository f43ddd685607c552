"""Which collected files are ours: the decision behind `pytest_collect_file`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from pytest_evalcheck.errors import EvalcheckError
from pytest_evalcheck.plugin import RUN, activate
from pytest_evalcheck.plugin.collection import EvalFile, SuiteFile
from pytest_evalcheck.suite import SUITE_FILE, find_suite, is_self_contained
from pytest_evalcheck.suite.plan import shown_path

__all__ = ["UnclaimedFile", "node_for"]


def node_for(path: Path, parent: pytest.Collector, *, taken: bool) -> pytest.Collector | None:
    """Return the node of a file that is ours, else None.

    A file is ours when it is a suite file, is named as an evaluation by itself, or is
    listed by the suite that governs it. Nothing but a governing suite is opened.

    Args:
        path: a file with a dataset's suffix.
        parent: the node of its folder.
        taken: whether another plugin collects the file already.
    """
    config = parent.config
    named = parent.session.isinitpath(path)
    if path.name == SUITE_FILE:
        return SuiteFile.of(parent, path, activate(config))
    if is_self_contained(path.name):
        return EvalFile.of(parent, path, activate(config))
    if not _governed(config, path):
        return None if taken or not named else UnclaimedFile.from_parent(parent, path=path)
    run = activate(config)
    try:
        if run.shelf.dataset(path) is not None:
            return EvalFile.of(parent, path, run)
    except EvalcheckError:
        # A broken suite is told once, by the node of the first file it governs.
        return EvalFile.of(parent, path, run)
    return None if taken or not named else UnclaimedFile.from_parent(parent, path=path)


def _governed(config: pytest.Config, path: Path) -> bool:
    run = config.stash.get(RUN, None)
    if run is not None:
        return run.shelf.governing_file(path) is not None
    forced = config.getoption("evalcheck_config", None) or config.getini("evalcheck_config")
    return bool(forced) or find_suite(path, config.rootpath) is not None


class UnclaimedFile(pytest.File):
    """A dataset file named on the command line that no suite lists."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Say what to write.

        Raises:
            CollectError: always.
        """
        shown = shown_path(self.path, self.config.rootpath)
        suite = find_suite(self.path, self.config.rootpath)
        if suite is None:
            fix = (
                f"Write an {SUITE_FILE} beside it with `datasets: [{self.path.name}]` and "
                "`metrics:`, or rename the file to "
                f"{self.path.stem}.eval{self.path.suffix} and give its rows `metrics:`."
            )
        else:
            inside = shown_path(self.path, suite.parent)
            fix = f"Add `{inside}` to `datasets:` in {shown_path(suite, self.config.rootpath)}."
        raise self.CollectError(f"{shown}: no suite lists this file. {fix}")
