"""Encrypted numbers as Arrow data: an extension type over fixed-size binary.

The type describes scheme, key id, bits, encoding, range and headroom. Ciphertexts are big-endian,
each twice as long as n in bytes. In an encrypted table, the field's metadata repeat the description
in the entries `hearith.*`, which the command line and other programs read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from hearith import _descriptions
from hearith._computing import ComputingKey
from hearith._encrypted import Encrypted, ciphertext_bytes, read_ciphertexts
from hearith.encoding import Encoding
from hearith.errors import KeyMismatchError, ShapeError, TableError

#: The name of the extension type.
NAME = "hearith.paillier"


@dataclass(frozen=True)
class Description:
    """The description of an encrypted column.

    With `encoding == "slots"` there is one scale and range per slot, otherwise one of each. A
    column of a table also names the plaintext columns it was made from, and the columns that count
    its additions.
    """

    key: str
    bits: int
    encoding: str
    scales: tuple[int, ...]
    ranges: tuple[int, ...]
    max_additions: int
    exponent: int = 0
    scheme: str = "paillier"
    columns: tuple[str, ...] = ()
    additions: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """The size of a ciphertext in bytes."""
        return ciphertext_bytes(self.bits)

    @property
    def bound(self) -> int:
        """The largest magnitude of an encrypted integer after all additions that the headroom
        allows.
        """
        steps: int = 16**-self.exponent
        return max(self.ranges) * steps * self.max_additions

    @classmethod
    def of_field(cls, field: pa.Field) -> Description:
        """Reads the description from the metadata of a field of an encrypted table."""
        entries = _descriptions.entries(field).items()
        text = {name.removeprefix(_descriptions.PREFIX): value for name, value in entries}
        return cls(
            key=text["key"],
            bits=int(text["bits"]),
            encoding=text["encoding"],
            scales=tuple(int(scale) for scale in text["scale"].split(",")),
            ranges=tuple(int(range) for range in text["range"].split(",")),
            max_additions=int(text["max_additions"]),
            exponent=int(text.get("exponent", "0")),
            scheme=text["scheme"],
            columns=tuple(json.loads(text.get("columns", "[]"))),
            additions=tuple(_descriptions.companions(_descriptions.entries(field))),
            values=tuple(_descriptions.values(_descriptions.entries(field))),
        )

    @classmethod
    def of_bound(cls, key: str, bits: int, encoding: Encoding, bound: int) -> Description:
        """Returns the description of integers of at most `bound` in magnitude that do not belong to
        a table.
        """
        steps = 16**-encoding.exponent if encoding.base == 16 else 1
        return cls(
            key=key,
            bits=bits,
            encoding=encoding.name,
            scales=(encoding.scale,),
            ranges=(max(1, -(-bound // steps)),),
            max_additions=1,
            exponent=encoding.exponent if encoding.base == 16 else 0,
        )

    def entries(self) -> dict[str, str]:
        """Returns the same description as entries of a field's metadata."""
        text = {
            "scheme": self.scheme,
            "key": self.key,
            "bits": str(self.bits),
            "encoding": self.encoding,
            "columns": json.dumps(self.columns),
            "additions": json.dumps(self.additions),
            "scale": ",".join(map(str, self.scales)),
            "range": ",".join(map(str, self.ranges)),
            "max_additions": str(self.max_additions),
        }
        if self.values:
            text["values"] = json.dumps(self.values)
        if self.encoding == "slots":
            text["slots"] = str(len(self.scales))
        if self.encoding == "base16":
            text["exponent"] = str(self.exponent)
        return {_descriptions.PREFIX + name: value for name, value in text.items()}


