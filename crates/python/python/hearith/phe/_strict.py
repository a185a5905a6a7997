"""What `phe` lets pass in silence: weak keys, of which this package warns, and results that wrap
around n.

`strict()` has both raise.
"""

from __future__ import annotations

import math
import os
import warnings
from functools import cache, lru_cache
from types import TracebackType

from hearith.phe import util

#: Set to 1 in the environment, it turns the strict mode on from the start.
ENVIRONMENT = "HEARITH_PHE_STRICT"
#: Shorter keys protect nothing (SECURITY.md).
SECURE_BITS = 2048
#: Factors up to this are looked for in every modulus that is longer than a toy's.
_SMALL = 65537
_TOY_BITS = 64
#: Bits that an integer or a float is taken to have, whatever it is: its bound must not tell the
#: number.
_USUAL_BITS = 64

_state = {"on": os.environ.get(ENVIRONMENT, "") not in ("", "0")}


class strict:
    """Turns the strict mode on, or off; as a context manager, until the end of the block.

    In it keys below 2048 bits are rejected with `ValueError`, in pickles too, and an operation
    raises `OverflowError` if its result could exceed n / 3 on its exponent. `phe` wraps around n
    there: of numbers just below 2 under a key of 1024 bits, the 18th product with a float may
    decrypt to a wrong number. What is encrypted is taken to have 64 bits, longer integers the next
    power of two; so are numbers made from ciphertexts, and those made while the mode was off. The
    mode is the process's, for all its threads.

    >>> import hearith.phe as phe
    >>> public, private = phe.generate_paillier_keypair(n_length=256)
    >>> with phe.strict():  # doctest: +ELLIPSIS
    ...     public.encrypt(0.5) * 0.3 * 0.3 * 0.3 * 0.3
    Traceback (most recent call last):
        ...
    OverflowError: the result needs up to 282 bits, and the key has 25...: numbers would wrap around n
    """

    def __init__(self, on: bool = True) -> None:
        self._before = _state["on"]
        _state["on"] = on

    def __enter__(self) -> None:
        """The mode is on since the call."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _state["on"] = self._before


def is_on() -> bool:
    """Whether the strict mode is on."""
    return _state["on"]


def check_modulus(n: int) -> None:
    """Warns of a short modulus.

    Raises:
        ValueError: it has a small factor; or it is short, in the strict mode.
    """
    bits = n.bit_length()
    if bits > _TOY_BITS and _has_small_factor(n):
        raise ValueError(f"the modulus has a factor of at most {_SMALL}, which anybody can find")
    if bits >= SECURE_BITS:
        return
    text = f"a key of {bits} bits protects nothing: {SECURE_BITS} are needed"
    if is_on():
        raise ValueError(text)
    warnings.warn(text, stacklevel=3)


def usual_bound(integer: int = 0) -> int:
    """What bounds an integer that is encrypted, and tells no more of it than about how long it
    is.
    """
    bits = _USUAL_BITS
    while integer.bit_length() > bits:
        bits *= 2
    return 1 << bits


def checked(bound: int, most: int) -> int:
    """The bound of a result.

    Raises:
        OverflowError: it exceeds the most that the key's numbers can be.
    """
    if bound > most:
        text = f"the result needs up to {bound.bit_length()} bits, and the key has {most.bit_length()}"
        raise OverflowError(f"{text}: numbers would wrap around n")
    return bound


@lru_cache(maxsize=64)
def _has_small_factor(n: int) -> bool:
    """Asked again for each number that is unpickled alone."""
    return math.gcd(n, _small_primes()) != 1


@cache
def _small_primes() -> int:
    """The product of all primes up to `_SMALL`."""
    return math.prod(util.primes_below(_SMALL + 1))
