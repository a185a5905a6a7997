"""Ciphertexts in python-paillier's JSON: `{"v": "<decimal>", "e": <power of sixteen>}`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from hearith.encoding import Encoding
from hearith.errors import CiphertextError, ScaleError

#: The number of digits in the square of the largest modulus.
_MOST_DIGITS = 4933


def write(ciphertexts: Iterable[int], encoding: Encoding) -> list[str]:
    """Returns one JSON object per number."""
    if encoding.undivided().name == "fixed":
        text = "python-paillier's numbers use powers of 16: encrypt integers, or pass exponent="
        raise ScaleError(text, kind="scales_differ")
    return [json.dumps({"v": str(Decimal(value)), "e": encoding.exponent}) for value in ciphertexts]


def read(text: str | Iterable[str]) -> list[tuple[int, int]]:
    """Returns the ciphertext and exponent of each JSON object.

    Raises:
        CiphertextError: a text is not such an object.
    """
    texts = text.splitlines() if isinstance(text, str) else text
    return [_members(row, line) for row, line in enumerate(line for line in texts if line.strip())]


def _members(row: int, line: str) -> tuple[int, int]:
    try:
        entry: Any = json.loads(line)
        value, exponent = entry["v"], entry["e"]
        if (
            not isinstance(value, str)
            or not value.isascii()
            or not value.isdigit()
            or len(value) > _MOST_DIGITS
            or type(exponent) is not int
        ):
            raise ValueError
        # int(value) would reject the largest keys' ciphertexts, which have more than 4300 digits.
        return int(Decimal(value)), exponent
    except (ValueError, KeyError, TypeError):
        raise CiphertextError("not a ciphertext in python-paillier's JSON", row, kind="json") from None