class EncryptedType(pa.ExtensionType):  # type: ignore[misc]
    """The type of encrypted numbers, stored as fixed-size binary, or as the binary type that
    another library converted it to.
    """

    def __init__(self, description: Description, storage: pa.DataType | None = None) -> None:
        """Creates the type of columns with this description."""
        self.description = description
        super().__init__(pa.binary(description.width) if storage is None else storage, NAME)

    @property
    def is_fixed(self) -> bool:
        """Whether the ciphertexts are stored as fixed-size binary."""
        return bool(self.storage_type == pa.binary(self.description.width))

    def __arrow_ext_serialize__(self) -> bytes:
        """Returns the description as JSON.

        Ranges are text, since they exceed the integers of JSON readers.
        """
        entries = asdict(self.description)
        entries["ranges"] = [str(range) for range in self.description.ranges]
        return json.dumps(entries).encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: Any, serialized: bytes) -> EncryptedType:
        """Reads the type from its JSON."""
        try:
            entries = json.loads(serialized)
            entries["scales"] = tuple(int(scale) for scale in entries["scales"])
            entries["ranges"] = tuple(int(range) for range in entries["ranges"])
            for names in ("columns", "additions", "values"):
                entries[names] = tuple(map(str, entries.get(names, ())))
            description = Description(**entries)
        except (ValueError, TypeError, KeyError) as error:
            raise TableError("damaged description of an encrypted column", kind="metadata") from error
        if storage_type != pa.binary(description.width) and not _is_binary(storage_type):
            text = f"the column is {storage_type}, not fixed_size_binary[{description.width}]"
            raise TableError(text, kind="metadata")
        return cls(description, storage_type)

    def __eq__(self, other: object) -> bool:
        """Whether columns of both types may be one column. pyarrow compares only names and storage,
        and would join integers of different scales or keys.
        """
        if not isinstance(other, EncryptedType):
            return False
        return bool(self.description == other.description and self.storage_type == other.storage_type)

    def __ne__(self, other: object) -> bool:
        # pyarrow's own types define this one too.
        return not self == other

    def __hash__(self) -> int:
        return hash((self.description, str(self.storage_type)))

    def __reduce__(self) -> tuple[Any, ...]:
        return EncryptedType, (self.description, self.storage_type)

    #: Creates the pandas dtype of this type. The package sets it, since the dtype depends on
    #: arrays, which depend on this module.
    pandas_type: ClassVar[Callable[[EncryptedType], Any]]

    def to_pandas_dtype(self) -> Any:
        """Returns the pandas dtype, so that a column keeps its type in `to_pandas`, filters,
        `to_parquet` and the way back.
        """
        return type(self).pandas_type(self)


def register() -> None:
    """Registers the type with Arrow in this process.

    Importing `hearith` and `pyarrow`, in either order, calls this.
    """
    # The type is already registered if the module was loaded a second time.
    with suppress(pa.ArrowKeyError):
        pa.register_extension_type(EncryptedType(Description("0" * 32, 64, "integer", (0,), (1,), 1)))


def to_arrow(numbers: Encrypted) -> pa.ExtensionArray:
    """Implements `EncryptedArray.to_arrow`."""
    encoding = numbers.encoding.undivided()
    if len(numbers.shape) > 1:
        raise ShapeError(f"a column has one dimension, not {len(numbers.shape)}: ravel() the array", kind="dimensions")
    kind = EncryptedType(Description.of_bound(numbers.key_id, numbers.bits, encoding, numbers.bound))
    storage = pa.Array.from_buffers(kind.storage_type, numbers.size, [None, pa.py_buffer(numbers.to_bytes())])
    return pa.ExtensionArray.from_storage(kind, storage)


