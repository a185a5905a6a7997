"""Rounds of federated sums that go on without the clients whose updates cannot be added up."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from hearith.errors import HearithError, TableError

Update = TypeVar("Update")

#: What reading an update that somebody else made may raise.
MALFORMED = (HearithError, TypeError, ValueError, OverflowError, AttributeError, KeyError, IndexError)


class LeftOutWarning(UserWarning):
    """A client is not in the sum of its round."""


@dataclass(frozen=True)
class Round(Generic[Update]):
    """The sum of a round, and which clients are in it."""

    #: The sum of the updates of the clients that are in it.
    total: Update
    #: The names of these clients, in the order in which they came.
    clients: tuple[Hashable, ...]
    #: The names of the others, and why they are left out.
    left_out: Mapping[Hashable, Exception] = field(default_factory=dict)


class Admission(Generic[Update]):
    """The updates of a round, of which each is checked by itself."""

    def __init__(self, read: Callable[[Any, Any], tuple[Update, int]], data: Callable[[Update], bytes]) -> None:
        """`read` makes an update and its factor of what a client sent, or raises; `data` are the
        bytes of an update.
        """
        self._read, self._data = read, data
        self._seen: dict[bytes, Hashable] = {}
        self.admitted: dict[Hashable, tuple[Update, int]] = {}
        self.left_out: dict[Hashable, Exception] = {}

    def add(self, name: Hashable, sent: Any, weight: Any) -> None:
        """Takes the update of a client, or leaves the client out with a warning."""
        try:
            if name in self.admitted or name in self.left_out:
                raise TableError("the client sent more than one update", kind="repeated")
            update, factor = self._read(sent, weight)
            same = self._seen.setdefault(hashlib.sha256(self._data(update)).digest(), name)
            if same != name:
                raise TableError(f"the very ciphertexts of client {same!r}", kind="repeated")
        except MALFORMED as error:
            # The first update of a client that sends two is as doubtful as the second.
            self.admitted.pop(name, None)
            self.left_out[name] = error
            warnings.warn(f"client {name!r} is left out of the round: {error}", LeftOutWarning, stacklevel=4)
        else:
            self.admitted[name] = (update, factor)

    def check(self, minimum: int) -> None:
        """Raises `TableError` if there are too few clients."""
        if len(self.admitted) < minimum:
            names = ", ".join(f"{name!r} ({error})" for name, error in self.left_out.items())
            text = f"{len(self.admitted)} clients with an update that can be added up, fewer than {minimum}"
            raise TableError(f"{text}; left out: {names or 'none'}", kind="too_few_clients")


def named(updates: Mapping[Hashable, Any] | Iterable[Any]) -> Iterator[tuple[Hashable, Any]]:
    """Updates with the names of their clients; without names, with their places."""
    if isinstance(updates, Mapping):
        yield from updates.items()
        return
    for place, one in enumerate(updates):
        pair = isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str | int)
        yield one if pair else (place, one)
