"""Blocking functions beside an event loop, in threads that cannot hold up the end of a run."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["call_in_thread"]

T = TypeVar("T")


async def call_in_thread(function: Callable[..., T], *args: Any) -> T:
    """Return what a blocking function returns, called in a daemon thread of its own.

    A thread pool would be waited for at the end of the process; a function that hangs must
    not hang the run. When the wait is cancelled, the thread goes on and its result is dropped.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(outcome: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(outcome)
        else:
            future.set_exception(error)

    def run() -> None:
        outcome: T | None = None
        error: BaseException | None = None
        try:
            outcome = context.run(function, *args)
        except StopIteration as stop:  # which no future may carry
            error = RuntimeError(f"StopIteration: {stop}")
        except BaseException as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(settle, outcome, error)

    threading.Thread(target=run, name="evalcheck-call", daemon=True).start()
    return await future
