"""A queue of items by the instant each is due."""

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from math import inf
from typing import Generic, TypeVar

_Item = TypeVar("_Item", bound=Hashable)


class DueQueue(Generic[_Item]):
    """Items with one due instant each; items due at the same instant come in the order they were put."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, _Item]] = []  # may hold outdated entries of an item
        self._due_at: dict[_Item, float] = {}
        self._n_put = 0

    def put(self, item: _Item, at: float) -> None:
        """Set the instant at which an item is due, replacing its previous one."""
        if self._due_at.get(item) == at:
            return
        self._due_at[item] = at
        self._n_put += 1
        heappush(self._heap, (at, self._n_put, item))

    def put_at_latest(self, item: _Item, at: float) -> None:
        """Make an item due at an instant unless it is due earlier already."""
        if at < self._due_at.get(item, inf):
            self.put(item, at)

    def pop_due(self, now: float) -> Iterator[_Item]:
        """Remove and yield the items that are due by `now`, earliest first."""
        while (item := self.first_due(now)) is not None:
            self.remove(item)
            yield item

    def first_due(self, now: float = inf) -> _Item | None:
        """Return the item that is due first if it is due by `now`; it stays in the queue."""
        heap = self._heap
        while heap and self._due_at.get(heap[0][2]) != heap[0][0]:
            heappop(heap)
        return heap[0][2] if heap and heap[0][0] <= now else None

    def remove(self, item: _Item) -> None:
        """Remove an item from the queue, if it is in it."""
        self._due_at.pop(item, None)
