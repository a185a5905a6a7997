"""Encrypted numbers in PostgreSQL with the extension `hearith`, through psycopg 3.

::

    import hearith.postgres as hp

    with psycopg.connect("dbname=staff") as connection:
        hp.register(connection)
        hp.load_key(connection, public)
        salaries = public.encrypt([52000, 61500], range=10**6).tolist()
        with connection.cursor() as cursor:
            rows = [(number,) for number in salaries]
            cursor.executemany("INSERT INTO staff (salary) VALUES (%s)", rows)
        total, mean = connection.execute("SELECT sum(salary), avg(salary) FROM staff").fetchone()
        private.decrypt(total), private.decrypt(mean)

A scalar `EncryptedArray` (`shape == ()`, as in `tolist()`) maps to a value of the type
`ciphertext`, and lists of them map to `ciphertext[]`. This works in both directions, in text and
binary, for parameters, results and `COPY`. A mean (`avg(...)`, `he_avg(...)`) is the sum divided by
the count, like `EncryptedArray.mean`. Nothing here needs the private key. The public key must be
loaded in the process to compute with a number or decrypt it, but not to read it.

A number sent to the server counts as one addition of its `bound`. Declare `range=` when you
encrypt, to give the column the corresponding headroom.
"""

from __future__ import annotations

from typing import Any

try:
    import psycopg
    from psycopg import adapt, pq
    from psycopg.abc import Buffer
    from psycopg.types import TypeInfo
    from psycopg.types.composite import CompositeInfo, register_composite
except ImportError as error:
    raise ImportError("this module needs psycopg 3: pip install 'hearith[postgres]'") from error

from hearith._computing import ComputingKey
from hearith._described import DEFAULT_HEADROOM, Value
from hearith.array import EncryptedArray, encrypted
from hearith.errors import CiphertextError, TableError

__all__ = ["DEFAULT_HEADROOM", "from_text", "load_key", "register", "register_async", "to_text"]

_TYPE, _MEAN = "ciphertext", "encrypted_mean"


def register(connection: psycopg.Connection[Any], *, headroom: int = DEFAULT_HEADROOM) -> None:
    """Registers the type `ciphertext`, its arrays, and means with a connection.

    Values sent have headroom for `headroom` additions, 1 to 2^64 - 1.

    Raises:
        TableError: the database has no extension `hearith`, or the connection's `search_path` does
            not find its type.
    """
    _connect(connection, TypeInfo.fetch(connection, _TYPE), CompositeInfo.fetch(connection, _MEAN), headroom)


async def register_async(connection: psycopg.AsyncConnection[Any], *, headroom: int = DEFAULT_HEADROOM) -> None:
    """Does the same as `register` for an asynchronous connection."""
    single, mean = await TypeInfo.fetch(connection, _TYPE), await CompositeInfo.fetch(connection, _MEAN)
    _connect(connection, single, mean, headroom)


def load_key(connection: psycopg.Connection[Any], public: ComputingKey) -> str:
    """Adds a public key to those that the database computes with, and returns its id.

    Needs write permission for `hearith.keys`.

    Raises:
        psycopg.Error: the permission is missing (42501), or the server rejects the key (22023).
    """
    row = connection.execute("SELECT he_load_key(%s)", [public.to_jwk()]).fetchone()
    assert row is not None, "a function returns a row"
    return str(row[0])


def to_text(number: EncryptedArray, *, headroom: int = DEFAULT_HEADROOM) -> str:
    """Returns the text form of an encrypted scalar, for files that `COPY` reads.

    Raises:
        RangeError: the number's bound exceeds 2^127 - 1 units, or `headroom` additions of it exceed
            the key.
        ScaleError: the number is scaled by a power of sixteen, has a divisor, or more than 38
            digits.
        ShapeError: it is an array.

    >>> import hearith as he, hearith.postgres as hp
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> text = hp.to_text(public.encrypt("12.50", scale=2, range=1000))
    >>> text.split(":")[2:7]
    ['512', '2', '100000', '4294967296', '1']
    >>> private.decrypt(hp.from_text(text) * 2)
    Decimal('25.00')
    """
    return Value.of(encrypted(number), headroom).to_text()


def from_text(text: str) -> EncryptedArray:
    """Reads the text form of an encrypted number, as `COPY` writes it.

    Raises:
        CiphertextError: the text is not an encrypted number. Whether it belongs to its key is only
            checked on its first use in a computation.
    """
    return EncryptedArray(Value.from_text(text).number())


def _connect(
    connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any],
    single: TypeInfo | None,
    mean: CompositeInfo | None,
    headroom: int,
) -> None:
    """Registers the fetched types."""
    if single is None or mean is None:
        text = "there is no type ciphertext: CREATE EXTENSION hearith in this database, in a schema of the search_path"
        raise TableError(text)
    single.register(connection)
    found, wanted = single.oid, headroom

    class BytesDumper(_BytesDumper):
        oid, headroom = found, wanted

    class TextDumper(_TextDumper):
        oid, headroom = found, wanted

    # psycopg uses the last one if a query leaves the format open. Binary is shorter.
    connection.adapters.register_dumper(EncryptedArray, TextDumper)
    connection.adapters.register_dumper(EncryptedArray, BytesDumper)
    connection.adapters.register_loader(single.oid, _TextLoader)
    connection.adapters.register_loader(single.oid, _BytesLoader)
    register_composite(mean, connection, factory=_mean)


def _mean(total: EncryptedArray, count: int) -> EncryptedArray:
    """Returns a mean, which is divided after decryption."""
    return total / count


class _TextDumper(adapt.Dumper):
    """Writes numbers as text."""

    headroom: int

    def dump(self, obj: EncryptedArray) -> bytes:
        return to_text(obj, headroom=self.headroom).encode()


class _BytesDumper(adapt.Dumper):
    """Writes numbers as bytes."""

    format = pq.Format.BINARY
    headroom: int

    def dump(self, obj: EncryptedArray) -> bytes:
        return Value.of(encrypted(obj), self.headroom).to_bytes()


class _TextLoader(adapt.Loader):
    """Reads numbers from text."""

    def load(self, data: Buffer) -> EncryptedArray:
        try:
            text = bytes(data).decode("ascii")
        except UnicodeDecodeError:
            raise CiphertextError("not an encrypted number: its text is not ASCII", kind="description") from None
        return from_text(text)


class _BytesLoader(adapt.Loader):
    """Reads numbers from bytes."""

    format = pq.Format.BINARY

    def load(self, data: Buffer) -> EncryptedArray:
        return EncryptedArray(Value.from_bytes(bytes(data)).number())
