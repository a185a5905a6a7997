"""The interface of python-paillier (`phe`) on Hearith's arithmetic.

A program written for `phe` runs with `import hearith.phe as phe`.

Classes, methods and exceptions are those of `phe` 1.5. Sums and multiples are deferred until one is
needed, and then computed in batches; the ciphertexts are the same as with immediate computation.
Results that are dropped are never computed. `PublicKey.from_phe` and `EncryptedArray.to_phe`
convert many numbers to arrays, whose batches are even faster. Rust computes with the moduli that
the engine supports (an even number of bits, 64 to 8192, primes of equal length). Python computes
with others, which only tests use.

As in `phe`, numbers silently wrap around n. `strict()`, which `phe` does not have, or
`HEARITH_PHE_STRICT=1` in the environment, makes such results raise `OverflowError`. It also rejects
keys below 2048 bits, which otherwise only cause a warning. Composite factors, and moduli with
factors up to 65537, are always rejected.

`load` and `loads`, which `phe` does not have, read pickles of `phe`.

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

#: The release of `phe` that has this interface.
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
