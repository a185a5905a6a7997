"""What can go wrong.

Every error of the package is a `HearithError`; each is also the built-in error that comes nearest. No message contains
a plaintext or key material.
"""


class HearithError(Exception):
    """The base of this package's errors."""


class InvalidKeyError(HearithError, ValueError):
    """A key cannot be made, read or accepted."""


class KeyMismatchError(HearithError, ValueError):
    """Numbers encrypted under different keys meet, or a key is not the one that numbers belong to."""


class ScaleError(HearithError, ValueError):
    """Numbers of different scales meet, or a number has more digits than its scale keeps."""


class RangeError(HearithError, OverflowError):
    """A number, or what an operation might produce, is larger than there is room for."""


class CiphertextError(HearithError, ValueError):
    """What should be a ciphertext is none: damaged, cut off, or made with another key."""


class TableError(HearithError, ValueError):
    """A table cannot be encrypted, added up or decrypted as asked."""
