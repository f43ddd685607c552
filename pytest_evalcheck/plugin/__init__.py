"""The plugin as pytest loads it: small, so that a run without evaluations pays nothing.

The rooms beside this one are opened by the first eval file or marked test:

    options      the command line and the ini file
    commands     the options that do one thing and end
    hookspecs    what other plugins may implement
    suites       which suite governs a file
    collection   dataset file -> rows -> items
    run          scores items and fills their reports (each worker has one)
    fast_path    the short way through pytest's protocol
    outcomes     score -> passed, failed, xfailed, skipped
    marked       `@pytest.mark.metric` on Python tests
    fixtures     `evalcheck` and `eval_row`
    recorder     reports -> figures, gates, exit status, summary (controller only)

PYTEST_DONT_REWRITE: every run imports this, and there is no assert to rewrite.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from pytest_evalcheck.plugin.fixtures import eval_row, evalcheck

if TYPE_CHECKING:
    from pytest_evalcheck.plugin.run import EvalRun

__all__ = ["eval_row", "evalcheck"]

DATASET_SUFFIXES: Final = frozenset({".csv", ".json", ".jsonl", ".ndjson", ".tsv", ".yaml", ".yml"})

RUN: Final = pytest.StashKey["EvalRun"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options and their ini twins."""
    from pytest_evalcheck.plugin.options import add_options

    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Make the hooks of `hookspecs` known."""
    from pytest_evalcheck.plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, check the options; on an xdist controller, await the workers.

    Raises:
        pytest.UsageError: an option has a value that cannot be used.
    """
    config.addinivalue_line(
        "markers",
        "metric(name, dataset=None, threshold=None, gate='each', tags=()): count the test's "
        "outcome under a metric; with dataset=, run it once a row (fixture eval_row)",
    )
    from pytest_evalcheck.plugin.options import read_settings

    settings = read_settings(config)
    if _is_xdist_controller(config):
        from pytest_evalcheck.plugin.recorder import Recorder

        config.pluginmanager.register(Recorder(config, settings), "pytest_evalcheck_recorder")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Do what a command option asks for, and end."""
    option = config.option
    if (
        option.evalcheck_init is None
        and option.evalcheck_add_metric is None
        and not option.evalcheck_schema
    ):
        return None
    from pytest_evalcheck.plugin.commands import run_command

    return run_command(config)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Add a node for a suite file, or for a dataset that a suite claims."""
    others = yield
    if file_path.suffix not in DATASET_SUFFIXES:
        return others
    from pytest_evalcheck.plugin.claiming import node_for

    node = node_for(file_path, parent, taken=bool(others))
    return others if node is None else [*others, node]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test marked with `dataset=` once a row, and count marked tests."""
    mark = metafunc.definition.get_closest_marker("metric")
    if mark is None and "evalcheck" not in metafunc.fixturenames:
        return
    from pytest_evalcheck.plugin.marked import prepare_marked_test

    prepare_marked_test(metafunc, mark, activate(metafunc.config))


def activate(config: pytest.Config) -> EvalRun:
    """Return the run of this process, opening it with the first eval item."""
    run = config.stash.get(RUN, None)
    if run is None:
        from pytest_evalcheck.plugin.options import read_settings
        from pytest_evalcheck.plugin.recorder import Recorder
        from pytest_evalcheck.plugin.run import EvalRun

        settings = read_settings(config)
        run = config.stash[RUN] = EvalRun(config, settings)
        config.pluginmanager.register(run, "pytest_evalcheck_run")
        if not run.on_worker:
            config.pluginmanager.register(
                Recorder(config, settings, run), "pytest_evalcheck_recorder"
            )
    return run


def _is_xdist_controller(config: pytest.Config) -> bool:
    return config.pluginmanager.hasplugin("dsession") or (
        not hasattr(config, "workerinput")
        and bool(config.getoption("tx", None) or config.getoption("numprocesses", None))
    )
