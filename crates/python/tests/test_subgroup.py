"""Keys of the subgroup variant in arrays, tables, frames, SQL and Spark, and rows with foreign
randomisers.
"""

import json
import pickle
from pathlib import Path

import duckdb
import gmpy2
import numpy as np
import phe
import pyarrow as pa
import pytest

import hearith as he
import hearith.duckdb as hd
from hearith.errors import CiphertextError, InvalidKeyError, KeyMismatchError

#: Keys and ciphertexts from an independent script.
VECTORS = json.loads((Path(__file__).parents[3] / "crates/paillier/tests/vectors/subgroup.json").read_text())
FOREIGN = "not made with this subgroup key's randomisers"


def number(name):
    """Returns a number of the first key."""
    return int(VECTORS[0][name], 16)


@pytest.fixture(scope="module")
def pair():
    return he.generate_keypair(1024, "subgroup", insecure=True)


@pytest.fixture(scope="module")
def known():
    """The first key of the known answers, read from a JSON Web Key assembled here."""

    def encoded(value):
        return phe.util.int_to_base64(value)

    public = {"kty": "DAJ", "alg": "PAI-SG1", "key_ops": ["encrypt"], "n": encoded(number("P") * number("Q"))}
    public |= {"h": encoded(number("h")), "x": VECTORS[0]["x"], "kid": "of a test"}
    private = {"kty": "DAJ", "key_ops": ["decrypt"], "p": encoded(number("P")), "q": encoded(number("Q"))}
    private |= {"sp": encoded(number("p")), "sq": encoded(number("q")), "pub": public, "kid": "of a test"}
    return he.PrivateKey.from_jwk(json.dumps(private), insecure=True)


