"""A service instead of the local engine: the same calls and results, and the package's own
errors.
"""

import datetime
import ipaddress
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import threading
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st
from required import missing

import hearith as he
from hearith import remote
from hearith.errors import (
    HearithError,
    InvalidKeyError,
    KeyMismatchError,
    NumberError,
    RangeError,
    ServiceError,
    ShapeError,
    TableError,
)

if "HEARITH_COMMAND" not in os.environ:
    missing("command", "needs the built command line in HEARITH_COMMAND")


class Server:
    """Runs `hearith serve` in the background, on a port that it chooses."""

    def __init__(self, *arguments, private=(), listen="127.0.0.1:0"):
        command = [os.environ["HEARITH_COMMAND"], "--insecure-key", "--json", "serve", "--listen", listen]
        keys = [argument for path in private for argument in ("--key", path)]
        self.process = subprocess.Popen([*command, *keys, *arguments], stderr=subprocess.PIPE, text=True)
        # Skips the warnings about the small key and certificates.
        lines = iter(self.process.stderr.readline, "")
        self.address = json.loads(next(line for line in lines if '"address"' in line))["address"]
        # Its log must be read, or the pipe would fill up.
        self.reader = threading.Thread(target=lambda: list(self.process.stderr))
        self.reader.start()
        self.url = f"http://{self.address}"

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.reader.join()
        self.process.stderr.close()
        return self.process.wait()


@pytest.fixture(scope="module")
def served(keys, other_keys, tmp_path_factory):
    """A service with the private key of `keys`, but not that of `other_keys`."""
    path = tmp_path_factory.mktemp("served") / "private.json"
    path.touch(mode=0o600)
    path.write_text(keys[1].to_jwk())
    server = Server("--max-message", "16", private=[path])
    yield server
    assert server.end() == 0


@pytest.fixture(scope="module")
def key(served, keys):
    return remote.connect(served.url).key(keys[0])


@pytest.fixture(scope="module")
def blind(served, other_keys):
    """The service key of which the service lacks the private key."""
    return remote.connect(served.url).key(other_keys[0])


def test_a_key_says_what_it_is(served, key, blind, keys):
    assert (key.id, key.n, key.bits, key.variant) == (keys[0].id, keys[0].n, 512, "standard")
    assert (key.decrypts, blind.decrypts, blind.variant) == (True, False, "djn")
    assert (key.service.url, key.public) == (served.url, key)
    assert served.url in repr(key)
    assert repr(key.service) == f"<Service {served.url}>"
    assert isinstance(key.weakness, str)


@given(numbers=st.lists(st.integers(-(2**63) + 1, 2**63 - 1), max_size=40))
def test_what_is_encrypted_there_is_decrypted_here_and_the_other_way(key, keys, judge, numbers):
    public, private = keys
    there = key.encrypt(numbers)
    assert judge(there) == list(private.decrypt(there)) == numbers
    assert list(key.decrypt(public.encrypt(numbers))) == numbers
    assert list(key.decrypt(there, check=True)) == numbers


@pytest.mark.parametrize("options", [{}, {"scale": 2}, {"exponent": -4}])
def test_encodings_are_the_same(key, keys, options):
    numbers = [0.5, -2.25, 3] if options else [5, -2, 3]
    expected = keys[1].decrypt(keys[0].encrypt(numbers, **options))
    found = key.decrypt(key.encrypt(numbers, **options))
    assert found.dtype == expected.dtype
    assert list(found) == list(expected)
    assert key.decrypt(key.encrypt("12.50", scale=2)) == Decimal("12.50")
    single = key.decrypt(key.encrypt(-7))
    assert (single, type(single)) == (-7, int)


