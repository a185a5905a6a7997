"""Types that checkers infer for the package's calls. test_types.py type-checks this file and then
runs it.
"""

from decimal import Decimal
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import hearith as he
import hearith.phe as phe

public, private = he.generate_keypair(512, insecure=True)
numbers = public.encrypt([1, 2, 4])

assert_type(public, he.PublicKey)
assert_type(numbers, he.EncryptedArray)
assert_type(numbers * 3 + numbers, he.EncryptedArray)
assert_type(numbers.sum(initial=3), he.EncryptedArray)
assert_type(numbers.flat, he.EncryptedArray)
assert_type(numbers.reshape(3, 1, order="F").mT, he.EncryptedArray)

assert_type(numbers @ np.array([1, 2, 3]), he.EncryptedArray)
assert_type(np.float32(0.5) * numbers, he.EncryptedArray)
# NumPy's declarations infer an encrypted array or Any, but never a plaintext array.
total: he.EncryptedArray = np.sum(numbers).rerandomise()
column: he.EncryptedArray = np.ones((2, 3)) @ numbers
assert (total.shape, column.shape) == ((), (2,))

assert_type(private.decrypt(numbers, into=np.ndarray), npt.NDArray[Any])
assert_type(private.decrypt(numbers.sum(), into=int), int)
assert_type(private.decrypt(public.encrypt(2.5, exponent=-4), into=float), float)
assert_type(private.decrypt(public.encrypt("0.25", scale=2), into=Decimal), Decimal)
# Without `into`, the result is untyped.
length: int = private.decrypt(numbers.sum()).bit_length()
assert length == 3

key, secret = phe.generate_paillier_keypair(n_length=512)
assert_type(key.encrypt(2) * 3 - 1.5, phe.EncryptedNumber)
assert_type(secret.decrypt(key.encrypt(2)), int | float)
