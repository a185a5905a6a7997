"""Keys: generation, JSON Web Keys and errors."""

import json
import os
import pickle

import pytest
from jwcrypto import jwa, jwe, jwk
from required import missing

import hearith as he
from hearith.errors import InvalidKeyError


@pytest.mark.parametrize("variant", ["DJN", "Standard", ""])
def test_variants_are_written_as_they_are_named(variant):
    with pytest.raises(InvalidKeyError, match=r"unknown variant: choose one of standard, djn, subgroup"):
        he.generate_keypair(512, variant, insecure=True)


@pytest.mark.parametrize("variant", ["standard", "djn"])
def test_generation_and_json_web_keys(variant):
    public, private = he.generate_keypair(256, variant, insecure=True)
    assert (public.bits, public.variant, private.id) == (256, variant, public.id)
    assert he.PublicKey.from_jwk(public.to_jwk(), insecure=True) == public
    again = he.PrivateKey.from_jwk(private.to_jwk(), insecure=True)
    assert again.public == public
    assert again.decrypt(public.encrypt(-5)) == -5
    assert pickle.loads(pickle.dumps(public)).variant == variant


def test_short_keys_are_asked_for(keys):
    with pytest.raises(InvalidKeyError, match="insecure"):
        he.generate_keypair(512)
    with pytest.raises(InvalidKeyError, match="insecure"):
        he.PublicKey.from_jwk(keys[0].to_jwk())
    with pytest.raises(InvalidKeyError, match="insecure"):
        he.PublicKey(keys[0].n)
    for bits in (63, 65, 10_000):
        with pytest.raises(InvalidKeyError):
            he.generate_keypair(bits, insecure=True)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"kty": "RSA"}', "x" * 10_000])
def test_what_is_no_key(text):
    for kind in (he.PublicKey, he.PrivateKey):
        with pytest.raises(InvalidKeyError):
            kind.from_jwk(text)


def test_wrong_arguments(keys):
    with pytest.raises(InvalidKeyError):
        he.generate_keypair(512, "other", insecure=True)
    with pytest.raises(ValueError, match="engine"):
        he.generate_keypair(512, insecure=True, engine="none")
    with pytest.raises(InvalidKeyError):
        he.PrivateKey(15, 15, insecure=True)


def test_nothing_secret_is_shown(keys):
    public, private = keys
    assert repr(private) == f"<PrivateKey {public.id}: 512 bits>"
    assert repr(public) == f"<PublicKey {public.id}: 512 bits, standard>"
    assert str(private) == repr(private)


@pytest.fixture
def encrypted(keys):
    return keys[1].to_jwk(passphrase="correct horse")


def test_encrypted_keys(keys, encrypted):
    assert he.PrivateKey.from_jwk(encrypted, passphrase="correct horse", insecure=True).to_jwk() == keys[1].to_jwk()
    with pytest.raises(InvalidKeyError, match="passphrase is wrong"):
        he.PrivateKey.from_jwk(encrypted, passphrase="correct hors", insecure=True)
    with pytest.raises(InvalidKeyError, match="encrypted: its passphrase is needed"):
        he.PrivateKey.from_jwk(encrypted, insecure=True)
    with pytest.raises(InvalidKeyError, match="insecure"):
        he.PrivateKey.from_jwk(encrypted, passphrase="correct horse")
    with pytest.raises(InvalidKeyError, match="empty"):
        keys[1].to_jwk(passphrase="")


def test_encrypted_keys_are_those_of_jwcrypto(keys, encrypted, monkeypatch):
    """Tests both directions with an independent implementation of JSON Web Encryption."""
    monkeypatch.setattr(jwa, "default_max_pbkdf2_iterations", 1_000_000)
    password = jwk.JWK.from_password("correct horse")
    token = jwe.JWE()
    token.deserialize(encrypted, password)
    assert token.payload.decode() == keys[1].to_jwk()
    header = json.loads(token.objects["protected"])
    assert (header["alg"], header["enc"], header["cty"]) == ("PBES2-HS512+A256KW", "A256GCM", "jwk+json")
    assert header["p2c"] >= 600_000
    assert header["kid"] == keys[0].id
    algorithms = [
        ("PBES2-HS256+A128KW", "A128CBC-HS256"),
        ("PBES2-HS384+A192KW", "A256CBC-HS512"),
        ("PBES2-HS512+A256KW", "A256GCM"),
    ]
    for alg, enc in algorithms:
        header = {"alg": alg, "enc": enc, "cty": "jwk+json", "p2c": 4096}
        token = jwe.JWE(keys[1].to_jwk(), protected=header)
        token.add_recipient(password)
        for text in (token.serialize(compact=True), token.serialize()):
            read = he.PrivateKey.from_jwk(text, passphrase="correct horse", insecure=True)
            assert read.to_jwk() == keys[1].to_jwk()


def test_key_files(keys, encrypted, tmp_path):
    public, private, secret = (tmp_path / name for name in ("public.json", "private.json", "secret.json"))
    public.write_text(keys[0].to_jwk())
    private.write_text(keys[1].to_jwk())
    secret.write_text(encrypted)
    for file in (private, secret):
        file.chmod(0o600)
    assert he.PublicKey.load(public, insecure=True) == keys[0]
    assert he.PrivateKey.load(str(private), insecure=True).to_jwk() == keys[1].to_jwk()
    assert he.PrivateKey.load(secret, passphrase="correct horse", insecure=True).id == keys[0].id
    with pytest.raises(InvalidKeyError, match="insecure"):
        he.PublicKey.load(public)
    with pytest.raises(FileNotFoundError) as missing:
        he.PrivateKey.load(tmp_path / "none.json")
    assert os.fspath(missing.value.filename) == str(tmp_path / "none.json")
    private.write_bytes(b"\xff")
    with pytest.raises(InvalidKeyError, match="private.json: it is not text"):
        he.PrivateKey.load(private)


def test_files_that_others_can_read_are_warned_of(keys, tmp_path):
    file = tmp_path / "private.json"
    file.write_text(keys[1].to_jwk())
    file.chmod(0o640)
    with pytest.warns(UserWarning, match="other users can read") as warned:
        he.PrivateKey.load(file, insecure=True)
    assert warned[0].filename == __file__


def test_keys_come_through_pipes(keys):
    read, write = os.pipe()
    os.write(write, keys[1].to_jwk().encode())
    os.close(write)
    try:
        assert he.PrivateKey.load(f"/dev/fd/{read}", insecure=True).id == keys[0].id
    finally:
        os.close(read)


def test_weak_keys_are_asked_for():
    assert he.generate_keypair(512, insecure=True)[0].weakness == "a key of 512 bits"
    # Decryption under the square of a prime is not unique.
    with pytest.raises(InvalidKeyError, match="square"):
        he.PublicKey((2**521 - 1) ** 2, insecure=True)


def test_the_owner_encrypts_too(keys, judge):
    assert judge(keys[1].encrypt([1, -2, 3])) == [1, -2, 3]


@pytest.mark.parametrize("engine", ["serial", "avx2", "ifma"])
def test_engines(engine, keys):
    try:
        private = he.PrivateKey.from_jwk(keys[1].to_jwk(), insecure=True, engine=engine)
    except ValueError as error:
        missing(engine, f"this machine has no engine {engine}: {error}")
    assert private.public.engine == engine
    assert private.decrypt(keys[0].encrypt([7, -7])).tolist() == [7, -7]
