"""Keeps what is due when: the earliest comes first, and nothing else is looked at."""

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from math import inf
from typing import Generic, TypeVar

_Item = TypeVar("_Item", bound=Hashable)


class DueQueue(Generic[_Item]):
    """Items with the instant each is due; those due at the same instant come in the order they were put."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, _Item]] = []
        self._due_at: dict[_Item, float] = {}
        self._n_put = 0

    def put(self, item: _Item, at: float) -> None:
        """Have an item due at an instant, whenever it was due before."""
        if self._due_at.get(item) == at:
            return
        self._due_at[item] = at
        self._n_put += 1
        heappush(self._heap, (at, self._n_put, item))

    def put_by(self, item: _Item, at: float) -> None:
        """Have an item due at an instant at the latest."""
        if at < self._due_at.get(item, inf):
            self.put(item, at)

    def take(self, now: float) -> Iterator[_Item]:
        """Yield what is due, the earliest first; each is due no more, unless it is put again."""
        while (item := self.earliest(now)) is not None:
            self.remove(item)
            yield item

    def earliest(self, now: float = inf) -> _Item | None:
        """Return what is due first, if it is by now; it stays due."""
        heap = self._heap
        while heap and self._due_at.get(heap[0][2]) != heap[0][0]:
            heappop(heap)
        return heap[0][2] if heap and heap[0][0] <= now else None

    def remove(self, item: _Item) -> None:
        """Have an item due no more."""
        self._due_at.pop(item, None)
