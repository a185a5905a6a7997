"""Encrypted numbers in PostgreSQL through psycopg: their format without a server, and both
directions with one if the extension is built (scripts/postgres.sh test).
"""

import asyncio
import random
import shutil
from decimal import Decimal

import numpy as np
import psycopg
import pytest
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import Format
from required import missing

import hearith as he
import hearith.postgres as hp
from hearith._described import Value
from hearith.errors import CiphertextError, KeyMismatchError, RangeError, ScaleError, ShapeError, TableError

#: The example value in the documentation of `hearith_paillier::described` and in its tests, as
#: listed there in bytes.
KNOWN_BYTES = (
    bytes.fromhex(
        "01 02 0100" + "01" * 16 + "000000000000000000000000000003e8" + "0000000000000003" + "0000000000000001"
    )
    + b"\x09" * 64
)
KNOWN_TEXT = "he1:" + "01" * 16 + ":256:2:1000:3:1:" + "CQkJ" * 21 + "CQ"


def test_the_form_is_the_documented_one():
    value = Value("01" * 16, 256, 2, 1000, 3, 1, b"\x09" * 64)
    assert (value.to_bytes(), value.to_text()) == (KNOWN_BYTES, KNOWN_TEXT)
    assert Value.from_bytes(KNOWN_BYTES) == Value.from_text(KNOWN_TEXT) == value


def test_numbers_come_back_as_they_went(keys, judge):
    public, private = keys
    for number, options in [
        (-12, {}),
        ("-12.25", {"scale": 2, "range": 1000}),
        (0, {"range": 1}),
        ("0.5", {"scale": 38, "range": 1}),
        (2**127 - 1, {"range": 2**127 - 1}),
    ]:
        encrypted = public.encrypt(number, **options)
        read = hp.from_text(hp.to_text(encrypted, headroom=1000))
        assert read.shape == ()
        assert read.encoding == encrypted.encoding
        assert read.bound == encrypted.bound
        assert private.decrypt(read) == private.decrypt(encrypted) == Decimal(number)
        assert judge(read) == judge(encrypted)
    assert private.decrypt(hp.from_text(hp.to_text(public.encrypt(3))) + public.encrypt(4)) == 7


def test_a_value_of_many_additions_has_their_bound(keys):
    text = hp.to_text(keys[0].encrypt(7, range=100), headroom=50)
    many = text.replace(":100:50:1:", ":100:50:30:")
    assert many != text
    assert hp.from_text(many).bound == 3000


def test_what_has_no_form_is_named(keys):
    public, _ = keys
    with pytest.raises(ShapeError, match="tolist"):
        hp.to_text(public.encrypt([1, 2]))
    with pytest.raises(ScaleError, match="power|divisor|exponent"):
        hp.to_text(public.encrypt(0.5, exponent=-8))
    with pytest.raises(ScaleError, match="divisor"):
        hp.to_text(public.encrypt(1) / 3)
    with pytest.raises(RangeError, match="range"):
        hp.to_text(public.encrypt(1, range=2**127))
    for headroom in (0, 2**64):
        with pytest.raises(RangeError, match="headroom"):
            hp.to_text(public.encrypt(1), headroom=headroom)
    short, _ = he.generate_keypair(128, insecure=True)
    with pytest.raises(RangeError, match="need"):
        hp.to_text(short.encrypt(1, range=2**63), headroom=2**63)
    with pytest.raises(TypeError):
        hp.to_text(5)


def test_altered_values_are_errors_or_what_they_say():
    random.seed(2)
    for place in range(len(KNOWN_TEXT)):
        for letter in random.sample("0123456789abcdefABCDEF:-_=+/ \né", 5):
            text = KNOWN_TEXT[:place] + letter + KNOWN_TEXT[place + 1 :]
            for altered in (text, KNOWN_TEXT[:place], KNOWN_TEXT + letter):
                try:
                    assert Value.from_text(altered).to_text() == altered
                except CiphertextError as error:
                    assert error.kind in ("description", "width")  # noqa: PT017
    for place in range(len(KNOWN_BYTES)):
        for byte in (0, 1, 0x80, 0xFF):
            data = KNOWN_BYTES[:place] + bytes([byte]) + KNOWN_BYTES[place + 1 :]
            for altered in (data, KNOWN_BYTES[:place], KNOWN_BYTES + bytes([byte])):
                try:
                    assert Value.from_bytes(altered).to_bytes() == altered
                except CiphertextError as error:
                    assert error.kind in ("description", "width", "version")  # noqa: PT017


def test_what_needs_no_server():
    """Tests psycopg's adapters alone, in both formats."""
    public, private = he.generate_keypair(256, insecure=True)
    number = public.encrypt("1.25", scale=2, range=10)
    transformer = Transformer()
    for dumper, loader, form in (
        (hp._TextDumper, hp._TextLoader, Format.TEXT),
        (hp._BytesDumper, hp._BytesLoader, Format.BINARY),
    ):
        made = type("Dumper", (dumper,), {"oid": 1_000_000, "headroom": 5})(he.EncryptedArray, transformer)
        assert made.format == form
        data = made.dump(number)
        assert private.decrypt(loader(1_000_000, transformer).load(memoryview(data))) == Decimal("1.25")
    with pytest.raises(CiphertextError):
        hp._TextLoader(1_000_000, transformer).load("he1:é".encode())
    # A number cannot be sent without a connection that knows the type.
    with pytest.raises(psycopg.ProgrammingError):
        transformer.get_dumper(number, PyFormat.AUTO)


