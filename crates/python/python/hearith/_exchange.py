"""Converts python-paillier's numbers, each scaled by its own power of sixteen, to encrypted
arrays.
"""

from __future__ import annotations

from collections.abc import Iterable

from hearith import _phe_json
from hearith._batches import rows_from
from hearith._computing import ComputingKey
from hearith._encrypted import Encrypted, ciphertext_bytes, read_ciphertexts
from hearith._operands import Number
from hearith._rows import concatenate
from hearith.array import EncryptedArray
from hearith.encoding import Encoding
from hearith.errors import CiphertextError, ScaleError


def from_phe(key: ComputingKey, text: str | Iterable[str], range: Number) -> EncryptedArray:
    """Reads numbers from JSON objects, and converts them to the lowest exponent among them.

    Raises:
        CiphertextError: a text is not such an object, or its ciphertext does not belong to this
            key; `row` counts from 0.
    """
    members = _phe_json.read(text)
    if not members:
        return EncryptedArray(Encrypted(key, key.native.zeros(0), Encoding(), Encoding().bound(range)))
    parts = [_number(key, row, value, exponent, range) for row, (value, exponent) in enumerate(members)]
    lowest = min(0, *(exponent for _, exponent in members))
    return concatenate([part.rescale(exponent=lowest) if part.encoding.exponent != lowest else part for part in parts])


def _number(key: ComputingKey, row: int, value: int, exponent: int, range: Number) -> EncryptedArray:
    size = ciphertext_bytes(key.bits)
    if value.bit_length() > 8 * size:
        raise CiphertextError("the ciphertext is not below n^2", row, kind="too_large")
    with rows_from(row):
        ciphertext = read_ciphertexts(key, value.to_bytes(size, "big"))
    if exponent <= 0:
        encoding = Encoding.of(exponent=exponent)
        return EncryptedArray(Encrypted(key, ciphertext, encoding, encoding.bound(range)))
    if 4 * exponent > key.bits:
        raise ScaleError(f"16^{exponent} is too large for the key", row, kind="scale")
    # Multiples of a positive power of sixteen become integers.
    multiples = Encrypted(key, ciphertext, Encoding(), Encoding().bound(range) >> 4 * exponent)
    return EncryptedArray(multiples).multiply(16**exponent)
