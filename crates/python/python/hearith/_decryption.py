"""What private keys, and services that have one, have in common: both decrypt."""

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


#: What a single number is decrypted into.
Found = TypeVar("Found", int, Decimal, float)


class DecryptionKey(ABC):
    """What private keys, and services that have one, have in common: both decrypt."""

    #: The key in Rust, for the modules of this package.
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
        """The numbers in an array: NumPy's `int64` where they fit, else Python's integers;
        `Decimal` with a scale; floats on a power of sixteen, and quotients. A single number comes
        as Python's `int`, `Decimal` or `float`. A list of encrypted arrays gives a list; an array
        of objects, or a series, of single encrypted numbers gives an array.

        `into` says which of these is expected, `int`, `Decimal`, `float` or `np.ndarray`, to type
        checkers and to whoever reads the line; an array that gives another is refused before
        anything is decrypted.

        `check` makes sure that no fault of the machine changed a number, which would give the key
        away to whoever sees the result; it takes some hundredths more time.

        Raises:
            HearithError: what was decrypted did not pass the check (its kind is
                `wrong_decryption`).
            KeyMismatchError: the array belongs to another key.
            RangeError: a ciphertext holds more than its array's bound: it was not made by these
                operations.
            TypeError: this is no encrypted array, or one that gives something else than `into`.

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
        """The table with its encrypted columns as exact decimals; companions disappear.

        `check` is as in `decrypt`.

        Raises:
            HearithError: what was decrypted did not pass the check.
            RangeError: a total overflowed its headroom, or cannot be relied on.
        """
        from hearith.columns import decrypt_columns

        return decrypt_columns(self, table, check=check, progress=progress)

    def decrypt_means(self, totals: Any, *, check: bool = False, progress: bool = False) -> pa.Table:
        """The means that `PublicKey.mean_columns` has prepared: the float nearest to sum by count,
        null where there are no values, and the counts. `decrypt_columns` gives the sums themselves.

        Raises:
            HearithError: as `decrypt_columns`.
        """
        from hearith._column_arithmetic import means

        return means(self.decrypt_columns(totals, check=check, progress=progress))


def _listed(values: Any) -> Sequence[Any] | None:
    """The arrays of a list that has nothing but encrypted arrays and such lists; None is something
    else.
    """
    if not isinstance(values, list | tuple) or not values:
        return None
    return values if all(isinstance(one, EncryptedArray) or _listed(one) is not None for one in values) else None


def _check_kind(content: Encrypted, into: type[Any] | None) -> None:
    """Raises `TypeError` if the numbers come as something else."""
    if into is None:
        return
    kind = content.kind()
    if kind is not into:
        article = "an" if kind.__name__[0] in "aeiou" else "a"
        name = getattr(into, "__name__", repr(into))
        raise TypeError(f"what is encrypted here is decrypted into {article} {kind.__name__}, not into {name}")
