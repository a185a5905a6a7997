"""Signed tables: signatures survive files, and any change is detected."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hearith as he
from hearith.errors import InvalidKeyError, TableError
from hearith.signing import SigningKey, VerifyingKey


@pytest.fixture(scope="module")
def key():
    return SigningKey.generate()


@pytest.fixture(scope="module")
def signed(keys, key):
    plain = pa.table({"dept": ["lab", None, "lab"], "site": [1, 2, 3], "pay": [10, 20, None]})
    return he.sign_table(keys[0].encrypt_columns(plain, ["pay"]), key)


def test_a_signature_goes_through_files(signed, key, tmp_path):
    for number, options in enumerate([{}, {"compression": "zstd", "row_group_size": 1}, {"use_dictionary": False}]):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(signed, path, **options)
        assert he.verify_table(pq.read_table(path), key.public) == key.public
    assert he.verify_table(signed, [SigningKey.generate().public, key.public]) == key.public


def put(table, name, values):
    place = table.schema.get_field_index(name)
    field = table.schema.field(place)
    return table.set_column(place, field, pa.array(values, field.type))


def redescribed(t, name, **entries):
    place = t.schema.get_field_index(name)
    field = t.schema.field(place)
    changed = {**field.metadata, **{f"hearith.{key}".encode(): value.encode() for key, value in entries.items()}}
    column = pa.chunked_array([chunk.storage for chunk in t.column(place).chunks])
    return t.set_column(place, pa.field(name, column.type, metadata=changed), column)


CHANGES = {
    "a plain cell": lambda t: put(t, "dept", ["lab", None, "shop"]),
    "a null": lambda t: put(t, "site", [None, 2, 3]),
    "a count": lambda t: put(t, "pay.additions", [2, 1, 0]),
    "the order of rows": lambda t: t.take([1, 0, 2]),
    "a row less": lambda t: t.slice(1),
    "a row twice": lambda t: pa.concat_tables([t, t.slice(0, 1)]),
    "the name of a column": lambda t: t.rename_columns(["x", *t.column_names[1:]]),
    "a column less": lambda t: t.drop_columns(["site"]),
    "a column more": lambda t: t.append_column("x", pa.array([1, 2, 3])),
    "a type": lambda t: t.set_column(t.column_names.index("site"), "site", pa.array([1, 2, 3], pa.int32())),
    "the range": lambda t: redescribed(t, "pay", range="77"),
    "the headroom": lambda t: redescribed(t, "pay", max_additions="77"),
    "the id": lambda t: redescribed(t, "pay", table=32 * "a"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_part_changes_unseen(signed, key, change):
    # Some of these changes make pyarrow drop the schema's metadata.
    forged = CHANGES[change](signed).replace_schema_metadata(signed.schema.metadata)
    with pytest.raises(TableError, match="was changed after key") as caught:
        he.verify_table(forged, key.public)
    assert caught.value.kind == "altered"


def test_ciphertexts_are_signed(signed, keys, key):
    others = keys[0].rerandomise(he.EncryptedArray.from_arrow(keys[0], signed["pay"].drop_null()))
    cells = [*others.to_arrow().storage.to_pylist(), None]
    place = signed.schema.get_field_index("pay")
    kind = signed.schema.field(place).type
    column = pa.ExtensionArray.from_storage(kind, pa.array(cells, kind.storage_type))
    forged = signed.set_column(place, signed.schema.field(place), column)
    with pytest.raises(TableError, match="was changed after key"):
        he.verify_table(forged, key.public)


def test_signers_are_told_apart(signed, key):
    other = SigningKey.generate()
    with pytest.raises(
        TableError, match=f"signed by key {key.public.id}, which is not one of the given keys"
    ) as caught:
        he.verify_table(signed, other.public)
    assert caught.value.kind == "other_signer"
    with pytest.raises(TableError, match="is not signed") as caught:
        he.verify_table(signed.replace_schema_metadata(None), key.public)
    assert caught.value.kind == "unsigned"
    claimed = he.sign_table(signed, other).schema.metadata
    mixed = {**claimed, b"hearith.signer": signed.schema.metadata[b"hearith.signer"]}
    with pytest.raises(TableError, match="was changed after key"):
        he.verify_table(signed.replace_schema_metadata(mixed), key.public)


def test_keys_in_files(key, tmp_path):
    path = tmp_path / "signing.json"
    path.touch(mode=0o600)
    path.write_text(key.to_jwk())
    assert SigningKey.load(path).public == key.public
    sealed = key.to_jwk(passphrase="x")
    assert SigningKey.from_jwk(sealed, passphrase="x").public == key.public
    public = VerifyingKey.from_jwk(key.public.to_jwk())
    assert (public, public.id) == (key.public, key.public.id)
    for text, what in [
        ("{}", "JSON"),
        (key.public.to_jwk(), "a public key"),
        (key.to_jwk().replace("OKP", "EC"), "not a signing key"),
    ]:
        with pytest.raises(InvalidKeyError, match=what):
            SigningKey.from_jwk(text)
    assert key.to_jwk() not in repr(key)
    assert '"d"' not in repr(key)
