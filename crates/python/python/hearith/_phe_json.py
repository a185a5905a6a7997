"""Ciphertexts in python-paillier's JSON: `{"v": "<decimal>", "e": <power of sixteen>}`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hearith.array import EncryptedArray, _read, concatenate
from hearith.encoding import Encoding, Number
from hearith.errors import CiphertextError, ScaleError

if TYPE_CHECKING:
    from hearith.keys import PublicKey

#: Digits of the square of the largest modulus.
_MOST_DIGITS = 4933


def write(array: EncryptedArray) -> list[str]:
    """One JSON object a number."""
    if array.encoding.name == "fixed":
        raise ScaleError("python-paillier's numbers stand on powers of 16: encrypt integers, or with exponent=")
    exponent = array.encoding.exponent
    return [json.dumps({"v": str(Decimal(value)), "e": exponent}) for value in array.tolist()]


def read(key: PublicKey, text: str | Iterable[str], range: Number) -> EncryptedArray:
    """The numbers of JSON objects, all on the lowest exponent among them.

    Raises:
        CiphertextError: a text is no such object, or its ciphertext none of this key; `row` counts from 0.
    """
    texts = text.splitlines() if isinstance(text, str) else text
    members = [_members(row, line) for row, line in enumerate(line for line in texts if line.strip())]
    parts = [_number(key, row, value, exponent, range) for row, (value, exponent) in enumerate(members)]
    if not parts:
        return key.encrypt([])
    lowest = min(0, *(exponent for _, exponent in members))
    return concatenate([part.rescale(exponent=lowest) if part.encoding.exponent != lowest else part for part in parts])


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
        # Not by int(value), which refuses the more than 4300 digits of the largest keys.
        return int(Decimal(value)), exponent
    except (ValueError, KeyError, TypeError):
        raise CiphertextError(f"row {row}: not python-paillier's JSON of a ciphertext") from None


def _number(key: PublicKey, row: int, value: int, exponent: int, range: Number) -> EncryptedArray:
    size = 2 * -(-key.bits // 8)
    try:
        rows = _read(key, value.to_bytes(size, "big"))
    except OverflowError:
        raise CiphertextError(f"row {row}: the ciphertext is not below n^2") from None
    if exponent <= 0:
        encoding = Encoding.of(exponent=exponent)
        return EncryptedArray._new(key, rows, encoding, encoding.bound(range))
    if 4 * exponent > key.bits:
        raise ScaleError(f"row {row}: a power of 16 beyond the key, {exponent}")
    # Multiples of a power of sixteen become integers.
    multiples = EncryptedArray._new(key, rows, Encoding(), Encoding().bound(range) >> 4 * exponent)
    return multiples.multiply(16**exponent)