#: Operations on numbers of at most 60 bits, with their plaintext equivalents.
OPERATIONS = {
    "add": (lambda a, b: a + b, lambda x, y: x + y),
    "subtract": (lambda a, b: a - b, lambda x, y: x - y),
    "negate": (lambda a, b: -a, lambda x, y: -x),
    "add plain": (lambda a, b: a + 5, lambda x, y: x + 5),
    "subtract from plain": (lambda a, b: 9 - b, lambda x, y: 9 - y),
    "scale": (lambda a, b: a * -3, lambda x, y: x * -3),
    "scale by a vector": (lambda a, b: a * np.arange(-20, 20), lambda x, y: x * np.arange(-20, 20)),
    "scale by 2^100": (lambda a, b: a * 2**100, lambda x, y: x.astype(object) * 2**100),
    "scale by 2^200": (lambda a, b: a * 2**200, lambda x, y: x.astype(object) * 2**200),
    "sum": (lambda a, b: a.sum(), lambda x, y: x.sum()),
    "sum of nothing": (lambda a, b: a[:0].sum(), lambda x, y: 0),
    "dot": (lambda a, b: a @ np.arange(-20, 20), lambda x, y: x @ np.arange(-20, 20)),
    "rows of a matrix": (
        lambda a, b: np.arange(120).reshape(3, 40) @ a,
        lambda x, y: np.arange(120).reshape(3, 40) @ x,
    ),
    "rescale": (lambda a, b: a.rescale(scale=1), lambda x, y: x),
    "sum by groups": (lambda a, b: a.sum_by(np.arange(40) % 7)[1], lambda x, y: [sum(x[i::7]) for i in range(7)]),
    "concatenate": (lambda a, b: he.concatenate([a, b]), lambda x, y: np.concatenate([x, y])),
    "select": (lambda a, b: a[[3, 1]] + b[::-1][:2], lambda x, y: x[[3, 1]] + y[::-1][:2]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_results_are_the_very_ciphertexts_of_the_local_engine(key, blind, keys, other_keys, name):
    encrypted, plain = OPERATIONS[name]
    x, y = np.arange(40) * 10**9 - 7, np.arange(40, 0, -1) * 12345
    for there, (public, private) in ((key, keys), (blind, other_keys)):
        a, b = public.encrypt(x), public.encrypt(y)
        local, found = encrypted(a, b), encrypted(there.take(a), there.take(b))
        assert found.key is there, "what comes of it is computed with there too"
        assert found.to_bytes() == local.to_bytes()
        assert (found.bound, found.encoding, found.shape) == (local.bound, local.encoding, local.shape)
        assert np.array_equal(private.decrypt(found), plain(x, y))


def test_randomising_makes_other_ciphertexts_of_the_same_numbers(key, keys):
    here = keys[0].encrypt([1, 2, 3])
    for there in (key.rerandomise(here), key.take(here).rerandomise()):
        assert not set(there.ciphertexts()) & set(here.ciphertexts())
        assert list(keys[1].decrypt(there)) == [1, 2, 3]
    assert key.decrypt(key.zeros(2) + 4).tolist() == [4, 4]


def test_long_batches_are_many_messages(key, keys):
    numbers = np.arange(3000) - 1500
    c = key.encrypt(numbers)
    assert np.array_equal(keys[1].decrypt(c), numbers)
    labels, totals = c.sum_by(numbers % 3)
    assert key.decrypt(totals).tolist() == [int(numbers[numbers % 3 == label].sum()) for label in labels]
    assert key.decrypt(c.sum()) == -1500


def test_tables(key, blind, keys, other_keys):
    staff = pa.table(
        {
            "dept": ["lab", "shop", "lab", "shop"],
            "salary": [3100, 2800, None, 2950],
            "bonus": [Decimal("1.25"), Decimal("0.50"), Decimal("2.00"), None],
        }
    )
    for there, (public, private) in ((key, keys), (blind, other_keys)):
        for pack in (False, True):
            table = there.encrypt_columns(staff, ["salary", "bonus"], pack=pack)
            assert table.schema == public.encrypt_columns(staff, ["salary", "bonus"], pack=pack).schema
            assert private.decrypt_columns(table).to_pydict() == staff.to_pydict()
            local = private.decrypt_columns(public.sum_columns(table, by="dept"))
            for rerandomise in (False, True):
                totals = there.sum_columns(table, by="dept", rerandomise=rerandomise)
                assert private.decrypt_columns(totals) == local
                if there.decrypts:
                    assert there.decrypt_columns(totals) == local
        assert public.sum_columns(table, by="dept") == there.sum_columns(table, by="dept")


def test_what_is_wrong_is_told_as_here(key, keys, other_keys):
    stranger = other_keys[0].encrypt([1, 2])
    for wrong in (key.take, key.decrypt, key.rerandomise, lambda array: key.encrypt([1, 2]) + array):
        with pytest.raises(KeyMismatchError) as caught:
            wrong(stranger)
        assert caught.value.kind == "wrong_key"
    with pytest.raises(KeyMismatchError):
        key.decrypt_columns(other_keys[0].encrypt_column(pa.table({"x": [1]}), "x"))
    with pytest.raises(ShapeError):
        key.encrypt([1, 2]) + key.encrypt([1, 2, 3])
    with pytest.raises(RangeError) as caught:
        key.encrypt([1, 1000], range=10)
    assert (caught.value.row, caught.value.kind) == (1, "out_of_range")
    with pytest.raises(RangeError, match="more than a key of 512 bits holds"):
        key.encrypt([1]) * 2**500
    with pytest.raises(TableError):
        key.encrypt_column(pa.table({"x": [1]}), "y")


def test_without_the_private_key_nothing_is_decrypted(blind):
    table = blind.encrypt_column(pa.table({"x": [1]}), "x")
    for ask in (lambda: blind.decrypt(blind.encrypt([1])), lambda: blind.decrypt_columns(table)):
        with pytest.raises(ServiceError, match="has no private key") as caught:
            ask()
        assert caught.value.kind == "no_private_key"
        assert isinstance(caught.value, HearithError)
        assert isinstance(caught.value, ConnectionError)


def test_weak_keys_are_refused_by_a_service_that_takes_none(keys):
    command = [os.environ["HEARITH_COMMAND"], "--json", "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = json.loads(process.stderr.readline())["address"]
            with pytest.raises(InvalidKeyError, match="512") as caught:
                remote.connect(f"http://{address}").key(keys[0])
            assert caught.value.kind == "bad_key"
        finally:
            process.terminate()
            process.wait()


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("127.0.0.1:7300", "url"),
        ("ftp://localhost:1", "url"),
        ("http://example.org:80", "unprotected"),
        ("https://example.org:80", "no_root"),
        ("http://127.0.0.1:1", "connect"),
    ],
)
def test_where_there_is_no_service(url, kind):
    with pytest.raises(ServiceError) as caught:
        remote.connect(url)
    assert caught.value.kind == kind
    assert str(caught.value).startswith(f"{url}: ")
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_arguments_are_checked(served, tmp_path):
    with pytest.raises(ServiceError, match="given together"):
        remote.connect(served.url, client_cert="me.pem")
    for timeout, error in (("1", NumberError), (True, NumberError), (0, RangeError), (-1, RangeError)):
        with pytest.raises(error, match="timeout"):
            remote.connect(served.url, timeout=timeout)
    for timeout in (float("nan"), float("inf"), 1e300):
        with pytest.raises(RangeError, match="timeout"):
            remote.connect(served.url, timeout=timeout)
    with pytest.raises(FileNotFoundError) as caught:
        remote.connect(served.url, ca=tmp_path / "none.pem")
    assert caught.value.filename == tmp_path / "none.pem"
    (tmp_path / "bytes.pem").write_bytes(b"\xff\xfe")
    with pytest.raises(OSError, match=r"bytes\.pem"):
        remote.connect(served.url, ca=tmp_path / "bytes.pem")


def test_a_timeout_ends_what_takes_too_long(served, keys):
    hasty = remote.connect(served.url, timeout=1e-6)
    with pytest.raises(ServiceError) as caught:
        hasty.key(keys[0]).encrypt(list(range(20_000)))
    assert caught.value.kind == "deadline"
    patient = remote.connect(served.url, timeout=600).key(keys[0])
    assert patient.decrypt(patient.encrypt(5)) == 5


def test_a_service_that_is_gone_is_an_error_and_its_successor_is_found(keys):
    server = Server()
    key = remote.connect(server.url).key(keys[0])
    server.end(signal.SIGKILL)
    with pytest.raises(ServiceError) as caught:
        key.encrypt([1, 2])
    assert caught.value.kind == "broken"
    successor = Server(listen=server.address)
    try:
        # The service does not know the key; the client registers it again.
        assert keys[1].decrypt(key.encrypt([1, 2])).tolist() == [1, 2]
    finally:
        assert successor.end() == 0


def _ask(connection, key):
    try:
        key.encrypt([1])
        connection.send("an answer")
    except ServiceError as error:
        connection.send(error.kind)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_process_is_told_to_connect_itself(key):
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    with here, there:
        child = context.Process(target=_ask, args=(there, key))
        child.start()
        assert here.poll(60)
        assert here.recv() == "other_process"
    child.join(60)
    assert child.exitcode == 0, "it ends, connection or not"
    assert key.decrypt(key.encrypt([1])).tolist() == [1]


def test_connections_are_not_pickled_and_arrays_lose_theirs(key, keys):
    for thing in (key, key.service):
        with pytest.raises(TypeError, match="connect in the other process"):
            pickle.dumps(thing)
    found = pickle.loads(pickle.dumps(key.encrypt([1, 2])))
    assert type(found.key) is he.PublicKey, "an array that was pickled finds the key here, not the one there"
    assert keys[1].decrypt(found).tolist() == [1, 2]


def test_threads_share_a_connection(key):
    found = {}

    def work(number):
        found[number] = key.decrypt(key.encrypt(np.full(50, number)).sum())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: 50 * number for number in range(12)}


