"""Checks of integer arguments before they reach Rust, whose own errors do not name the argument."""

from __future__ import annotations

from typing import Any

from hearith.errors import HearithError, NumberError, RangeError

#: The largest count that Rust accepts.
MOST = 2**64 - 1


def whole(name: str, value: Any, least: int, most: int = MOST, *, error: type[HearithError] = RangeError) -> int:
    """Returns an argument as an integer. A float without a fraction is accepted.

    Raises:
        NumberError: the value is not an integer.
        RangeError: the value is not from `least` to `most`; `error` replaces this type.
    """
    if type(value) is not int and not _is_whole(value):
        raise NumberError(f"{name} must be a whole number", kind="not_a_whole_number")
    if not least <= int(value) <= most:
        raise error(f"{name} must be from {least} to {_shown(most)}", kind="out_of_range")
    return int(value)


def _is_whole(value: Any) -> bool:
    """Whether an object other than a Python integer counts as an integer.

    Only this check loads NumPy.
    """
    import numpy as np

    from hearith._operands import is_missing

    if isinstance(value, float | np.floating):
        return float(value).is_integer()
    return isinstance(value, int | np.integer) and not is_missing(value)


def _shown(number: int) -> str:
    """Formats limits of machine words as powers of two."""
    bits = (number + 1).bit_length() - 1
    return f"2^{bits} - 1" if bits >= 31 and number + 1 == 1 << bits else str(number)
