"""Keys: what encrypts, and what decrypts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from hearith import _native as rust
from hearith import _registry
from hearith._batches import joined, pieces
from hearith.array import EncryptedArray
from hearith.encoding import DEFAULT_RANGE, Encoding, Integers, Number, Numbers, check_range, pack, unpack
from hearith.errors import KeyMismatchError, RangeError

if TYPE_CHECKING:
    import pyarrow as pa

#: Bits of a key unless one chooses: 128-bit security (NIST SP 800-57).
DEFAULT_BITS = rust.DEFAULT_BITS
#: Bits below which a key has to be asked for as insecure.
MIN_SECURE_BITS = rust.MIN_SECURE_BITS
#: Bytes of the widest integers that are encoded in Rust; Python reduces wider ones modulo n.
_SMALL = 16


class _EncryptionKey:
    """What public and private keys have in common: both encrypt."""

    _native: rust.PublicKey | rust.PrivateKey

    @property
    def _public(self) -> PublicKey:
        raise NotImplementedError

    def encrypt(
        self,
        values: Numbers | str,
        *,
        scale: int | None = None,
        exponent: int | None = None,
        range: Number | None = None,
        rounding: bool = False,
        progress: bool = False,
    ) -> EncryptedArray:
        """Encrypts a number or a vector of numbers: NumPy arrays, lists, pandas or polars series, Arrow arrays.

        Args:
            values: integers; with `scale` or `exponent` floats, `Decimal` and `Fraction` as well.
            scale: decimal digits kept after the point, 0 to 38.
            exponent: instead of `scale`, the power of sixteen that the numbers are multiples of, -512 to 0: floats are rounded
                to the nearest, as by python-paillier.
            range: largest magnitude of a number; by default 2^63 - 1 units of the last digit. It bounds every later result.
            rounding: rounds decimal numbers with more digits than `scale` half to even, rather than refusing them.
            progress: shows a progress bar.

        Raises:
            RangeError: a number exceeds the range.
            ScaleError: a number has more digits after the point than are kept.
            TypeError: a value is no number.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> public.encrypt([0.5, 1.25], scale=2).scale
        2
        """
        encoding = Encoding.of(scale, exponent)
        bound = DEFAULT_RANGE if range is None else encoding.bound(range)
        numbers: Numbers = Decimal(values) if isinstance(values, str) else values
        integers, single = encoding.encode(numbers, limit=bound, rounding=rounding)
        return self._encrypted(integers, encoding, bound, single, progress)

    def encrypt_column(
        self,
        table: Any,
        name: str,
        *,
        scale: int | None = None,
        range: Number | None = None,
        rounding: bool = False,
        max_additions: int | None = None,
        progress: bool = False,
    ) -> pa.Table:
        """Encrypts a column of a table (pyarrow, pandas, polars, or whatever exports Arrow streams).

        The result is a `pyarrow.Table` in which the column holds ciphertexts, as the extension type
        `hearith.arrow.EncryptedType`, followed by a companion column that counts additions. It is what the command line `hearith`
        reads and writes as Parquet.
        """
        from hearith.columns import ColumnOptions

        options = ColumnOptions(scale=scale, range=range)
        return self.encrypt_columns(
            table, {name: options}, rounding=rounding, max_additions=max_additions, progress=progress
        )

    def encrypt_columns(
        self,
        table: Any,
        columns: Sequence[str] | Mapping[str, Any],
        *,
        pack: bool = False,
        rounding: bool = False,
        max_additions: int | None = None,
        progress: bool = False,
    ) -> pa.Table:
        """Encrypts several columns; with `pack` those of a row share one ciphertext.

        `columns` are names, or names with their `hearith.columns.ColumnOptions` (or a mapping of its fields).
        """
        from hearith.columns import encrypt_columns

        return encrypt_columns(
            self, table, columns, pack=pack, rounding=rounding, max_additions=max_additions, progress=progress
        )

    def _encrypted(
        self, integers: Integers, encoding: Encoding, bound: int, single: bool, progress: bool
    ) -> EncryptedArray:
        public, native = self._public, self._native

        def piece(start: int, stop: int) -> rust.Ciphertexts:
            return native.encrypt(public._plaintexts(integers[start:stop]))

        rows = joined(len(integers), piece, progress, "encrypting")
        return EncryptedArray._new(public, rows, encoding, bound, single)


class PublicKey(_EncryptionKey):
    """What anybody may have: encrypts, and computes with ciphertexts.

    >>> import hearith as he
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> he.PublicKey.from_jwk(public.to_jwk(), insecure=True) == public
    True
    """

    _native: rust.PublicKey
    _n: int

    def __init__(self, n: int, h: int | None = None, *, insecure: bool = False, engine: str | None = None) -> None:
        """The key with modulus `n`; with a generator `h` it is of the DJN variant.

        Raises:
            InvalidKeyError: `n` is no product of two large primes as far as can be seen, or is below 2048 bits and `insecure` is
                not set.
        """
        generator = None if h is None else _to_bytes(h)
        self._set(rust.PublicKey(_to_bytes(n), generator, insecure=insecure, engine=engine))

    def _set(self, native: rust.PublicKey) -> None:
        self._native = native
        self._n = int.from_bytes(native.modulus(), "big")
        _registry.remember(self)

    @classmethod
    def _of(cls, native: rust.PublicKey) -> PublicKey:
        self = object.__new__(cls)
        self._set(native)
        return self

    @classmethod
    def from_jwk(cls, text: str, *, insecure: bool = False, engine: str | None = None) -> PublicKey:
        """The key in a JSON Web Key, as `to_jwk`, the command line and python-paillier's `pheutil` write it."""
        return cls._of(rust.PublicKey.from_jwk(text, insecure=insecure, engine=engine))

    def to_jwk(self) -> str:
        """The key as a JSON Web Key of one line."""
        return self._native.to_jwk()

    @property
    def n(self) -> int:
        """The modulus."""
        return self._n

    @property
    def bits(self) -> int:
        """Bits of the modulus."""
        return self._native.bits

    @property
    def id(self) -> str:
        """The first 32 hexadecimal digits of the SHA-256 of the modulus."""
        return self._native.id

    @property
    def variant(self) -> str:
        """`standard`, or `djn`: faster encryption under one more assumption."""
        return self._native.variant

    @property
    def engine(self) -> str:
        """What computes: `ifma` or `serial`."""
        return self._native.engine

    @property
    def comment(self) -> str:
        """The `kid` of the JSON Web Key."""
        return self._native.comment

    @property
    def _public(self) -> PublicKey:
        return self

    def zeros(self, count: int, *, scale: int | None = None, exponent: int | None = None) -> EncryptedArray:
        """Trivial encryptions of 0, to start sums from; they hide nothing until randomised."""
        return EncryptedArray._new(self, self._native.zeros(count), Encoding.of(scale, exponent), 0)

    def sum_columns(
        self,
        table: Any,
        *,
        by: str | Sequence[str] = (),
        min_rows: int = 0,
        rerandomise: bool = False,
        progress: bool = False,
    ) -> pa.Table:
        """The totals of a table's encrypted columns by groups, still encrypted: one row a group, in ascending order.

        `table` is a table as `encrypt_columns` takes, or an iterable of tables or record batches. Groups of fewer rows than `min_rows` are
        left out, and a total of fewer values is null. The total of a single value is that value's own ciphertext; with
        `rerandomise` nobody can link totals to the table without the private key.
        """
        from hearith.columns import sum_columns

        return sum_columns(self, table, by=by, min_rows=min_rows, rerandomise=rerandomise, progress=progress)

    def from_phe(self, text: str | Iterable[str], *, range: Number = 2**64) -> EncryptedArray:
        """The numbers in python-paillier's JSON (`{"v": "...", "e": -32}`, one object a line, or a list of such texts).

        All come out on the lowest exponent among them; `range` bounds the numbers.
        """
        from hearith._phe_json import read

        return read(self, text, range)

    def _plaintexts(self, integers: Integers) -> rust.Plaintexts:
        """Integers of magnitude below n / 2 as residues."""
        data, width = pack(integers)
        if width <= _SMALL:
            return self._native.encode(data, width)
        size = self._native.plaintext_bytes
        return self._native.residues(b"".join((int(value) % self._n).to_bytes(size, "big") for value in integers))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and bool(self._native == other._native)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<PublicKey {self.id}: {self.bits} bits, {self.variant}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_public, (self.to_jwk(), self.bits < MIN_SECURE_BITS)