def from_arrow(key: ComputingKey, column: Any) -> Encrypted:
    """Implements `EncryptedArray.from_arrow`."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    if not isinstance(whole.type, EncryptedType):
        text = f"a column of {whole.type} is not encrypted"
        text += ", or its table lost the type: hearith.arrow.extended restores it"
        raise TableError(text, kind="not_encrypted")
    description = whole.type.description
    if description.key != key.id:
        text = f"encrypted under key {description.key}, but the key given is {key.id}"
        raise KeyMismatchError(text, kind="wrong_key")
    if description.encoding == "slots":
        text = "a packed column holds several numbers per row: use sum_columns and decrypt_columns"
        raise TableError(text, kind="packed")
    if whole.null_count:
        text = f"{whole.null_count} rows are null, but every row of an EncryptedArray holds a number"
        raise TableError(text, kind="missing")
    encoding = read_encoding(description)
    fixed = _of_type(EncryptedType(description), whole)
    return Encrypted(key, read_ciphertexts(key, _storage_bytes(fixed.storage)), encoding, description.bound)


def read_encoding(description: Description) -> Encoding:
    """Returns the encoding of the numbers in a column that is not packed."""
    if description.encoding == "base16":
        return Encoding.of(exponent=description.exponent)
    return Encoding.of(scale=description.scales[0])


def extended(table: pa.Table) -> pa.Table:
    """Restores the extension type and the descriptions of encrypted columns.

    Files from the command line have plain binary columns described by their field's metadata; other
    libraries keep the type but lose the metadata and the width. Descriptions get the current column
    names. Outer joins put nulls into counting columns, which pandas turns into floats: where the
    number is null too, the count becomes 0.
    """
    for index, field in enumerate(table.schema):
        if needs_extending(field):
            known = isinstance(field.type, EncryptedType)
            kind = EncryptedType(field.type.description if known else Description.of_field(field))
            chunks = [_of_type(kind, chunk) for chunk in table.column(index).chunks]
            described = pa.field(field.name, kind, field.nullable, _with_entries(field, kind.description.entries()))
            table = table.set_column(index, described, pa.chunked_array(chunks, type=kind))
    return _named(_counting(table))


def extended_schema(schema: pa.Schema) -> pa.Schema:
    """Returns the schema of `extended` for a table with this schema."""
    return extended(schema.empty_table()).schema


def _counting(table: pa.Table) -> pa.Table:
    """Restores the counts of encrypted columns as integers, with 0 where an outer join put nulls
    into both columns. Leaves invalid counts for the kernel to reject.
    """
    for field in table.schema:
        if not isinstance(field.type, EncryptedType):
            continue
        described = _descriptions.counts(_descriptions.entries(field))
        by_name = [field.name + ending for ending in (_descriptions.COUNTING, _descriptions.COUNTING_VALUES)]
        for name in {*described, *by_name} & set(table.column_names):
            index = table.schema.get_field_index(name)
            counted, column = table.schema.field(index), table.column(index)
            if index < 0 or (counted.type == pa.uint64() and not column.null_count):
                continue
            try:
                counts = column.cast(pa.uint64())
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
            counts = pc.if_else(table.column(field.name).is_null(), counts.fill_null(0), counts)
            nullable = counts.null_count > 0
            table = table.set_column(index, pa.field(name, pa.uint64(), nullable, counted.metadata), counts)
    return table


def _named(table: pa.Table) -> pa.Table:
    """Updates the descriptions of encrypted columns that have been renamed."""
    counting = {field.name for field in table.schema if field.type == pa.uint64()}
    for index, field in enumerate(table.schema):
        changed = _descriptions.renamed(field, counting)
        if changed:
            column, kind = table.column(index), field.type
            if isinstance(kind, EncryptedType):
                additions = tuple(_descriptions.companions(changed))
                values = tuple(_descriptions.values(changed))
                named = replace(kind.description, columns=(field.name,), additions=additions, values=values)
                kind = EncryptedType(named)
                column = pa.chunked_array([_of_type(kind, chunk) for chunk in column.chunks], type=kind)
            described = pa.field(field.name, kind, field.nullable, _with_entries(field, changed))
            table = table.set_column(index, described, column)
    return table


def _with_entries(field: pa.Field, entries: dict[str, str]) -> dict[bytes, bytes]:
    """Returns a field's metadata with entries added or replaced."""
    return {**(field.metadata or {}), **{name.encode(): text.encode() for name, text in entries.items()}}


def needs_extending(field: pa.Field) -> bool:
    """Whether a field is encrypted and lacks its type, its width or its description."""
    if isinstance(field.type, EncryptedType):
        return bool(field.type.description.columns) and not (field.type.is_fixed and _descriptions.is_encrypted(field))
    return _descriptions.is_encrypted(field) and not isinstance(field.type, pa.BaseExtensionType)


def _of_type(kind: EncryptedType, chunk: pa.Array) -> pa.Array:
    """Converts ciphertexts to an array of the type.

    Raises:
        TableError: a ciphertext's length does not match the type.
    """
    stored = chunk.storage if isinstance(chunk, pa.ExtensionArray) else chunk
    try:
        return pa.ExtensionArray.from_storage(kind, stored.cast(kind.storage_type))
    except pa.ArrowInvalid:
        text = f"the column is {stored.type}, not fixed_size_binary[{kind.description.width}]"
        raise TableError(text, kind="metadata") from None


def _is_binary(kind: pa.DataType) -> bool:
    """Whether a type holds variable-length bytes."""
    return kind in (pa.binary(), pa.large_binary(), pa.binary_view())


def _storage_bytes(storage: pa.Array) -> bytes:
    width = storage.type.byte_width
    buffer = storage.buffers()[1]
    start = storage.offset * width
    return b"" if buffer is None else buffer[start : start + len(storage) * width].to_pybytes()


register()
