"""Rounds of federated sums that leave out clients with invalid updates."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from hearith.errors import HearithError, TableError

Update = TypeVar("Update")

#: The exceptions that reading an update from another party may raise.
MALFORMED = (HearithError, TypeError, ValueError, OverflowError, AttributeError, KeyError, IndexError)


class LeftOutWarning(UserWarning):
    """A client was left out of the sum of its round."""


@dataclass(frozen=True)
class Round(Generic[Update]):
    """The sum of a round, and the clients it includes."""

    #: The sum of the included clients' updates.
    total: Update
    #: The names of the included clients, in order of arrival.
    clients: tuple[Hashable, ...]
    #: The names of the other clients, with the reasons.
    left_out: Mapping[Hashable, Exception] = field(default_factory=dict)


class Admission(Generic[Update]):
    """The updates of a round, each of which is checked separately."""

    def __init__(self, read: Callable[[Any, Any], tuple[Update, int]], data: Callable[[Update], bytes]) -> None:
        """`read` converts what a client sent to an update and its factor, or raises an error.

        `data` returns the bytes of an update.
        """
        self._read, self._data = read, data
        self._seen: dict[bytes, Hashable] = {}
        self.admitted: dict[Hashable, tuple[Update, int]] = {}
        self.left_out: dict[Hashable, Exception] = {}

    def add(self, name: Hashable, sent: Any, weight: Any) -> None:
        """Admits the update of a client, or leaves the client out with a warning."""
        try:
            if name in self.admitted or name in self.left_out:
                raise TableError("the client sent more than one update", kind="repeated")
            update, factor = self._read(sent, weight)
            same = self._seen.setdefault(hashlib.sha256(self._data(update)).digest(), name)
            if same != name:
                raise TableError(f"the client sent the ciphertexts of client {same!r}", kind="repeated")
        except MALFORMED as error:
            # If a client sends two updates, the first is as doubtful as the second.
            self.admitted.pop(name, None)
            self.left_out[name] = error
            warnings.warn(f"client {name!r} is left out of the round: {error}", LeftOutWarning, stacklevel=4)
        else:
            self.admitted[name] = (update, factor)

    def check(self, minimum: int) -> None:
        """Raises `TableError` if there are too few clients."""
        if len(self.admitted) < minimum:
            names = ", ".join(f"{name!r} ({error})" for name, error in self.left_out.items())
            text = f"{len(self.admitted)} clients sent an update that can be summed, fewer than {minimum}"
            raise TableError(f"{text}; left out: {names or 'none'}", kind="too_few_clients")


def named(updates: Mapping[Hashable, Any] | Iterable[Any]) -> Iterator[tuple[Hashable, Any]]:
    """Yields updates with the names of their clients, or with their positions if they have no
    names.
    """
    if isinstance(updates, Mapping):
        yield from updates.items()
        return
    for position, one in enumerate(updates):
        pair = isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str | int)
        yield one if pair else (position, one)
