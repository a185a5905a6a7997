"""A client for `hearith serve`, a gRPC service that computes on behalf of this machine.

A service key supports the calls of a `PublicKey`, with the same results, and decrypts like a
`PrivateKey` if the service holds it. The service computes with the arrays that such a key encrypts;
use `take` for other arrays.

    from hearith import remote

    key = remote.connect("http://127.0.0.1:7300").key(public)
    key.decrypt((key.encrypt([1500, -20, 7]) * 3).sum())

The service sees the plaintexts that it encrypts and decrypts, and the plaintext factors. Additions
of plaintext numbers, and products with factors beyond 127 bits, are computed locally.
"""

from __future__ import annotations

import math
from os import PathLike
from typing import NoReturn

from hearith import _native as rust
from hearith._decryption import DecryptionKey
from hearith._encrypted import Encrypted, check_key
from hearith._public import PublicOperations
from hearith.array import EncryptedArray, encrypted
from hearith.errors import NumberError, RangeError, ServiceError
from hearith.keys import PublicKey

__all__ = ["RemoteKey", "Service", "connect"]

#: The largest timeout in seconds.
_MOST_SECONDS = 10**9


class Service:
    """A connection to a service, which reconnects after failures.

    Threads can share it. A child process needs its own.
    """

    def __init__(self, native: rust.Service, url: str) -> None:
        """Wraps a native connection. Use `connect` instead."""
        self._native, self._url = native, url

    @property
    def url(self) -> str:
        """The URL of the service."""
        return self._url

    def key(self, public: PublicKey) -> RemoteKey:
        """Registers a public key with the service, and returns its service key.

        Raises:
            InvalidKeyError: the service rejects the key.
            ServiceError: the service is unreachable, or has no capacity for the key.
        """
        return RemoteKey(self._native.key(public.native), self)

    def __repr__(self) -> str:
        return f"<Service {self.url}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a connection is not pickled: connect in the other process")


class RemoteKey(PublicOperations, DecryptionKey):
    """A public key whose operations run at a service. Create it with `Service.key`.

    Sums and products are the same ciphertexts that a `PublicKey` would compute. Operations raise
    `ServiceError` in addition to the errors of `PublicKey`. Retrying is always safe.
    """

    native: rust.RemoteKey

    def __init__(self, native: rust.RemoteKey, service: Service) -> None:
        """Wraps a native service key. Use `Service.key` instead."""
        super().__init__(native, noted=False)
        self._service = service

    @property
    def service(self) -> Service:
        """The service."""
        return self._service

    @property
    def decrypts(self) -> bool:
        """Whether the service has the private key."""
        return self.native.decrypts

    def take(self, array: EncryptedArray) -> EncryptedArray:
        """Returns the same ciphertexts as an array that the service computes with.

        Raises:
            KeyMismatchError: the array belongs to another key.
        """
        content = encrypted(array)
        check_key(content, self.id)
        return EncryptedArray(Encrypted(self, content.rows, content.encoding, content.bound, content.shape))

    def rerandomise(self, array: EncryptedArray, *, progress: bool = False) -> EncryptedArray:
        """Re-randomises an array at the service.

        Raises:
            KeyMismatchError: the array belongs to another key.
        """
        return self.take(array).rerandomise(progress=progress)

    def __repr__(self) -> str:
        return f"<RemoteKey {self.id}: {self.bits} bits, {self.variant}, at {self.service.url}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key at a service is not pickled: connect in the other process")


def connect(
    url: str,
    *,
    ca: str | PathLike[str] | None = None,
    client_cert: str | PathLike[str] | None = None,
    client_key: str | PathLike[str] | None = None,
    timeout: float | None = None,
) -> Service:
    """Connects to a service at `https://HOST:PORT`, or at `http://HOST:PORT` on this machine.

    Args:
        url: the URL of the service.
        ca: a PEM file with the root certificate of the service, which https needs.
        client_cert: a PEM file with the client certificate.
        client_key: a PEM file with the private key of the client certificate.
        timeout: time limit per call in seconds; None means no limit. An operation on a long array
            consists of many calls.

    Raises:
        OSError: a file cannot be read.
        ServiceError: the service is unreachable, a certificate is not valid, or `http` would leave
            this machine; `kind` tells which.
    """
    if (client_cert is None) != (client_key is None):
        raise ServiceError("client_cert and client_key must be given together", kind="identity")
    identity = None if client_cert is None or client_key is None else (client_cert, client_key)
    native = rust.Service.connect(url, ca=ca, identity=identity, timeout=_seconds(timeout))
    return Service(native, url)


def _seconds(timeout: float | None) -> float | None:
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise NumberError("timeout must be a number of seconds", kind="not_a_number")
    if math.isnan(timeout) or not 0 < timeout <= _MOST_SECONDS:
        raise RangeError(f"timeout must be above 0 and at most {_MOST_SECONDS} seconds", kind="out_of_range")
    return float(timeout)
