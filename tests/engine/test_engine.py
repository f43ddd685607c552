"""Calls that overlap: limits, retries, budget, cancellation."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_evalcheck.engine import Budget, Engine, Limits, ReadAhead, read_budget, wait_for
from pytest_evalcheck.engine import lanes as lanes_module
from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.judges.request import Failure, Reply
from pytest_evalcheck.judges.trouble import Trouble, retry_after_s

WAIT = Trouble("judge_unavailable", "busy", remedy="wait")


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.close()
    assert not [one for one in threading.enumerate() if one.name == "evalcheck-engine"]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "FIRST_WAIT_S", 0.01)


def scripted(*outcomes: Any) -> Any:
    """Return work that gives one outcome an attempt; exceptions are raised."""
    left = list(outcomes)

    async def work() -> Any:
        outcome = left.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return work


def test_no_thread_starts_before_the_first_call() -> None:
    engine = Engine()
    engine.add_lane("the judge")
    assert engine.thread is None
    assert engine.close() == 0


def test_async_and_blocking_work_give_futures(engine: Engine) -> None:
    lane = engine.add_lane("the task")
    asked = engine.submit(scripted("a"), lane)
    called = engine.submit_call(lambda text: text + "!", "b", lane=lane)
    assert (wait_for(asked), wait_for(called)) == ("a", "b!")
    assert engine.progress().done == 2


def test_no_more_calls_are_under_way_than_the_lane_allows(engine: Engine) -> None:
    lane = engine.add_lane("the judge", Limits(max_concurrency=3))
    now = most = 0

    async def work() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1

    for future in [engine.submit(work, lane) for _ in range(20)]:
        wait_for(future)
    assert most == 3


def test_calls_are_spaced_to_the_pace(engine: Engine) -> None:
    lane = engine.add_lane("the judge", Limits(requests_per_minute=1200))
    started = time.perf_counter()
    for future in [engine.submit(scripted(1), lane) for _ in range(5)]:
        wait_for(future)
    assert time.perf_counter() - started >= 4 * 0.05


def test_a_retried_call_keeps_its_place_in_the_queue(engine: Engine) -> None:
    lane = engine.add_lane("the judge", Limits(max_concurrency=1))
    ended: list[int] = []

    def numbered(number: int) -> Any:
        tries = [0]

        async def work() -> None:
            tries[0] += 1
            await asyncio.sleep(0.03)
            if number == 0 and tries[0] == 1:
                raise WAIT
            ended.append(number)

        return work

    for future in [engine.submit(numbered(number), lane) for number in range(6)]:
        wait_for(future)
    assert ended.index(0) <= 2


@pytest.mark.parametrize(
    ("outcomes", "want"),
    [
        ([WAIT, WAIT, Reply(text="4")], Reply(text="4", attempts=3)),
        ([WAIT] * 3, Failure(code="judge_unavailable", reason="busy, 3 attempts", attempts=3)),
        (
            [Trouble("judge_unparsable", "no")],
            Failure(code="judge_unparsable", reason="no", attempts=1),
        ),
        (
            [Trouble("judge_unavailable", "x", remedy="ask_changed")] * 5 + [Reply(text="4")],
            Reply(text="4", attempts=6),
        ),
    ],
    ids=["passes", "stays", "final", "reworded"],
)
def test_attempts_go_on_as_the_trouble_says(engine: Engine, outcomes: Any, want: Any) -> None:
    lane = engine.add_lane("the judge", Limits(retries=2))
    assert wait_for(engine.submit(scripted(*outcomes), lane)) == want


def test_a_bug_is_raised_and_ends_only_its_own_call(engine: Engine) -> None:
    lane = engine.add_lane("the judge")
    broken = engine.submit(scripted(KeyError("oops")), lane)
    good = engine.submit(scripted(1), lane)
    assert wait_for(good) == 1
    with pytest.raises(KeyError, match="oops"):
        wait_for(broken)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_work_that_exits_does_not_end_the_loop(engine: Engine, error: BaseException) -> None:
    lane = engine.add_lane("the task")

    def call() -> None:
        raise error

    for future in (engine.submit(scripted(error), lane), engine.submit_call(call, lane=lane)):
        with pytest.raises(RuntimeError, match=type(error).__name__):
            wait_for(future)
    assert wait_for(engine.submit(scripted(1), lane)) == 1


def test_a_time_limit_of_the_work_itself_is_no_time_limit_of_ours(engine: Engine) -> None:
    lane = engine.add_lane("the task", Limits(retries=0))
    with pytest.raises(TimeoutError, match="theirs"):
        wait_for(engine.submit(scripted(TimeoutError("theirs")), lane))


def test_blocking_work_that_hangs_is_a_timeout_and_holds_nothing_up(engine: Engine) -> None:
    lane = engine.add_lane("the task", Limits(timeout_s=0.05, retries=0))
    hold = threading.Event()
    outcome = wait_for(engine.submit_call(hold.wait, 20, lane=lane))
    hold.set()
    assert isinstance(outcome, Failure)
    assert outcome.code == "timeout"


def test_a_stopped_lane_asks_no_more(engine: Engine) -> None:
    lane = engine.add_lane("the judge", Limits(max_concurrency=1))
    stop = Trouble("judge_unavailable", "set KEY", remedy="stop_lane")
    first, *rest = [engine.submit(scripted(stop), lane) for _ in range(4)]
    assert wait_for(first).attempts == 1
    assert [(wait_for(one).reason, wait_for(one).attempts) for one in rest] == [("set KEY", 0)] * 3
    assert engine.progress().calls == 1


def test_a_judge_that_is_down_is_asked_once_a_request(engine: Engine) -> None:
    lane = engine.add_lane("the judge", Limits(max_concurrency=1, retries=2))
    attempts = [wait_for(engine.submit(scripted(WAIT, WAIT, WAIT), lane)).attempts for _ in "12345"]
    assert attempts == [3, 3, 3, 1, 1]
    assert wait_for(engine.submit(scripted(Reply(text="4")), lane)).text == "4"
    assert wait_for(engine.submit(scripted(WAIT, Reply(text="4")), lane)).attempts == 2


def test_every_attempt_counts_against_the_budget() -> None:
    engine = Engine(Budget(requests=3))
    lane = engine.add_lane("the judge", Limits(max_concurrency=1))
    retried = engine.submit(scripted(WAIT, Reply(text="4")), lane)
    assert wait_for(retried).attempts == 2
    assert isinstance(wait_for(engine.submit(scripted(Reply(text="5")), lane)), Reply)
    spent = wait_for(engine.submit(scripted(Reply(text="6")), lane))
    engine.close()
    assert spent == Failure(
        code="budget_exhausted", reason="the run's budget of 3 requests is spent", attempts=0
    )


@pytest.mark.parametrize("budget", [Budget(tokens=100), Budget(cost_usd=0.5)])
def test_tokens_and_dollars_end_a_budget_too(budget: Budget) -> None:
    engine = Engine(budget)
    lane = engine.add_lane("the judge", Limits(max_concurrency=1))
    reply = Reply(text="4", tokens_in=90, tokens_out=10, cost_usd=0.5)
    outcomes = [wait_for(engine.submit(scripted(reply), lane)) for _ in range(2)]
    engine.close()
    assert isinstance(outcomes[0], Reply)
    assert outcomes[1].code == "budget_exhausted"


@pytest.mark.parametrize(
    ("written", "want"),
    [
        ("requests=500, tokens=1e6,usd=2.5", Budget(requests=500, tokens=1_000_000, cost_usd=2.5)),
        ({"usd": 5}, Budget(cost_usd=5)),
    ],
)
def test_a_budget_is_read_from_text_or_a_mapping(written: Any, want: Budget) -> None:
    assert read_budget(written) == want


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "is no budget"),
        ("request=5", "Did you mean 'requests'?"),
        ("usd=five", "'five', expected a number above 0"),
        ({"tokens": 0}, "0, expected a number above 0"),
        ({"requests": 1.5}, "expected a whole number"),
        (3, "3 is no budget"),
    ],
)
def test_a_miswritten_budget_is_refused(written: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_budget(written)


def test_cancelling_returns_at_once_and_tells_what_was_in_flight(engine: Engine) -> None:
    lane = engine.add_lane("the judge", Limits(max_concurrency=4))
    futures = [engine.submit(lambda: asyncio.sleep(30), lane) for _ in range(10)]
    while engine.progress().in_flight < 4:
        time.sleep(0.001)
    assert engine.progress().waiting == 6
    started = time.perf_counter()
    assert engine.cancel_all() == 4
    assert engine.submit(scripted(1), lane).cancelled()
    engine.close()
    assert time.perf_counter() - started < 1.0
    assert all(future.cancelled() for future in futures)
    with pytest.raises(concurrent.futures.CancelledError):
        wait_for(futures[0])
    engine.close()


def test_one_cancelled_call_gives_its_place_to_the_next(engine: Engine) -> None:
    lane = engine.add_lane("the judge", Limits(max_concurrency=1))
    held = engine.submit(lambda: asyncio.sleep(30), lane)
    waiting = engine.submit(lambda: asyncio.sleep(30), lane)
    last = engine.submit(scripted(7), lane)
    waiting.cancel()
    held.cancel()
    assert wait_for(last) == 7


@pytest.mark.parametrize(
    ("headers", "want"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], want: float | None) -> None:
    assert retry_after_s(headers) == want


def test_read_ahead_starts_no_more_than_its_window_beyond_what_was_consumed() -> None:
    started: list[int] = []
    ahead = ReadAhead(range(100), lambda item: started.append(item) or item * 10, 3)
    assert started == []
    assert next(ahead) == (0, 0)
    assert started == [0, 1, 2]
    assert [next(ahead) for _ in range(2)] == [(1, 10), (2, 20)]
    assert len(started) <= 3 + 3
    assert [value for _, value in ahead] == [item * 10 for item in range(3, 100)]


def test_read_ahead_takes_items_out_of_order_once_each() -> None:
    started: list[str] = []
    ahead = ReadAhead("abcdef", lambda item: started.append(item) or item.upper(), 2)
    assert [ahead.take(item) for item in "baf"] == ["B", "A", "F"]
    assert [item for item, _ in ahead] == ["c", "d", "e"]
    assert sorted(started) == list("abcdef")


def test_read_ahead_raises_a_fault_at_its_own_turn() -> None:
    def start(item: int) -> int:
        if item == 1:
            raise ValueError("one")
        return item

    ahead = ReadAhead(range(3), start, 3)
    assert next(ahead) == (0, 0)
    with pytest.raises(ValueError, match="one"):
        next(ahead)
    assert next(ahead) == (2, 2)


def test_read_ahead_gives_back_what_was_not_consumed() -> None:
    ahead = ReadAhead(range(9), lambda item: item, 4)
    next(ahead)
    ahead.take(1)
    assert ahead.drop() == [2, 3, 4, 5]
    assert list(ahead) == []
