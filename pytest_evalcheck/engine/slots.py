"""How many calls may be under way at once, and how often one may begin."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["Pace", "Slots"]


class Slots:
    """A number of places, given to whoever was submitted first among those who wait.

    A plain semaphore would send a retried call to the end of the queue, and with it the
    test that waits for it.

    Args:
        count: the number of places, 1 or more.
    """

    def __init__(self, count: int) -> None:
        self.free = count
        self.waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self.asked = 0

    @asynccontextmanager
    async def place(self, order: int) -> AsyncIterator[None]:
        """Hold a place; of those who wait the lowest order comes first."""
        await self.take(order)
        try:
            yield
        finally:
            self.give()

    async def take(self, order: int) -> None:
        """Wait for a place and take it."""
        if self.free > 0:
            self.free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self.asked += 1
        heapq.heappush(self.waiting, (order, self.asked, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give()  # the place came in the same moment
            raise

    def give(self) -> None:
        """Give a place back: to the first who waits, if any."""
        while self.waiting:
            turn = heapq.heappop(self.waiting)[2]
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1


class Pace:
    """Spaces calls evenly so that no more than so many begin in a minute.

    Args:
        per_minute: the most calls that begin in 60 seconds, or None for no limit.
    """

    def __init__(self, per_minute: float | None) -> None:
        self.gap_s = 60.0 / per_minute if per_minute else 0.0
        self.next_s = 0.0

    async def wait(self) -> None:
        """Wait until the next call may begin."""
        if not self.gap_s:
            return
        now_s = asyncio.get_running_loop().time()
        begin_s = max(now_s, self.next_s)
        self.next_s = begin_s + self.gap_s
        await asyncio.sleep(begin_s - now_s)
