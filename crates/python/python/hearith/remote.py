"""A service that computes in place of this machine: `hearith serve`, over gRPC.

A key at a service does what a `PublicKey` does, with the same calls and the same results, and
decrypts like a `PrivateKey` if the service has it. Arrays that it encrypts are computed with at the
service; `take` hands it others.

    from hearith import remote

    key = remote.connect("http://127.0.0.1:7300").key(public)
    key.decrypt((key.encrypt([1500, -20, 7]) * 3).sum())

The service sees the plaintexts that it encrypts and decrypts, and the plain factors. Adding plain
numbers, and factors beyond 127 bits, are computed here.
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

#: Seconds beyond which a timeout is as good as none.
_MOST_SECONDS = 10**9


class Service:
    """A connection to a service, made anew when it breaks.

    Threads may share it; a child process makes its own.
    """

    def __init__(self, native: rust.Service, url: str) -> None:
        """Services come from `connect`."""
        self._native, self._url = native, url

    @property
    def url(self) -> str:
        """Where it is."""
        return self._url

    def key(self, public: PublicKey) -> RemoteKey:
        """The public key at this service, which gets to know it.

        Raises:
            InvalidKeyError: the service does not take it.
            ServiceError: the service is gone, or has no room.
        """
        return RemoteKey(self._native.key(public.native), self)

    def __repr__(self) -> str:
        return f"<Service {self.url}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a connection is not pickled: connect in the other process")


class RemoteKey(PublicOperations, DecryptionKey):
    """A public key whose operations a service carries out; it comes from `Service.key`.

    The results of sums and products are the very ciphertexts that a `PublicKey` computes.
    Operations raise `ServiceError` beside what those of a `PublicKey` raise; it is always right to
    try again.
    """

    native: rust.RemoteKey

    def __init__(self, native: rust.RemoteKey, service: Service) -> None:
        """Keys come from `Service.key`."""
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
        """The same ciphertexts, computed with at the service from here on.

        Raises:
            KeyMismatchError: the array belongs to another key.
        """
        content = encrypted(array)
        check_key(content, self.id)
        return EncryptedArray(Encrypted(self, content.rows, content.encoding, content.bound, content.shape))

    def rerandomise(self, array: EncryptedArray, *, progress: bool = False) -> EncryptedArray:
        """The same numbers in other ciphertexts, made at the service.

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
    """Connects to the service at `http://HOST:PORT` on this machine, or `https://HOST:PORT`
    anywhere.

    Args:
        url: where the service is.
        ca: a file with the root of its certificate in PEM, which https needs.
        client_cert: a file with the certificate to show it, in PEM.
        client_key: a file with the certificate's private key, in PEM.
        timeout: seconds that a call may take; an operation on a long array is many calls. For ever,
            if it is None.

    Raises:
        OSError: a file cannot be read.
        ServiceError: nobody is there, certificates do not do, or `http` would leave this machine;
            `kind` says what.
    """
    if (client_cert is None) != (client_key is None):
        raise ServiceError("client_cert and client_key go together", kind="identity")
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
