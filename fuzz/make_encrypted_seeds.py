"""Encrypts the seeds of private keys under the passphrase of the fuzz target, with as few rounds as
are taken: jwcrypto, as another implementation, and because the command line takes many rounds. Run
by make_seeds.sh."""

import pathlib

from jwcrypto import jwe, jwk

SEEDS = pathlib.Path(__file__).parent / "seeds"
ALGORITHMS = [
    ("PBES2-HS256+A128KW", "A128CBC-HS256"),
    ("PBES2-HS384+A192KW", "A256CBC-HS512"),
    ("PBES2-HS512+A256KW", "A256GCM"),
]

folder = SEEDS / "encrypted_key"
folder.mkdir(exist_ok=True)
passphrase = jwk.JWK.from_password("fuzz")
for key in sorted((SEEDS / "private_key").glob("*-6[46]")):
    for number, (alg, enc) in enumerate(ALGORITHMS):
        header = {"alg": alg, "enc": enc, "cty": "jwk+json", "p2c": 1000}
        token = jwe.JWE(key.read_text(), protected=header)
        token.add_recipient(passphrase)
        for form, compact in (("json", False), ("compact", True)):
            (folder / f"{key.name}-{number}-{form}").write_text(token.serialize(compact=compact))
