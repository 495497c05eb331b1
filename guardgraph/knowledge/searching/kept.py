"""What is kept in memory of a file, in bounded room; several threads may ask for it at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from threading import Lock
from typing import Final, Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

_COUNTED: Final = 1 << 14
"""Keys of which it is counted how often they were asked for. With more, older times count half."""


class Latest(Generic[_Key, _Value]):
    """Keeps what was asked for last."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._kept = OrderedDict[_Key, tuple[_Value, int]]()
        self._taken = 0
        self._lock = Lock()

    def get(self, key: _Key) -> _Value | None:
        """Return a value that is kept."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def keep(self, key: _Key, value: _Value, size: int) -> None:
        """Keep a value that takes so much."""
        with self._lock:
            _, before = self._kept.pop(key, (None, 0))
            self._kept[key] = value, size
            self._taken += size - before
            while len(self._kept) > 1 and self._taken > self._room:
                _, (_, freed) = self._kept.popitem(last=False)
                self._taken -= freed


class Often(Generic[_Key, _Value]):
    """Keeps what is asked for often: a value does not make room for one that was asked for less often."""

    # Each time that it stays for this reason it counts half, so what nobody asks for any more soon goes.

    def __init__(self, room: int) -> None:
        self._room = room
        self._kept = OrderedDict[_Key, tuple[_Value, int]]()
        self._taken = 0
        self._asked: dict[int, int] = {}
        """By the hash of a key, which may take much itself, how often it was asked for."""
        self._lock = Lock()

    def of(
        self, keys: Collection[_Key], read: Callable[[Sequence[_Key]], Mapping[_Key, tuple[_Value, int]]]
    ) -> dict[_Key, _Value]:
        """Return the values of keys."""
        with self._lock:
            found = {key: self._kept[key][0] for key in keys if key in self._kept}
            for hashed in map(hash, keys):
                self._asked[hashed] = self._asked.get(hashed, 0) + 1
            if len(self._asked) > _COUNTED:
                self._asked = {hashed: times // 2 for hashed, times in self._asked.items() if times > 1}
        if len(found) < len(keys):
            made = read([key for key in keys if key not in found])
            with self._lock:
                for key, (value, size) in made.items():
                    found[key] = value
                    self._keep(key, value, size)
        return found

    def _keep(self, key: _Key, value: _Value, size: int) -> None:
        """Keep a value where there is room for it, which is made where others are asked for less often."""
        while key not in self._kept and self._taken + size > self._room:
            oldest = next(iter(self._kept), key)
            times = self._asked.get(hash(oldest), 0)
            if times >= self._asked.get(hash(key), 0):
                if oldest in self._kept:
                    self._asked[hash(oldest)] = times // 2
                    self._kept.move_to_end(oldest)
                return
            self._taken -= self._kept.pop(oldest)[1]
        if key not in self._kept:
            self._kept[key] = value, size
            self._taken += size
