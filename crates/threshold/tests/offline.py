"""An independent implementation of the files that trustees without a network exchange, written
from crates/threshold/src/distributed/README.md with GMP and `cryptography`.

    offline.py > offline.txt

writes the expected results of the crate's tests:

- a file with a message of trustee 1 to trustee 2 in exchange 5. Their X25519 secrets consist of 32
  bytes of 1 and of 2, and the run's id of 32 bytes of 7;
- a whole run, whose equations `distributed.py` verifies: the hash of every file, and the key.

It opens every file again like its receiver.
"""

import hashlib
import hmac

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from distributed import Run, Sizes, derive

MESSAGE = b"a message"
# The seed of the run, from which the trustees' seeds follow. Then bits, trustees needed, trustees
# in total, and candidates.
SEED = 1
SIZES = Sizes(128, 2, 3, 60, "standard")


def hkdf(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """HKDF with SHA-256 (RFC 5869): one block of 32 bytes."""
    extracted = hmac.digest(salt, secret, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")


def public(secret: bytes) -> bytes:
    key = X25519PrivateKey.from_private_bytes(secret).public_key()
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def file_key(own: bytes, other: bytes, salt: bytes, header: bytes, sender: bytes, receiver: bytes) -> bytes:
    shared = X25519PrivateKey.from_private_bytes(own).exchange(X25519PublicKey.from_public_bytes(other))
    return hkdf(shared, salt, b"hearith-distributed 1 offline file" + header + sender + receiver)


def header(exchange: int, run: bytes, sender: int, receiver: int) -> bytes:
    return b"HDKF\x01" + bytes([sender, receiver]) + exchange.to_bytes(4, "big") + run


def sealed(head: bytes, secrets: list[bytes], sender: int, receiver: int, message: bytes) -> bytes:
    """The file of a message. `secrets` are the X25519 secrets of all trustees."""
    own, other = secrets[sender - 1], secrets[receiver - 1]
    keys = public(own), public(other)
    salt = derive("offline salt", own, head, message)
    file = head + salt + AESGCM(file_key(own, keys[1], salt, head, *keys)).encrypt(bytes(12), message, head + salt)
    again = file_key(other, keys[0], file[43:75], file[:43], *keys)
    assert AESGCM(again).decrypt(bytes(12), file[75:], file[:75]) == message
    return file


def run_by_files() -> None:
    """Verifies a run of all trustees and writes the hash of every file."""
    everybody = SIZES.everybody
    seeds = [bytes([SEED ^ trustee]) * 32 for trustee in everybody]
    signers = [Ed25519PrivateKey.from_private_bytes(bytes([trustee]) * 32) for trustee in everybody]
    keys = b"".join(signer.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw) for signer in signers)
    secrets = [derive("offline secret", seed) for seed in seeds]
    shown = [public(secret) for secret in secrets]
    session = derive("session", SIZES.to_bytes(), keys, b"".join(shown))
    run = Run(SIZES, [derive("offline master", seed) for seed in seeds], session)
    key = run.key()

    def write(exchange: int, sender: int, receiver: int, file: bytes) -> None:
        print(f"file {exchange} {sender} {receiver} {hashlib.sha256(file).hexdigest()[:16]}")

    settings = derive("offline settings", SIZES.to_bytes(), keys)
    for sender in everybody:
        for receiver in everybody:
            if sender != receiver:
                file = header(1, settings, sender, receiver) + shown[sender - 1]
                write(1, sender, receiver, file + signers[sender - 1].sign(derive("offline key", file)))
    for _, sender, receiver, message in run.messages:
        exchange = int.from_bytes(message[9:13], "big") + 2
        signed = message + signers[sender - 1].sign(derive("message", message))
        head = header(exchange, session, sender, receiver)
        write(exchange, sender, receiver, sealed(head, secrets, sender, receiver, signed))
    print(f"n {key['n']:x}")
    print(f"transcript {run.view.hex()}")


def main() -> None:
    secrets = [bytes([number]) * 32 for number in (1, 2)]
    print(sealed(header(5, b"\x07" * 32, 1, 2), secrets, 1, 2, MESSAGE).hex())
    run_by_files()


if __name__ == "__main__":
    main()
