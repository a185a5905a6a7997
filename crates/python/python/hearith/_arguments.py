"""Whole numbers among arguments, checked before they reach Rust, whose own refusals name no argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from hearith._operands import is_missing
from hearith.errors import HearithError, NumberError, RangeError

#: The largest count that Rust takes.
MOST = 2**64 - 1


def whole(name: str, value: Any, least: int, most: int = MOST, *, error: type[HearithError] = RangeError) -> int:
    """The integer that an argument is; a float counts as one if it has no fraction.

    Raises:
        NumberError: it is no whole number.
        RangeError: it is not from `least` to `most`; or the `error` given.
    """
    integer = not is_missing(value) and isinstance(value, int | np.integer)
    fraction_free = isinstance(value, float | np.floating) and float(value).is_integer()
    if not integer and not fraction_free:
        raise NumberError(f"{name} must be a whole number", kind="not_a_whole_number")
    if not least <= int(value) <= most:
        raise error(f"{name} must be from {least} to {_shown(most)}", kind="out_of_range")
    return int(value)


def _shown(number: int) -> str:
    """Limits of machine words as the powers that they are."""
    bits = (number + 1).bit_length() - 1
    return f"2^{bits} - 1" if bits >= 31 and number + 1 == 1 << bits else str(number)