def array_of(public, rows):
    """Returns an array of ciphertexts given as integers, and the signed numbers that they hold."""
    width = public.bits // 4
    data = b"".join(int(row["c"], 16).to_bytes(width, "big") for row in rows)
    n = public.n
    numbers = [int(row["m"], 16) for row in rows]
    bound = 2 ** (public.bits - 2) - 1
    array = he.EncryptedArray.from_bytes(public, data, range=bound)
    return array, [value - n if value > n // 2 else value for value in numbers]


def small(rows, n):
    """Returns the rows whose numbers fit an array of bounded range."""
    return [row for row in rows if min(int(row["m"], 16), n - int(row["m"], 16)) < n // 8]


def foreign_array(public, numbers):
    """Encrypts numbers under the same modulus with standard Paillier randomisers."""
    theirs = he.PublicKey(public.n, insecure=True).encrypt(numbers)
    return he.EncryptedArray.from_bytes(public, theirs.to_bytes())


def test_known_answers(known):
    public = known.public
    assert (public.id, public.variant) == (VECTORS[0]["id"], "subgroup")
    own, numbers = array_of(public, small(VECTORS[0]["own"], public.n))
    assert len(numbers) >= 3
    assert known.decrypt(own).tolist() == numbers
    theirs, numbers = array_of(public, small(VECTORS[0]["foreign"], public.n))
    with pytest.raises(CiphertextError, match=FOREIGN) as caught:
        known.decrypt(theirs)
    assert (caught.value.row, caught.value.kind) == (0, "foreign_randomiser")
    assert known.any_randomiser().decrypt(theirs).tolist() == numbers


def test_ciphertexts_are_of_the_subgroup(known):
    p, q = number("P"), number("Q")
    for ciphertext in known.public.encrypt([5, -3]).ciphertexts():
        orders = [(p, 2 * number("p")), (q, 2 * number("q"))]
        assert all(gmpy2.powmod(ciphertext, order, prime) == 1 for prime, order in orders)


def test_arithmetic_and_pickles(pair):
    public, private = pair
    array = public.encrypt([1, 2, -4])
    assert private.decrypt((array * 3 + [1, 1, 1]).sum()) == 0
    assert private.decrypt(array.rerandomise(), check=True).tolist() == [1, 2, -4]
    assert private.decrypt(private.encrypt([0.5, 2], exponent=-4)).tolist() == [0.5, 2]
    again = pickle.loads(pickle.dumps(public))
    assert (again, again.id, again.variant) == (public, public.id, "subgroup")
    read = he.PrivateKey.from_jwk(private.to_jwk(passphrase="a word"), passphrase="a word", insecure=True)
    assert read.decrypt(array).tolist() == [1, 2, -4]
    assert not read.decrypts_any_randomiser


def test_a_foreign_row_is_named_and_spoils_sums(pair):
    public, private = pair
    own, foreign = public.encrypt([1, 2]), foreign_array(public, [40])
    mixed = he.concatenate([own, foreign])
    for decrypt in (private.decrypt, lambda array: private.decrypt(array, check=True)):
        with pytest.raises(CiphertextError, match=FOREIGN) as caught:
            decrypt(mixed)
        assert caught.value.row == 2
    with pytest.raises(CiphertextError, match=FOREIGN):
        private.decrypt(mixed.sum())
    slow = private.any_randomiser()
    assert slow.decrypts_any_randomiser
    assert not private.decrypts_any_randomiser
    assert slow.public == public
    assert slow.decrypt(mixed.sum(), check=True) == 43
    assert [one.tolist() for one in slow.decrypt([own, mixed])] == [[1, 2], [1, 2, 40]]
    # It is exported as the same key.
    assert slow.to_jwk() == private.to_jwk()


def test_keys_of_other_variants_take_any(keys):
    assert keys[1].decrypts_any_randomiser
    assert keys[1].any_randomiser().decrypt(keys[0].encrypt([3])).tolist() == [3]


def test_the_modulus_alone_is_another_key(pair):
    public, private = pair
    standard = he.PublicKey(public.n, insecure=True)
    assert standard.id != public.id
    with pytest.raises(KeyMismatchError):
        private.decrypt(standard.encrypt([1]))


def test_numbers_of_phe_are_taken_only_when_asked_for(pair):
    public, private = pair
    theirs = phe.PaillierPublicKey(public.n).encrypt(-7)
    text = json.dumps({"v": str(theirs.ciphertext()), "e": theirs.exponent})
    with pytest.raises(InvalidKeyError, match="any_randomiser=True") as caught:
        public.from_phe(text)
    assert caught.value.kind == "foreign_randomiser"
    array = public.from_phe(text, any_randomiser=True)
    with pytest.raises(CiphertextError, match=FOREIGN):
        private.decrypt(array)
    assert private.any_randomiser().decrypt(array).tolist() == [-7]


def test_phe_refuses_the_key(pair, tmp_path):
    (tmp_path / "key.json").write_text(pair[0].to_jwk())
    command = phe.command_line.cli
    runner = pytest.importorskip("click.testing").CliRunner()
    found = runner.invoke(command, ["encrypt", str(tmp_path / "key.json"), "5"])
    assert found.exit_code != 0


@pytest.fixture(scope="module")
def table(pair):
    """A table under the key; `spoiled` replaces its last row with a foreign one."""
    public = pair[0]
    plain = pa.table({"g": ["a", "b", "a"], "pay": [10, -4, 25]})
    return public.encrypt_column(plain, "pay")


def spoiled(pair, table):
    """The table with a foreign last row."""
    column = table.column("pay")
    storage = column.combine_chunks()
    cells = (storage.storage if hasattr(storage, "storage") else storage).to_pylist()
    cells[-1] = foreign_array(pair[0], [25]).to_bytes()
    field = table.schema.field("pay")
    kind = field.type.storage_type if hasattr(field.type, "storage_type") else field.type
    array = pa.array(cells, kind)
    array = pa.ExtensionArray.from_storage(field.type, array) if hasattr(field.type, "storage_type") else array
    return table.set_column(table.schema.get_field_index("pay"), field, array)


def test_tables(pair, table):
    public, private = pair
    assert private.decrypt_columns(table).column("pay").to_pylist() == [10, -4, 25]
    totals = public.sum_columns(table, by=["g"])
    found = private.decrypt_columns(totals).to_pydict()
    assert dict(zip(found["g"], found["pay"], strict=True)) == {"a": 35, "b": -4}
    foreign = spoiled(pair, table)
    with pytest.raises(CiphertextError, match=FOREIGN) as caught:
        private.decrypt_columns(foreign)
    assert (caught.value.row, caught.value.column) == (2, "pay")
    slow = private.any_randomiser()
    assert slow.decrypt_columns(foreign, check=True).column("pay").to_pylist() == [10, -4, 25]
    totals = public.sum_columns(foreign, by=["g"])
    with pytest.raises(CiphertextError, match=FOREIGN):
        private.decrypt_columns(totals)
    found = slow.decrypt_columns(totals).to_pydict()
    assert dict(zip(found["g"], found["pay"], strict=True)) == {"a": 35, "b": -4}
    means = slow.decrypt_means(public.mean_columns(foreign, by=["g"])).to_pydict()
    assert dict(zip(means["g"], means["pay"], strict=True)) == {"a": 17.5, "b": -4.0}


def test_federated_sums(pair):
    public, private = pair
    updates = [np.array([client, -client, 100.0 * client]) for client in range(1, 4)]
    aggregator = he.Aggregator(public, like=updates[0], range=1000, step=1, clients=3)
    total = aggregator.sum([aggregator.encrypt(update) for update in updates])
    assert aggregator.mean(private, total).tolist() == [2, -2, 200]


def test_sql(pair, table, tmp_path):
    public, private = pair
    (tmp_path / "public.json").write_text(public.to_jwk())
    (tmp_path / "private.json").write_text(private.to_jwk())
    with hd.connect() as con:
        con.execute("SET hearith_allow_insecure_keys = true")
        con.execute(f"SET hearith_private_key = '{tmp_path}/private.json'")
        assert con.execute("SELECT he_load_key(?)", [str(tmp_path / "public.json")]).fetchall() == [(public.id,)]
        cells = public.encrypt([1, 2, 3]).to_bytes()
        width = public.bits // 4
        rows = pa.table({"v": [1, 2, 3], "c": [cells[at : at + width] for at in range(0, len(cells), width)]})
        con.register("rows", rows)
        con.execute("CREATE TABLE e AS SELECT * FROM rows")
        total = "SELECT sum(v), he_decrypt(he_sum(he_multiply(he_rerandomise(c), 2))) FROM e"
        assert con.execute(total).fetchall() == [(6, 12)]
        foreign = foreign_array(public, [40]).to_bytes()
        con.execute("INSERT INTO e VALUES (40, ?)", [foreign])
        with pytest.raises(duckdb.Error, match=FOREIGN):
            con.execute("SELECT he_decrypt(c) FROM e").fetchall()
        with pytest.raises(duckdb.Error, match=FOREIGN):
            con.execute("SELECT he_decrypt(he_sum(c)) FROM e").fetchall()
        con.execute("SET hearith_any_randomiser = true")
        assert con.execute("SELECT sum(v), he_decrypt(he_sum(c)) FROM e").fetchall() == [(46, 46)]
        con.execute("RESET hearith_any_randomiser")
        with pytest.raises(duckdb.Error, match=FOREIGN):
            con.execute("SELECT he_decrypt(he_sum(c)) FROM e").fetchall()
