"""Operators that encrypted numbers reject, since they need the private key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from hearith._writers import refusal


class NoPlaintextOperators:
    """A base for numbers that cannot be compared, have no truth value, and cannot become a
    plaintext array.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> NoReturn:
        raise refusal()("encrypted numbers cannot be compared: equal numbers have different ciphertexts")

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: object) -> NoReturn:
        raise TypeError("encrypted numbers cannot be compared: nobody can see which is larger without the private key")

    __le__ = __gt__ = __ge__ = __lt__

    def __bool__(self) -> NoReturn:
        raise TypeError("an encrypted number is neither true nor false")

    # With `__array__`, type checkers would accept these numbers as plaintext arrays.
    if not TYPE_CHECKING:

        def __array__(self, *_: Any, **__: Any) -> Any:
            raise TypeError("encrypted numbers cannot become a plaintext array: decrypt them with the private key")
