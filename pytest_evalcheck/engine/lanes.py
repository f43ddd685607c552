"""A lane: the limits, the retries and the figures of one judge or one task."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from pytest_evalcheck.engine.budget import Ledger
from pytest_evalcheck.engine.slots import Pace, Slots
from pytest_evalcheck.judges.request import Failure, Reply
from pytest_evalcheck.judges.trouble import Trouble

__all__ = ["Lane", "Limits", "Progress", "Work"]

T = TypeVar("T")
Work = Callable[[], Awaitable[T]]

FIRST_WAIT_S: Final = 0.25
LONGEST_BACKOFF_S: Final = 20.0
LONGEST_WAIT_S: Final = 120.0  # a server that asks for more has, for this run, refused
MOST_CHANGES: Final = 6  # a model may refuse that many arguments, one by one
DOWN_AFTER: Final = 3  # requests in a row that failed for good


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How a lane may be used.

    Attributes:
        max_concurrency: the most calls under way at once.
        requests_per_minute: the most attempts begun in a minute, or None.
        timeout_s: the longest wait for one attempt.
        retries: how often a call is tried again after a passing fault.
    """

    max_concurrency: int = 8
    requests_per_minute: float | None = None
    timeout_s: float = 60.0
    retries: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Figures of a lane or a run at one moment.

    Attributes:
        done: requests that have an outcome.
        in_flight: attempts under way.
        waiting: requests that wait for a place, or to be tried again.
        calls: attempts made, retries included.
        replayed: requests answered by a recording; none of the other figures has them.
        failed: of those done, the ones that brought a `Failure`.
        tokens, cost_usd: what the calls used, as far as it is known.
    """

    done: int = 0
    in_flight: int = 0
    waiting: int = 0
    calls: int = 0
    replayed: int = 0
    failed: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class Lane:
    """Runs the calls of one judge or task within its limits; lives on the engine's loop.

    Args:
        name: for a person.
        limits: see `Limits`.
        ledger: the budget of the whole run.
        get_ready: awaited before an attempt and outside of its time limit; what it raises
            as `Trouble` stops the lane.
    """

    def __init__(
        self,
        name: str,
        limits: Limits,
        ledger: Ledger,
        get_ready: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.name = name
        self.limits = limits
        self.ledger = ledger
        self.get_ready = get_ready
        self.slots = Slots(limits.max_concurrency)
        self.pace = Pace(limits.requests_per_minute)
        self.stopped: Failure | None = None
        self.down = 0
        self.in_flight = self.done = self.calls = self.failed = 0

    async def run(self, work: Work[T], order: int) -> T | Failure:
        """Return what the work brings, or why it brings nothing.

        Args:
            work: called once an attempt; raises `Trouble` for an attempt that failed.
            order: of the calls that wait, the lowest begins first.

        Raises:
            Exception: whatever else the work raises: a bug, or a user's own error.
        """
        outcome = await self.attempt_until_done(work, order)
        self.failed += isinstance(outcome, Failure)
        self.done += 1
        return outcome

    async def attempt_until_done(self, work: Work[T], order: int) -> T | Failure:
        """Return the outcome of the last attempt, having waited between them."""
        attempts = retries = changes = 0
        while True:
            async with self.slots.place(order):
                refusal = await self.refusal()
                if refusal is not None:
                    return replace(refusal, attempts=attempts)
                attempts += 1
                outcome = await self.attempt(work)
            if not isinstance(outcome, Trouble):
                self.down = 0
                return counted(outcome, attempts)
            if outcome.remedy == "ask_changed" and changes < MOST_CHANGES:
                changes += 1
                continue
            wait_s = self.wait_s(outcome, retries)
            if wait_s is None:
                return self.given_up(outcome, attempts)
            retries += 1
            await asyncio.sleep(wait_s)

    async def refusal(self) -> Failure | None:
        """Return why no attempt may be made now, or None having counted one."""
        if self.stopped is None and self.get_ready is not None:
            try:
                await self.get_ready()
            except Trouble as trouble:
                self.stopped = Failure(code=trouble.code, reason=trouble.reason, attempts=0)
        if self.stopped is None:
            await self.pace.wait()
        if self.stopped is not None:
            return self.stopped
        spent = self.ledger.take_request()
        if spent:
            return Failure(code="budget_exhausted", reason=spent, attempts=0)
        return None

    async def attempt(self, work: Work[T]) -> T | Trouble:
        """Return the outcome of one attempt; a time limit that is passed is trouble too."""
        self.calls += 1
        self.in_flight += 1
        limit = asyncio.timeout(self.limits.timeout_s)
        try:
            async with limit:
                outcome = await work()
        except Trouble as trouble:
            self.ledger.add(trouble)
            return trouble
        except TimeoutError:
            if not limit.expired():
                raise
            reason = f"{self.name} gave no answer in {self.limits.timeout_s:g} s"
            return Trouble("timeout", reason, remedy="wait")
        except (KeyboardInterrupt, SystemExit) as error:
            # Either would end the loop, and with it every other call.
            raise RuntimeError(f"{self.name} raised {type(error).__name__}: {error}") from error
        finally:
            self.in_flight -= 1
        self.ledger.add(outcome)
        return outcome

    def wait_s(self, trouble: Trouble, retries: int) -> float | None:
        """Return the seconds until the next attempt, or None when there is none."""
        if trouble.remedy != "wait" or retries >= self.limits.retries or self.down >= DOWN_AFTER:
            return None
        if trouble.wait_s is not None:
            # A little more than asked, and not for all at the same moment.
            jitter_s = random.uniform(0.0, 0.1)
            return trouble.wait_s + jitter_s if trouble.wait_s <= LONGEST_WAIT_S else None
        longest_s = min(FIRST_WAIT_S * 2.0**retries, LONGEST_BACKOFF_S)
        return longest_s * random.uniform(0.5, 1.0)

    def given_up(self, trouble: Trouble, attempts: int) -> Failure:
        """Return the failure of a request; take from it how the lane is."""
        reason = trouble.reason
        if trouble.wait_s is not None and trouble.wait_s > LONGEST_WAIT_S:
            reason += f"; it asks to wait {trouble.wait_s:,.0f} s"
        if attempts > 1:
            reason += f", {attempts} attempts"
        failure = Failure(code=trouble.code, reason=reason, attempts=attempts)
        if trouble.remedy == "stop_lane":
            self.stopped = self.stopped or failure
        elif trouble.remedy == "wait" and not trouble.busy:
            # A judge that is down is still asked, but each request only once.
            self.down += 1
        else:
            self.down = 0
        return failure


def counted(outcome: T, attempts: int) -> T:
    """Return an outcome with its attempts, where it has a place for them."""
    return replace(outcome, attempts=attempts) if isinstance(outcome, Reply) else outcome
