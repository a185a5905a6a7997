"""Whole numbers among arguments, checked before they reach Rust, whose own refusals name no
argument.
"""

from __future__ import annotations

from typing import Any

from hearith.errors import HearithError, NumberError, RangeError

#: The largest count that Rust takes.
MOST = 2**64 - 1


def whole(name: str, value: Any, least: int, most: int = MOST, *, error: type[HearithError] = RangeError) -> int:
    """The integer that an argument is; a float counts as one if it has no fraction.

    Raises:
        NumberError: it is no whole number.
        RangeError: it is not from `least` to `most`; or the `error` given.
    """
    if type(value) is not int and not _is_whole(value):
        raise NumberError(f"{name} must be a whole number", kind="not_a_whole_number")
    if not least <= int(value) <= most:
        raise error(f"{name} must be from {least} to {_shown(most)}", kind="out_of_range")
    return int(value)


def _is_whole(value: Any) -> bool:
    """Whether another object than Python's integer counts as a whole number: only to tell that is
    NumPy loaded.
    """
    import numpy as np

    from hearith._operands import is_missing

    if isinstance(value, float | np.floating):
        return float(value).is_integer()
    return isinstance(value, int | np.integer) and not is_missing(value)


def _shown(number: int) -> str:
    """Limits of machine words as the powers that they are."""
    bits = (number + 1).bit_length() - 1
    return f"2^{bits} - 1" if bits >= 31 and number + 1 == 1 << bits else str(number)
