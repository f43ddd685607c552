"""The short way through pytest for items that need no fixtures.

An item's own protocol costs pytest several times what a check does. The short way
sends the same reports through the same reporting hooks and leaves out set-up, capture
and teardown, which these items do not have (a report of the teardown is sent where
somebody reads it). It steps aside, and pytest's full protocol
runs, as soon as a plugin or conftest implements a hook that it would leave out, and for
the last item before one that is not ours, so that pytest's own set-up state stays right.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from pytest_evalcheck.plugin.collection import EvalItem
    from pytest_evalcheck.plugin.run import EvalRun

__all__ = ["FastPath"]

# Hooks that the short way does not call.
LEFT_OUT: Final = (
    "pytest_runtest_setup",
    "pytest_runtest_call",
    "pytest_runtest_teardown",
    "pytest_runtest_makereport",
    "pytest_pyfunc_call",
    "pytest_exception_interact",
)

# Plugins known to implement them for Python functions or their own machinery only.
HARMLESS: Final = frozenset(
    {"_hypothesis_pytestplugin", "_pytest", "anyio", "pytest_asyncio", "pytest_cov",
     "pytest_evalcheck", "xdist"}
)  # fmt: skip

# Options that need the full protocol to do what they say.
FULL_PROTOCOL_OPTIONS: Final = ("usepdb", "trace", "setuponly", "setupshow", "setupplan")

# Readers of reports that learn nothing from a passed teardown. Any other (JUnit, a worker
# of xdist, an HTML report) gets one.
CALL_IS_ENOUGH: Final = (
    "_pytest.cacheprovider",
    "_pytest.logging",
    "_pytest.main",
    "_pytest.stepwise",
    "_pytest.terminal",
    "pytest_evalcheck.",
)

KEYWORDS: Final[dict[str, Any]] = {}


class FastPath:
    """Runs items by the short way; exists only where that is safe."""

    def __init__(self, run: EvalRun) -> None:
        self._run = run
        self._last_location = ("", -1, "")
        self._teardown_wanted = any(
            not _module(impl).startswith(CALL_IS_ENOUGH)
            for impl in _implementations(run.config, "pytest_runtest_logreport")
        )

    @classmethod
    def when_safe(cls, run: EvalRun) -> FastPath | None:
        """Return the short way, or None where a plugin or option needs the full one."""
        config = run.config
        if any(config.getoption(name, False) for name in FULL_PROTOCOL_OPTIONS):
            return None
        if any(_is_foreign(impl) for name in LEFT_OUT for impl in _implementations(config, name)):
            return None
        protocol = _implementations(config, "pytest_runtest_protocol")
        if any(_is_foreign(impl) and not _is_wrapper(impl) for impl in protocol):
            return None
        return cls(run)

    def run(self, item: EvalItem, nextitem: pytest.Item | None) -> bool | None:
        """Run an item and send its reports; None where the full protocol must run it."""
        if nextitem is None or type(nextitem) is not type(item) or nextitem.path != item.path:
            return None
        hook = item.ihook
        nodeid = item.nodeid
        # Newer pytest has ids as objects; handing over the item's own saves a copy a report.
        shared_id: Any = getattr(item, "id", nodeid)
        location = self._location(item)
        hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
        report = self._call_report(item, shared_id, location)
        hook.pytest_runtest_logreport(report=report)
        if self._teardown_wanted:
            hook.pytest_runtest_logreport(
                report=pytest.TestReport(
                    shared_id,
                    location,
                    KEYWORDS,
                    "passed",
                    None,
                    "teardown",
                    user_properties=report.user_properties,
                )
            )
        hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)
        return True

    def _location(self, item: EvalItem) -> tuple[str, int, str]:
        """Return where an item stands; the items of one row share it."""
        place = self._last_location
        line = max(item.line - 1, 0)
        if place[1] != line or place[0] != item.dataset.shown:
            place = self._last_location = (item.dataset.shown, line, "")
        return place

    def _call_report(
        self, item: EvalItem, nodeid: Any, location: tuple[str, int, str]
    ) -> pytest.TestReport:
        run = self._run
        started, clock = time.time(), time.perf_counter()
        outcome = run.score_item(item)
        duration = time.perf_counter() - clock
        if outcome.word == "failed":
            return _failure_report(item)
        report = pytest.TestReport(
            nodeid,
            location,
            KEYWORDS,
            "skipped" if outcome.word == "skipped" else "passed",
            None,
            "call",
            (),
            duration,
            started,
            started + duration,
        )
        run.complete_report(item, report)
        return report


def _failure_report(item: EvalItem) -> pytest.TestReport:
    """Return the report pytest itself makes of the failure, so that it reads like any other."""
    text = item.run.failure_text(item)
    call = pytest.CallInfo.from_call(lambda: pytest.fail(text, pytrace=False), when="call")
    report: pytest.TestReport = item.ihook.pytest_runtest_makereport(item=item, call=call)
    return report


def _implementations(config: pytest.Config, name: str) -> list[Any]:
    return list(getattr(config.hook, name).get_hookimpls())


def _is_foreign(implementation: Any) -> bool:
    return _module(implementation).partition(".")[0] not in HARMLESS


def _module(implementation: Any) -> str:
    return getattr(implementation.function, "__module__", "") or ""


def _is_wrapper(implementation: Any) -> bool:
    return bool(implementation.wrapper or implementation.hookwrapper)
