"""Calls that overlap: one event loop in one thread of its own, started by the first call.

`Engine.submit` takes any async work and gives a future; a lane holds the limits of the
judge or task that the work asks. `Judges` puts recordings before it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import itertools
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pytest_evalcheck.engine.budget import Budget, Ledger, read_budget
from pytest_evalcheck.engine.lanes import Lane, Limits, Progress, Work
from pytest_evalcheck.engine.read_ahead import ReadAhead
from pytest_evalcheck.judges.providers.daemon_calls import call_in_thread
from pytest_evalcheck.judges.request import Failure
from pytest_evalcheck.judges.trouble import Trouble

__all__ = [
    "Budget",
    "Engine",
    "Lane",
    "Limits",
    "Progress",
    "ReadAhead",
    "read_budget",
    "wait_for",
]

T = TypeVar("T")
Future = concurrent.futures.Future

CLOSE_WITHIN_S = 1.0
LOOK_EVERY_S = 0.25


class Engine:
    """Runs calls side by side; every method may be called from any thread.

    Args:
        budget: what the whole run may spend.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.ledger = Ledger(budget or Budget())
        self.lanes: list[Lane] = []
        self.replayed = 0
        self.lock = threading.Lock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.thread: threading.Thread | None = None
        self.closed = False
        self.open: set[Future[Any]] = set()
        self.open_beside: set[Future[None]] = set()
        self.orders = itertools.count()
        self.closers: list[Callable[[], Awaitable[None]]] = []

    def add_lane(
        self,
        name: str,
        limits: Limits | None = None,
        get_ready: Callable[[], Awaitable[None]] | None = None,
    ) -> Lane:
        """Return a new lane; `name` is what the reasons call it, for the rest see `Lane`."""
        lane = Lane(name, limits or Limits(), self.ledger, get_ready)
        with self.lock:
            self.lanes.append(lane)
        return lane

    def submit(self, work: Work[T], lane: Lane) -> Future[T | Failure]:
        """Begin work on a lane; return the future of its outcome.

        Args:
            work: an async function without arguments, called once an attempt. It raises
                `Trouble` for an attempt that brought nothing.
            lane: whose limits, retries and stops it is under.

        Returns:
            A future of what the work returned, or of the `Failure` that says why there is
            nothing. Any exception but `Trouble` is the future's. After `cancel_all` or
            `close` the future is cancelled from the start.
        """
        with self.lock:
            if self.closed:
                return cancelled_future()
            loop = self.start_loop()
            order = next(self.orders)
            future = asyncio.run_coroutine_threadsafe(lane.run(work, order), loop)
            self.open.add(future)
        future.add_done_callback(self.open.discard)
        return future

    def submit_call(
        self, function: Callable[..., T], *args: Any, lane: Lane
    ) -> Future[T | Failure]:
        """Begin a blocking function on a lane, in a thread; otherwise as `submit`."""
        return self.submit(lambda: call_in_thread(function, *args), lane)

    def run_beside(self, work: Callable[[], Awaitable[None]]) -> None:
        """Begin work that is no call, such as making something ready; its fault is nobody's."""
        with self.lock:
            if self.closed:
                return
            beside = asyncio.run_coroutine_threadsafe(quietly(work), self.start_loop())
            self.open_beside.add(beside)
        beside.add_done_callback(self.open_beside.discard)

    def when_closing(self, close: Callable[[], Awaitable[None]]) -> None:
        """Have an async function called on the loop before it ends."""
        with self.lock:
            self.closers.append(close)

    def progress(self) -> Progress:
        """Return the figures of the run so far."""
        lanes = tuple(self.lanes)
        in_flight = sum(lane.in_flight for lane in lanes)
        return Progress(
            done=sum(lane.done for lane in lanes),
            in_flight=in_flight,
            waiting=max(0, len(self.open) - in_flight),
            calls=sum(lane.calls for lane in lanes),
            replayed=self.replayed,
            failed=sum(lane.failed for lane in lanes),
            tokens=self.ledger.tokens,
            cost_usd=self.ledger.cost_usd,
        )

    def cancel_all(self) -> int:
        """Cancel everything and take nothing more; return how many calls were in flight."""
        with self.lock:
            self.closed = True
            under_way = (*self.open, *self.open_beside)
        in_flight = sum(lane.in_flight for lane in self.lanes)
        for future in under_way:
            future.cancel()
        return in_flight

    def close(self) -> int:
        """Cancel what is left and end the thread, within seconds; may be called again.

        Returns:
            How many calls were in flight.
        """
        in_flight = self.cancel_all()
        with self.lock:
            loop, thread, closers = self.loop, self.thread, self.closers
            self.loop = self.thread = None
            self.closers = []
        if loop is None or thread is None:
            return in_flight
        ended = asyncio.run_coroutine_threadsafe(end_tasks(closers), loop)
        concurrent.futures.wait([ended], timeout=2 * CLOSE_WITHIN_S)
        loop.call_soon_threadsafe(loop.stop)
        if thread is not threading.current_thread():
            thread.join(timeout=CLOSE_WITHIN_S)
        return in_flight

    def start_loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop, with its thread started; called under the lock."""
        if self.loop is None:
            loop = asyncio.new_event_loop()
            self.thread = threading.Thread(
                target=run_loop, args=(loop,), name="evalcheck-engine", daemon=True
            )
            self.loop = loop
            self.thread.start()
        return self.loop


def run_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped, then close it."""
    try:
        loop.run_forever()
    finally:
        loop.close()


async def end_tasks(closers: list[Callable[[], Awaitable[None]]]) -> None:
    """Cancel and await every other task of the loop, then call the closers."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=CLOSE_WITHIN_S)
    closing = [asyncio.ensure_future(close()) for close in closers]
    if closing:
        await asyncio.wait(closing, timeout=CLOSE_WITHIN_S)


async def quietly(work: Callable[[], Awaitable[None]]) -> None:
    with contextlib.suppress(Trouble):
        await work()


def cancelled_future() -> Future[Any]:
    future: Future[Any] = Future()
    future.cancel()
    future.set_running_or_notify_cancel()
    return future


def wait_for(future: Future[T]) -> T:
    """Return a future's outcome; Ctrl-C interrupts the wait on every system.

    Raises:
        CancelledError: the run was cancelled.
        Exception: what the work raised.
    """
    while True:
        try:
            return future.result(timeout=LOOK_EVERY_S)
        except concurrent.futures.TimeoutError:
            if future.done():
                return future.result()
