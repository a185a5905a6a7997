"""python-paillier's interface on Hearith's arithmetic: a program written for `phe` runs with
`import hearith.phe as phe`.

Classes, methods and exceptions are those of `phe` 1.5. Sums and multiples are put off until one is
needed and then computed many at once, to the very ciphertexts that computing at once gives; what
nobody keeps is not computed. `PublicKey.from_phe` and `EncryptedArray.to_phe` take many numbers to
where batches are faster still. Moduli that the engine takes (an even number of bits, 64 to 8192,
primes of equal length) are computed in Rust, others, which only tests use, in Python.

Numbers wrap around n where they do in `phe`: silently. `strict()`, which `phe` does not have, or
`HEARITH_PHE_STRICT=1` in the environment, has such results raise `OverflowError`, and rejects keys
below 2048 bits, of which a warning is given otherwise. Composite factors, and moduli with factors
up to 65537, are always rejected.

`load` and `loads`, which `phe` does not have, read what `phe` has pickled.

>>> import hearith.phe as phe
>>> public, private = phe.generate_paillier_keypair(n_length=256)
>>> private.decrypt(public.encrypt(1.5) * 2 + 4)
7.0
"""

from hearith.phe import encoding, paillier, util
from hearith.phe._pickles import load, loads
from hearith.phe._strict import strict
from hearith.phe.encoding import EncodedNumber
from hearith.phe.paillier import (
    EncryptedNumber,
    PaillierPrivateKey,
    PaillierPrivateKeyring,
    PaillierPublicKey,
    generate_paillier_keypair,
)

#: The release of `phe` whose interface this is.
__version__ = "1.5.0"

__all__ = [
    "EncodedNumber",
    "EncryptedNumber",
    "PaillierPrivateKey",
    "PaillierPrivateKeyring",
    "PaillierPublicKey",
    "__version__",
    "encoding",
    "generate_paillier_keypair",
    "load",
    "loads",
    "paillier",
    "strict",
    "util",
]
