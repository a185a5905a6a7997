"""The file of an exchange by another implementation, written from
crates/threshold/src/distributed/README.md with Python's standard library and `cryptography`.

    offline.py > offline.txt

seals a message of trustee 1 to trustee 2, whose secrets of X25519 are 32 bytes of 1 and of 2, in
the exchange 5 of a run that is 32 bytes of 7; and opens it as the receiver does.
"""

import hashlib
import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

MESSAGE = b"a message"


def derive(label: str, *parts: bytes) -> bytes:
    """The page's hash: parts after their lengths, the label first."""
    parts = (b"hearith-distributed 1 " + label.encode(), *parts)
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()


def hkdf(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """32 bytes of RFC 5869 with SHA-256: one block."""
    extracted = hmac.digest(salt, secret, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")


def public(secret: bytes) -> bytes:
    key = X25519PrivateKey.from_private_bytes(secret).public_key()
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def file_key(own: bytes, other: bytes, salt: bytes, header: bytes, sender: bytes, receiver: bytes) -> bytes:
    shared = X25519PrivateKey.from_private_bytes(own).exchange(X25519PublicKey.from_public_bytes(other))
    return hkdf(shared, salt, b"hearith-distributed 1 offline file" + header + sender + receiver)


def main() -> None:
    secrets = [bytes([number]) * 32 for number in (1, 2)]
    keys = [public(secret) for secret in secrets]
    header = b"HDKF\x01" + bytes([1, 2]) + (5).to_bytes(4, "big") + b"\x07" * 32
    salt = derive("offline salt", secrets[0], header, MESSAGE)
    key = file_key(secrets[0], keys[1], salt, header, *keys)
    file = header + salt + AESGCM(key).encrypt(bytes(12), MESSAGE, header + salt)
    again = file_key(secrets[1], keys[0], file[43:75], file[:43], *keys)
    assert AESGCM(again).decrypt(bytes(12), file[75:], file[:75]) == MESSAGE
    print(file.hex())


if __name__ == "__main__":
    main()
