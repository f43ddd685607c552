"""Work begun before its turn, as far ahead as a window reaches and no farther."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

__all__ = ["ReadAhead"]

Item = TypeVar("Item", bound=Hashable)
Started = TypeVar("Started")


class ReadAhead(Generic[Item, Started]):
    """Starts the items of an iterator ahead of whoever consumes them.

    Iterating yields `(item, what start returned)` in order. At any moment at most
    `window` items are started that were not consumed.

    Args:
        items: read lazily, each once; hashable and distinct.
        start: begins an item's work and returns at once, a future as a rule; what it
            raises is raised at the item's own turn.
        window: how many items may be ahead, 1 or more.
    """

    def __init__(
        self, items: Iterable[Item], start: Callable[[Item], Started], window: int
    ) -> None:
        if window < 1:
            raise ValueError(f"a window of {window} starts nothing")
        self.items: Iterator[Item] = iter(items)
        self.start = start
        self.window = window
        self.started: OrderedDict[Item, Started | Exception] = OrderedDict()
        self.taken_early: set[Item] = set()

    def __iter__(self) -> Iterator[tuple[Item, Started]]:
        return self

    def __next__(self) -> tuple[Item, Started]:
        self.fill()
        if not self.started:
            raise StopIteration
        item, outcome = self.started.popitem(last=False)
        if isinstance(outcome, Exception):
            raise outcome
        return item, outcome

    def take(self, item: Item) -> Started:
        """Consume one item, in whatever order; start it now when it was not reached yet.

        Raises:
            Exception: what starting it raised.
        """
        self.fill()
        if item in self.started:
            outcome = self.started.pop(item)
        else:
            self.taken_early.add(item)
            outcome = self.begin(item)
        self.fill()  # while the caller waits for this one, the next are under way
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def fill(self) -> None:
        """Start items until the window is full or there are no more."""
        while len(self.started) < self.window:
            try:
                item = next(self.items)
            except StopIteration:
                return
            if item in self.taken_early:
                self.taken_early.remove(item)
                continue
            self.started[item] = self.begin(item)

    def begin(self, item: Item) -> Started | Exception:
        """Return what starting an item gives, or what it raises."""
        try:
            return self.start(item)
        except Exception as error:
            return error

    def drop(self) -> list[Started]:
        """Forget everything that was not consumed; return what had been started of it."""
        self.items = iter(())
        started = [one for one in self.started.values() if not isinstance(one, Exception)]
        self.started.clear()
        return started
