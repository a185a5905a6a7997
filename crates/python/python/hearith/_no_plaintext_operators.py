"""What encrypted numbers refuse, since nobody can see them without the private key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from hearith._writers import refusal


class NoPlaintextOperators:
    """Numbers that cannot be compared, are neither true nor false, and have no plain array."""

    __slots__ = ()

    def __eq__(self, other: object) -> NoReturn:
        raise refusal()("encrypted numbers cannot be compared: equal numbers have different ciphertexts")

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: object) -> NoReturn:
        raise TypeError("encrypted numbers cannot be compared: nobody sees which is larger without the private key")

    __le__ = __gt__ = __ge__ = __lt__

    def __bool__(self) -> NoReturn:
        raise TypeError("an encrypted number is neither true nor false")

    # Type checkers would take these numbers for plain arrays.
    if not TYPE_CHECKING:

        def __array__(self, *_: Any, **__: Any) -> Any:
            raise TypeError("encrypted numbers have no plain array: decrypt them with the private key")