class Authority:
    """A certificate authority."""

    def __init__(self, folder, name):
        self.folder, self.key = folder, ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        root = self._builder(self.name, self.key, days=1).add_extension(x509.BasicConstraints(True, None), True)
        self.root = self._written(f"{name}.pem", root)

    def sign(self, name, days=1):
        """Returns files with a certificate, valid for `days` days, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(name), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._builder(subject, key, days).add_extension(names, False)
        path = self.folder / f"{name}.key"
        text = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        path.write_bytes(key.private_bytes(*text))
        return self._written(f"{name}.pem", certificate), path

    def _builder(self, subject, key, days):
        now = datetime.datetime.now(datetime.UTC)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        day = datetime.timedelta(days=1)
        return builder.not_valid_before(now - 3 * day).not_valid_after(now + days * day)

    def _written(self, name, builder):
        path = self.folder / name
        path.write_bytes(builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        return path


def test_certificates_decide_who_may_connect(keys, tmp_path):
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    certificate, secret = ours.sign("server")
    client, stranger, late = ours.sign("client"), theirs.sign("stranger"), ours.sign("late", days=-1)
    rights = tmp_path / "rights.json"
    rights.write_text('{"clients": [{"name": "client", "encrypt": true, "aggregate": true, "decrypt": "*"}]}')
    tls = ["--tls-cert", certificate, "--tls-key", secret, "--client-ca", ours.root, "--rights", rights]
    server = Server(*tls)
    url = f"https://{server.address}"

    def ask(ca, identity):
        names = dict(zip(("client_cert", "client_key"), identity, strict=False))
        key = remote.connect(url, ca=ca, **names).key(keys[0])
        return keys[1].decrypt(key.encrypt([1, 2])).tolist()

    try:
        assert ask(ours.root, client) == [1, 2]
        for ca, identity in (
            (theirs.root, client),
            (ours.root, ()),
            (ours.root, stranger),
            (ours.root, late),
        ):
            with pytest.raises(ServiceError) as caught:
                ask(ca, identity)
            assert caught.value.kind in ("connect", "broken"), caught.value
            assert "PRIVATE KEY" not in str(caught.value)
        with pytest.raises(ServiceError) as caught:
            remote.connect(f"http://{server.address}").key(keys[0])
        assert caught.value.kind in ("connect", "broken")
        assert ask(ours.root, client) == [1, 2], "nobody else is disturbed"
    finally:
        assert server.end() == 0


def test_a_service_with_an_expired_certificate_is_not_believed(keys, tmp_path):
    ours = Authority(tmp_path, "ours")
    certificate, secret = ours.sign("server", days=-1)
    server = Server("--tls-cert", certificate, "--tls-key", secret)
    try:
        with pytest.raises(ServiceError) as caught:
            remote.connect(f"https://{server.address}", ca=ours.root)
        assert caught.value.kind == "connect"
    finally:
        server.end()
