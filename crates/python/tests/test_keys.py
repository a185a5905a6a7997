"""Keys: generation, JSON Web Keys, refusals."""

import pickle

import pytest
from required import missing

import hearith as he
from hearith.errors import InvalidKeyError


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


def test_the_owner_encrypts_too(keys, judge):
    assert judge(keys[1].encrypt([1, -2, 3])) == [1, -2, 3]


@pytest.mark.parametrize("engine", ["serial", "ifma"])
def test_engines(engine, keys):
    try:
        private = he.PrivateKey.from_jwk(keys[1].to_jwk(), insecure=True, engine=engine)
    except ValueError as error:
        missing(engine, f"this machine has no engine {engine}: {error}")
    assert private.public.engine == engine
    assert private.decrypt(keys[0].encrypt([7, -7])).tolist() == [7, -7]