@pytest.fixture(scope="module")
def server():
    """A server of the first PostgreSQL version with the extension
    (crates/postgres/tests/servers.py).
    """
    try:
        from installation import Installation
        from servers import INSTALLATIONS, Server, place
    except ImportError:
        INSTALLATIONS = []
    if not INSTALLATIONS:
        missing("postgres-extension", "no PostgreSQL with the extension: run scripts/postgres.sh test")
    folder = place()
    running = Server(Installation(*INSTALLATIONS[0], folder)).start()
    running.prepare()
    yield running
    running.stop("immediate")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def connection(server, keys):
    with server.connect() as found:
        found.execute(
            "DROP TABLE IF EXISTS staff; CREATE TABLE staff (dept text, salary ciphertext, past ciphertext[])"
        )
        hp.register(found)
        assert hp.load_key(found, keys[0]) == keys[0].id
        yield found


SALARIES = [Decimal(cents) / 100 for cents in (520000, 615050, -100, 0, 499999)]


@pytest.mark.parametrize("binary", [False, True])
def test_rows_sums_and_means(connection, keys, binary):
    public, private = keys
    encrypted = public.encrypt(SALARIES, scale=2, range=10**6).tolist()
    form = "%b" if binary else "%t"
    with connection.cursor(binary=binary) as cursor:
        rows = [("lab" if row % 2 else "shop", number, [number, None]) for row, number in enumerate(encrypted)]
        cursor.executemany(f"INSERT INTO staff VALUES (%s, {form}, {form})", rows)
        cursor.execute("INSERT INTO staff VALUES ('lab', NULL, NULL)")
        found = cursor.execute("SELECT salary, past FROM staff WHERE salary IS NOT NULL").fetchall()
        assert [private.decrypt(salary) for salary, _ in found] == SALARIES
        assert [private.decrypt(past[0]) for _, past in found] == SALARIES
        assert found[0][1][1] is None
        assert cursor.execute("SELECT salary FROM staff WHERE salary IS NULL").fetchone() == (None,)
        query = "SELECT sum(salary), avg(salary), he_avg(salary, 4) FROM staff WHERE dept = %s"
        for dept, wanted in (("shop", SALARIES[::2]), ("lab", SALARIES[1::2])):
            total, mean, withheld = cursor.execute(query, [dept]).fetchone()
            assert private.decrypt(total) == sum(wanted)
            assert private.decrypt(mean) == pytest.approx(float(np.mean([float(number) for number in wanted])))
            assert withheld is None
        # The returned value is used in a local computation, and then again in the database.
        doubled = total + total
        again = cursor.execute("SELECT %s + salary FROM staff WHERE dept = 'lab' LIMIT 1", [doubled]).fetchone()[0]
        assert private.decrypt(again) == 2 * sum(SALARIES[1::2]) + SALARIES[1]


@pytest.mark.parametrize("form", ["TEXT", "BINARY"])
def test_copies(connection, keys, form):
    public, private = keys
    encrypted = public.encrypt(SALARIES, scale=2, range=10**6).tolist()
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY staff (dept, salary) FROM STDIN (FORMAT {form})") as copy:
            copy.set_types(["text", "ciphertext"])
            for number in [*encrypted, None]:
                copy.write_row(("lab", number))
        with cursor.copy(f"COPY staff (dept, salary) TO STDOUT (FORMAT {form})") as copy:
            copy.set_types(["text", "ciphertext"])
            found = [salary for _, salary in copy.rows()]
    assert [None if number is None else private.decrypt(number) for number in found] == [*SALARIES, None]


def test_mistakes_are_errors(connection, server, keys, other_keys):
    public, _ = keys
    with pytest.raises(ShapeError):
        connection.execute("INSERT INTO staff (salary) VALUES (%s)", [public.encrypt([1, 2])])
    # A value under a key that only this process has, not the server.
    other = connection.execute("SELECT %s", [other_keys[0].encrypt(1)]).fetchone()[0]
    assert other_keys[1].decrypt(other) == 1
    with pytest.raises(psycopg.errors.UndefinedObject):
        connection.execute("SELECT %s + 1", [other_keys[0].encrypt(1)])
    with pytest.raises(KeyMismatchError):
        keys[1].decrypt(other)
    with server.connect(database="template1") as bare, pytest.raises(TableError, match="CREATE EXTENSION"):
        hp.register(bare)


def test_a_connection_can_be_asynchronous(server, connection, keys):
    public, private = keys

    async def through():
        async with await psycopg.AsyncConnection.connect(server.address()) as other:
            await hp.register_async(other, headroom=7)
            found = await other.execute("SELECT %s, he_headroom(%s)", [public.encrypt(5), public.encrypt(5)])
            return await found.fetchone()

    number, headroom = asyncio.run(through())
    assert private.decrypt(number) == 5
    assert headroom == 7