class PrivateKey(_EncryptionKey):
    """What only the owner has: decrypts, and encrypts faster than the public key.

    It is wiped when it is dropped, and neither printed nor pickled; `to_jwk` writes it down deliberately.
    """

    _native: rust.PrivateKey
    _key: PublicKey

    def __init__(
        self, p: int, q: int, h: int | None = None, *, insecure: bool = False, engine: str | None = None
    ) -> None:
        """The key with primes `p` and `q` of equal length.

        Raises:
            InvalidKeyError: the numbers make no key.
        """
        generator = None if h is None else _to_bytes(h)
        self._set(rust.PrivateKey.from_primes(_to_bytes(p), _to_bytes(q), generator, insecure=insecure, engine=engine))

    def _set(self, native: rust.PrivateKey) -> None:
        self._native = native
        self._key = PublicKey._of(native.public)

    @classmethod
    def _of(cls, native: rust.PrivateKey) -> PrivateKey:
        self = object.__new__(cls)
        self._set(native)
        return self

    @classmethod
    def from_jwk(cls, text: str, *, insecure: bool = False, engine: str | None = None) -> PrivateKey:
        """The key in a JSON Web Key, as `to_jwk`, the command line and python-paillier's `pheutil` write it."""
        return cls._of(rust.PrivateKey.from_jwk(text, insecure=insecure, engine=engine))

    def to_jwk(self) -> str:
        """The key, secret as it is, as a JSON Web Key of one line."""
        return self._native.to_jwk()

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return self._key

    @property
    def id(self) -> str:
        """The id of the public key."""
        return self._key.id

    @property
    def bits(self) -> int:
        """Bits of the modulus."""
        return self._key.bits

    @property
    def _public(self) -> PublicKey:
        return self._key

    def decrypt(self, array: EncryptedArray, *, progress: bool = False) -> int | Decimal | float | npt.NDArray[Any]:
        """The numbers in an array: NumPy's `int64` where they fit, else Python's integers; `Decimal` with a scale; floats on a power
        of sixteen. A single number comes as Python's `int`, `Decimal` or `float`.

        Raises:
            KeyMismatchError: the array belongs to another key.
            RangeError: a ciphertext holds more than its array's bound: it was not made by these operations.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(512, insecure=True)
        >>> private.decrypt(public.encrypt(-7)), private.decrypt(public.encrypt([0.5, 2], exponent=-4))
        (-7, array([0.5, 2. ]))
        """
        if array.key_id != self.id:
            raise KeyMismatchError(f"numbers under key {array.key_id}, but this is key {self.id}")
        rows = array._native
        found: list[Integers] = []
        for start, stop in pieces(len(rows), progress, "decrypting"):
            found.append(unpack(*self._native.decrypt_integers(rows.range(start, stop))))
        integers = _joined(found)
        try:
            check_range(integers, array.bound)
        except RangeError as error:
            row = str(error).split(":")[0]
            raise RangeError(f"{row}: holds more than the array's bound, so it cannot be relied on") from None
        numbers = array.encoding.decode(integers)
        return numbers.tolist()[0] if array.ndim == 0 else numbers

    def decrypt_columns(self, table: Any, *, progress: bool = False) -> pa.Table:
        """The table with its encrypted columns as exact decimals; companions disappear.

        Raises:
            RangeError: a total overflowed its headroom, or cannot be relied on.
        """
        from hearith.columns import decrypt_columns

        return decrypt_columns(self, table, progress=progress)

    def __repr__(self) -> str:
        return f"<PrivateKey {self.id}: {self.bits} bits>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key is not pickled: write it down deliberately with to_jwk()")


