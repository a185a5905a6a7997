"""The common base of private keys and of services that hold one: decryption."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from hearith import _native as rust
from hearith._batches import pieces, rows_from
from hearith._encrypted import Encrypted, check_key
from hearith._gathering import collected
from hearith._integers import Integers, joined_integers, unpack
from hearith.array import EncryptedArray, encrypted

if TYPE_CHECKING:
    import pyarrow as pa


#: The Python type of a decrypted scalar.
Found = TypeVar("Found", int, Decimal, float)


class DecryptionKey(ABC):
    """The common base of private keys and of services that hold one: both decrypt."""

    #: The underlying Rust key, for the modules of this package.
    native: rust.PrivateKey | rust.RemoteKey

    @property
    @abstractmethod
    def id(self) -> str:
        """The id of the public key."""

    @overload
    def decrypt(
        self, array: EncryptedArray, *, into: type[Found], check: bool = False, progress: bool = False
    ) -> Found: ...

    @overload
    def decrypt(
        self, array: EncryptedArray, *, into: type[np.ndarray[Any, Any]], check: bool = False, progress: bool = False
    ) -> npt.NDArray[Any]: ...

    @overload
    def decrypt(
        self,
        array: EncryptedArray | Sequence[Any] | npt.NDArray[Any],
        *,
        into: None = None,
        check: bool = False,
        progress: bool = False,
    ) -> Any: ...

    def decrypt(
        self,
        array: EncryptedArray | Sequence[Any] | npt.NDArray[Any],
        *,
        into: type[Any] | None = None,
        check: bool = False,
        progress: bool = False,
    ) -> Any:
        """Decrypts an array.

        Returns NumPy's `int64` where the numbers fit, else Python integers; `Decimal` with a scale;
        floats for a power of sixteen and for quotients. A scalar is returned as a Python `int`,
        `Decimal` or `float`. A list of encrypted arrays gives a list. An array of objects, or a
        series, of encrypted scalars gives an array.

        `into` declares the expected type, `int`, `Decimal`, `float` or `np.ndarray`, for type
        checkers and readers. An array of another type is rejected before anything is decrypted.

        `check` detects hardware faults that changed a number. A faulty result would leak the key to
        anyone who sees it. The check takes a few per cent more time.

        Raises:
            HearithError: a result did not pass the check (`kind` is `wrong_decryption`).
            KeyMismatchError: the array belongs to another key.
            RangeError: a ciphertext holds more than its array's bound, so this package did not
                compute it.
            TypeError: the argument is not an encrypted array, or decrypts to another type than
                `into`.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> private.decrypt(public.encrypt(-7)), private.decrypt(public.encrypt([0.5, 2], exponent=-4))
        (-7, array([0.5, 2. ]))
        >>> private.decrypt(public.encrypt([1, 2, 4]).sum(), into=int).bit_length()
        3
        """
        if not isinstance(array, EncryptedArray):
            listed = _listed(array)
            if listed is not None:
                return [self.decrypt(one, into=into, check=check, progress=progress) for one in listed]
        content = encrypted(collected(array))
        check_key(content, self.id)
        _check_kind(content, into)
        found: list[Integers] = []
        for start, stop in pieces(content.size, progress, "decrypting", self.native.batch_rows(content.size)):
            with rows_from(start):
                rows = content.rows.range(start, stop)
                found.append(unpack(*self.native.decrypt_integers(rows, check=check)))
        return content.decoded(joined_integers(found))

    def decrypt_columns(self, table: Any, *, check: bool = False, progress: bool = False) -> pa.Table:
        """Returns the table with its encrypted columns as exact decimals and without companions.

        `check` is as in `decrypt`.

        Raises:
            HearithError: a result did not pass the check.
            RangeError: a total overflowed its headroom, or cannot be relied on.
        """
        from hearith.columns import decrypt_columns

        return decrypt_columns(self, table, check=check, progress=progress)

    def decrypt_means(self, totals: Any, *, check: bool = False, progress: bool = False) -> pa.Table:
        """Returns the means prepared by `PublicKey.mean_columns`, and the counts.

        A mean is the float nearest to sum / count, or null if there are no values.
        `decrypt_columns` returns the sums instead.

        Raises:
            HearithError: as in `decrypt_columns`.
        """
        from hearith._column_arithmetic import means

        return means(self.decrypt_columns(totals, check=check, progress=progress))


def _listed(values: Any) -> Sequence[Any] | None:
    """Returns the items of a list that contains only encrypted arrays and such lists; None for
    anything else.
    """
    if not isinstance(values, list | tuple) or not values:
        return None
    return values if all(isinstance(one, EncryptedArray) or _listed(one) is not None for one in values) else None


def _check_kind(content: Encrypted, into: type[Any] | None) -> None:
    """Raises `TypeError` if the numbers decrypt to another type."""
    if into is None:
        return
    kind = content.kind()
    if kind is not into:
        article = "an" if kind.__name__[0] in "aeiou" else "a"
        name = getattr(into, "__name__", repr(into))
        raise TypeError(f"these numbers decrypt to {article} {kind.__name__}, not to {name}")
