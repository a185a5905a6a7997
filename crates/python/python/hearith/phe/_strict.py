"""Checks for problems that `phe` silently accepts: weak keys, about which this package warns, and
results that wrap around n.

In the mode of `strict()`, both raise an error.
"""

from __future__ import annotations

import math
import os
import warnings
from functools import cache, lru_cache
from types import TracebackType

from hearith.phe import util

#: Set this environment variable to 1 to start in strict mode.
ENVIRONMENT = "HEARITH_PHE_STRICT"
#: Shorter keys are insecure (SECURITY.md).
SECURE_BITS = 2048
#: Every modulus longer than a toy's is tested for factors up to this one.
_SMALL = 65537
_TOY_BITS = 64
#: The assumed size of an encrypted integer or float in bits, whatever its value, since the bound
#: must not reveal it.
_USUAL_BITS = 64

_state = {"on": os.environ.get(ENVIRONMENT, "") not in ("", "0")}


class strict:
    """Turns the strict mode on or off; as a context manager, until the end of the block.

    In strict mode, keys below 2048 bits are rejected with `ValueError`, also in pickles. An
    operation raises `OverflowError` if its result could exceed n / 3 at its exponent. `phe` wraps
    around n there: for numbers just below 2 under a key of 1024 bits, the 18th product with a float
    may decrypt to a wrong number. Encrypted numbers are assumed to have 64 bits, or for longer
    integers the next power of two. The same applies to numbers created from ciphertexts, and to
    those created while the mode was off. The mode applies to all threads of the process.

    >>> import hearith.phe as phe
    >>> public, private = phe.generate_paillier_keypair(n_length=256)
    >>> with phe.strict():  # doctest: +ELLIPSIS
    ...     public.encrypt(0.5) * 0.3 * 0.3 * 0.3 * 0.3
    Traceback (most recent call last):
        ...
    OverflowError: the result needs up to 282 bits, but the key has 25...: numbers would wrap around n
    """

    def __init__(self, on: bool = True) -> None:
        self._before = _state["on"]
        _state["on"] = on

    def __enter__(self) -> None:
        """Does nothing; the constructor has already set the mode."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _state["on"] = self._before


def is_on() -> bool:
    """Returns whether the strict mode is on."""
    return _state["on"]


def check_modulus(n: int) -> None:
    """Warns about a short modulus.

    Raises:
        ValueError: it has a small factor, or is short in strict mode.
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
    """Returns a bound for an integer to encrypt, which reveals only its approximate length."""
    bits = _USUAL_BITS
    while integer.bit_length() > bits:
        bits *= 2
    return 1 << bits


def checked(bound: int, most: int) -> int:
    """Returns the bound of a result.

    Raises:
        OverflowError: it exceeds the largest number of the key.
    """
    if bound > most:
        text = f"the result needs up to {bound.bit_length()} bits, but the key has {most.bit_length()}"
        raise OverflowError(f"{text}: numbers would wrap around n")
    return bound


@lru_cache(maxsize=64)
def _has_small_factor(n: int) -> bool:
    """Cached, since unpickling calls it for each number."""
    return math.gcd(n, _small_primes()) != 1


@cache
def _small_primes() -> int:
    """Returns the product of all primes up to `_SMALL`."""
    return math.prod(util.primes_below(_SMALL + 1))
