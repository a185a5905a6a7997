"""Self-describing encrypted numbers, as stored in databases: key, scale, range, headroom and
additions precede the ciphertext. `hearith_paillier::described` (`crates/paillier/src/described.rs`)
specifies the format and its checks.
"""

from __future__ import annotations

import binascii
import re
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NamedTuple

from hearith._encrypted import Encrypted, ciphertext_bytes
from hearith.encoding import MAX_SCALE, Encoding
from hearith.errors import CiphertextError, RangeError, ScaleError, ShapeError

#: Default number of additions that a value has headroom for, as in the command line.
DEFAULT_HEADROOM = 2**32
#: Largest magnitude of one addend.
MAX_RANGE = 2**127 - 1
_MAX_HEADROOM = 2**64 - 1
_MIN_BITS, _MAX_BITS = 64, 8192

#: Version, scale, bits of n, key, range, headroom and additions.
_HEAD = struct.Struct(">BBH16s16sQQ")
_VERSION = 1
_NUMBER = "(0|[1-9][0-9]{0,38})"
_TEXT = re.compile(f"he1:([0-9a-f]{{32}}):{_NUMBER}:{_NUMBER}:{_NUMBER}:{_NUMBER}:{_NUMBER}:([A-Za-z0-9_-]+)")


class Value(NamedTuple):
    """A ciphertext with its description."""

    #: The id of the key.
    key: str
    #: The size of n in bits.
    bits: int
    #: The number of decimal digits after the point.
    scale: int
    #: Largest magnitude of one addend in units of the last digit.
    range: int
    #: The number of additions that the headroom allows.
    headroom: int
    #: The number of additions in the ciphertext.
    additions: int
    #: The ciphertext, big-endian.
    ciphertext: bytes

    @classmethod
    def of(cls, number: Encrypted, headroom: int = DEFAULT_HEADROOM) -> Value:
        """Wraps a single number, which counts as one addition of its bound.

        Raises:
            CiphertextError: the ciphertext is damaged.
            RangeError: the bound exceeds 2^127 - 1 units, or `headroom` additions of it exceed the
                key.
            ScaleError: the number is scaled by a power of sixteen, has a divisor or too many
                digits.
            ShapeError: the number is an array.
        """
        if not number.single:
            raise ShapeError("a value is a single number: pass the elements of tolist()", kind="dimensions")
        encoding = number.encoding
        if encoding.base != 10 or encoding.divisor != 1 or encoding.scale > MAX_SCALE:
            text = f"a value has up to {MAX_SCALE} decimal digits and no divisor, but these numbers have {encoding}"
            raise ScaleError(f"{text}: rescale(scale=...), or store the numbers before division")
        value = cls(number.key_id, number.bits, encoding.scale, max(number.bound, 1), headroom, 1, number.to_bytes())
        fault = value._fault()
        if fault is not None:
            raise RangeError(f"{fault}: declare a smaller range= or headroom=", kind="headroom")
        return value

    @classmethod
    def from_bytes(cls, data: bytes) -> Value:
        """Reads a value from bytes.

        Raises:
            CiphertextError: the bytes are not a valid value.
        """
        if len(data) < _HEAD.size:
            raise CiphertextError(f"{len(data)} bytes are too few for an encrypted number", kind="width")
        version, scale, bits, key, limit, headroom, additions = _HEAD.unpack_from(data)
        if version != _VERSION:
            raise CiphertextError(f"the encrypted number has version {version}, not {_VERSION}", kind="version")
        limit = int.from_bytes(limit, "big")
        return cls(key.hex(), bits, scale, limit, headroom, additions, bytes(data[_HEAD.size :]))._checked()

    @classmethod
    def from_text(cls, text: str) -> Value:
        """Reads a value from text.

        Raises:
            CiphertextError: the text is not a valid value.
        """
        found = _TEXT.fullmatch(text)
        if found is None:
            form = "he1:KEY:BITS:SCALE:RANGE:HEADROOM:ADDITIONS:CIPHERTEXT"
            raise CiphertextError(f"not an encrypted number, which has the form {form}", kind="description")
        key, *numbers, digits = found.groups()
        bits, scale, limit, headroom, additions = map(int, numbers)
        try:
            ciphertext = urlsafe_b64decode(digits + "=" * (-len(digits) % 4))
        except binascii.Error:
            ciphertext = b""
        value = cls(key, bits, scale, limit, headroom, additions, ciphertext)._checked()
        if _digits(ciphertext) != digits:
            raise CiphertextError("the ciphertext is not base64url without padding", kind="description")
        return value

    def to_bytes(self) -> bytes:
        """Returns description and ciphertext as bytes."""
        limit = self.range.to_bytes(16, "big")
        numbers = (limit, self.headroom, self.additions)
        return _HEAD.pack(_VERSION, self.scale, self.bits, bytes.fromhex(self.key), *numbers) + self.ciphertext

    def to_text(self) -> str:
        """Returns description and ciphertext as text."""
        *parts, ciphertext = self
        return ":".join(["he1", *map(str, parts), _digits(ciphertext)])

    def number(self) -> Encrypted:
        """Returns the number, whose key is looked up on first use."""
        encoding = Encoding.of(self.scale)
        return Encrypted.pending(self.key, self.bits, encoding, self.range * self.additions, (), self.ciphertext)

    def _fault(self) -> str | None:
        """Returns what is wrong with the description, or None."""
        sound = {
            "the key's length": _MIN_BITS <= self.bits <= _MAX_BITS and self.bits % 2 == 0,
            "the scale": self.scale <= MAX_SCALE,
            "the range": 1 <= self.range <= MAX_RANGE,
            "the headroom": 1 <= self.headroom <= _MAX_HEADROOM,
            "the number of additions": 1 <= self.additions <= self.headroom,
        }
        wrong = [part for part, good in sound.items() if not good]
        if wrong:
            return f"{wrong[0]} of an encrypted number is out of range"
        # With a sign bit, and below half of any n of that many bits.
        needed = self.range.bit_length() + (self.headroom - 1).bit_length() + 1
        if needed > self.bits - 1:
            return (
                f"{self.headroom} additions of such numbers need {needed} bits, too many for a key of {self.bits} bits"
            )
        return None

    def _checked(self) -> Value:
        fault = self._fault()
        if fault is not None:
            raise CiphertextError(fault, kind="description")
        if len(self.ciphertext) != ciphertext_bytes(self.bits):
            text = f"a ciphertext of {len(self.ciphertext)} bytes does not belong to a key of {self.bits} bits"
            raise CiphertextError(text, kind="width")
        return self


def _digits(ciphertext: bytes) -> str:
    return urlsafe_b64encode(ciphertext).rstrip(b"=").decode()