def generate_keypair(
    bits: int = DEFAULT_BITS, variant: str = "standard", *, insecure: bool = False, engine: str | None = None
) -> tuple[PublicKey, PrivateKey]:
    """A new key pair.

    Args:
        bits: bits of the modulus, even, 2048 to 8192; less, from 64 on, only with `insecure`.
        variant: `standard`, or `djn` (Damgård, Jurik and Nielsen 2010): encryption with the public key is several times
            faster, secure under one more assumption.
        insecure: allows keys too short to protect anything.
        engine: `serial` or `ifma`; by default what `HEARITH_ENGINE` says, else the fastest that the machine has.

    >>> import hearith as he
    >>> public, private = he.generate_keypair(512, "djn", insecure=True)
    >>> public.bits, public.variant
    (512, 'djn')
    """
    private = PrivateKey._of(rust.PrivateKey.generate(bits, variant, insecure=insecure, engine=engine))
    return private.public, private


def _load_public(text: str, insecure: bool) -> PublicKey:
    """An unpickled key."""
    return PublicKey.from_jwk(text, insecure=insecure)


def _to_bytes(number: int) -> bytes:
    return number.to_bytes(max(1, -(-number.bit_length() // 8)), "big")


def _joined(parts: list[Integers]) -> Integers:
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])
    return [int(value) for part in parts for value in part]
