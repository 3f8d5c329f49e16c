"""Memo: answers by key, of which those that nobody asked for in a long while are forgotten."""

from __future__ import annotations

from typing import Generic, TypeVar

V = TypeVar("V")


class Memo(Generic[V]):
    """Keeps answers of a total weight of up to twice `most`.

    In two generations: when the young one is full, it becomes the old one, and what was old is forgotten. An
    old answer that is asked for is young again. Keys are digests of everything that the answer depends on, so
    that an answer is right for ever, whichever graph asks.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._young: dict[bytes, tuple[V, int]] = {}
        self._old: dict[bytes, tuple[V, int]] = {}
        self._weight = 0

    def get(self, key: bytes) -> V | None:
        """The answer, None when it is not known."""
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                return None
            self.put(key, *found)
        return found[0]

    def put(self, key: bytes, value: V, weight: int) -> None:
        """Remembers an answer."""
        if self._weight + weight > self._most and self._young:
            self._old, self._young, self._weight = self._young, {}, 0
        self._young[key] = value, weight
        self._weight += weight

    def clear(self) -> None:
        """Forgets everything."""
        self._young, self._old, self._weight = {}, {}, 0
