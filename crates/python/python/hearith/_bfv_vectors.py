"""Batched vectors in the BFV scheme, and encrypted sums of their numbers.

`hearith.bfv` encrypts and decrypts them.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hearith import _bfv_weights as weighing
from hearith._bfv_content import Content, check_alike
from hearith._integers import packed
from hearith._labels import distinct
from hearith._native import BfvPublicKey, BfvTotals, BfvVector
from hearith._operands import Numbers, by_position, numbers, plain
from hearith.encoding import Encoding
from hearith.errors import NumberError, ShapeError


class EncryptedVector(Content[BfvVector]):
    """A vector of encrypted numbers, thousands per ciphertext. Operations act on all of them.

    `+` and `-` accept vectors of the same length, plaintext numbers and plaintext arrays. `*`
    accepts a plaintext number. A product with a plaintext array must be summed: `(v * mask).sum()`,
    `v @ weights`. Sums are `EncryptedTotals`. Single numbers cannot be extracted.

    The vector tracks how large its numbers can be (`bound`) and how many bits they can use
    (`bits`). An operation whose result could exceed them, or be wrong because of noise, raises
    `RangeError`.

    A sum (`sum`, `sum_by`, `@`) reveals only the number to the key owner. The noise of a sum of
    vectors reveals how it was computed: call `rerandomise()` before you pass on results that must
    hide it.

    >>> import hearith as he, numpy as np
    >>> public, private = he.generate_keypair(scheme="bfv")
    >>> v = public.encrypt(np.array([1500, -20, 7]))
    >>> private.decrypt(v + v * 3)
    array([6000,  -80,   28])
    >>> private.decrypt((v * [1, 0, 1]).sum()), private.decrypt(v @ [2, 1, 0])
    (1507, 2980)
    """

    __slots__ = ()
    # NumPy arrays leave operators to the vector.
    __array_ufunc__ = None

    @staticmethod
    def _read(key: BfvPublicKey, data: bytes) -> BfvVector:
        return key.vector(data)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.shape[0]

    def __len__(self) -> int:
        return self.size

    def __add__(self, other: EncryptedVector | Numbers) -> EncryptedVector:
        return self._with(other, 1)

    __radd__ = __add__

    def __sub__(self, other: EncryptedVector | Numbers) -> EncryptedVector:
        return self._with(other, -1)

    def __rsub__(self, other: Numbers) -> EncryptedVector:
        return (-self)._with(other, 1)

    def __neg__(self) -> EncryptedVector:
        return combined([self], [-1])

    def __mul__(self, factor: Numbers) -> Any:
        if isinstance(factor, Content):
            raise TypeError("the product of two encrypted numbers cannot be computed")
        if np.ndim(by_position(factor)) > 0:
            return Weighted(self, factor)
        (integer,), encoding = weighing.integers([factor])
        product = combined([self], [int(integer)])
        product.encoding = self.encoding.times(encoding)
        return product

    __rmul__ = __mul__

    def __matmul__(self, weights: Any) -> EncryptedTotals:
        return Weighted(self, weights).sum()

    __rmatmul__ = __matmul__

    def sum(self, *, where: Any = None) -> EncryptedTotals:
        """Returns the sum of all numbers, or of those for which `where` is true.

        Raises:
            RangeError: the sum could exceed its bits.
        """
        return Weighted(self, None).sum(where=where)

    def sum_by(self, labels: Any, *, where: Any = None) -> tuple[npt.NDArray[Any], EncryptedTotals]:
        """Returns the distinct labels in ascending order, and the sum of the numbers of each label,
        or of those for which `where` is true.

        >>> import hearith as he
        >>> public, private = he.generate_keypair(scheme="bfv")
        >>> labels, totals = public.encrypt([1, 2, 40]).sum_by(["a", "b", "a"])
        >>> labels.tolist(), private.decrypt(totals).tolist()
        (['a', 'b'], [41, 2])
        """
        return Weighted(self, None).sum_by(labels, where=where)

    def rerandomise(self) -> EncryptedVector:
        """Returns the same numbers in ciphertexts that hide from the key holder how they were
        computed, and that nobody else can link to the inputs.

        Raises:
            RangeError: after too many additions, the noise leaves no margin.
        """
        return self._with_rows(self.key.release(self.rows))

    def _with(self, other: EncryptedVector | Numbers, sign: int) -> EncryptedVector:
        if isinstance(other, EncryptedTotals | Weighted):
            raise TypeError(f"a vector and {type(other).__name__} cannot be added")
        addend = other if isinstance(other, EncryptedVector) else self._encrypted(other)
        return combined([self, addend], [1, sign])

    def _encrypted(self, values: Numbers) -> EncryptedVector:
        """Encrypts plaintext numbers, one per element."""
        found, shape = plain(by_position(values))
        if shape not in ((), self.shape):
            raise ShapeError(f"an array of shape {shape} does not fit a vector of {self.size} numbers", kind="lengths")
        integers, encoding = weighing.integers(found)
        integers = integers if shape else np.full(self.size, integers[0])
        bound = max((abs(int(integer)) for integer in (integers.min(), integers.max())), default=0) if self.size else 0
        with packed(integers) as (data, width):
            rows = self.key.encrypt(data, width, self.bits)
        return EncryptedVector(self.key, rows, encoding, bound, self.bits, self.shape)


class Weighted:
    """The product of a vector and a plaintext array, which must be summed."""

    __slots__ = ("_encoding", "_vector", "_weights")

    def __init__(self, vector: EncryptedVector, weights: Any) -> None:
        """Stores the weights; `None` stands for 1 each."""
        self._vector, self._weights, self._encoding = vector, None, Encoding()
        if isinstance(weights, Content | Weighted):
            raise TypeError("the product of two encrypted numbers cannot be computed")
        if weights is not None:
            found, shape = plain(by_position(weights))
            if shape != vector.shape:
                raise ShapeError(
                    f"weights of shape {shape} do not fit a vector of {vector.size} numbers", kind="lengths"
                )
            self._weights, self._encoding = weighing.integers(found)

    def __repr__(self) -> str:
        return f"<product with {self._vector!r}: sum() it>"

    def sum(self, *, where: Any = None) -> EncryptedTotals:
        """Returns the sum of the products, or of those for which `where` is true."""
        return self._sums(np.zeros(self._vector.size, dtype=np.int64), 1, where, ())

    def sum_by(self, labels: Any, *, where: Any = None) -> tuple[npt.NDArray[Any], EncryptedTotals]:
        """Returns the distinct labels in ascending order, and the sum of the products of each
        label, or of those for which `where` is true.
        """
        names, positions = distinct(labels, self._vector.shape)
        return names, self._sums(positions.astype(np.int64), len(names), where, names.shape)

    def _sums(
        self, positions: npt.NDArray[np.int64], groups: int, where: Any, shape: tuple[int, ...]
    ) -> EncryptedTotals:
        vector, weights = self._vector, self._weights
        if where is not None:
            kept = _mask(where, vector.size)
            weights = kept.astype(np.int64) if weights is None else weights * kept
        bound = vector.bound * weighing.heaviest(positions, weights)
        weighing.check_room(bound, vector.bits)
        with packed(positions) as (groups_data, _):
            if weights is None:
                rows = vector.key.sums(vector.rows, vector.bits, groups, groups_data)
            else:
                with packed(weights) as (data, _):
                    rows = vector.key.sums(vector.rows, vector.bits, groups, groups_data, data)
        return EncryptedTotals(vector.key, rows, vector.encoding.times(self._encoding), bound, vector.bits, shape)


class EncryptedTotals(Content[BfvTotals]):
    """Separate encrypted sums: a single one (`shape == ()`) or several.

    `+` adds the sums of other vectors.
    """

    __slots__ = ()
    __array_ufunc__ = None

    @staticmethod
    def _read(key: BfvPublicKey, data: bytes) -> BfvTotals:
        return key.totals(data)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a single encrypted number")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Self:
        positions = np.arange(len(self))[index]
        return self._with_rows(self.rows.select(np.atleast_1d(positions).tolist()), np.shape(positions))

    def __add__(self, other: EncryptedTotals) -> EncryptedTotals:
        if not isinstance(other, EncryptedTotals):
            return NotImplemented
        check_alike(self, other)
        if self.encoding != other.encoding:
            raise ShapeError(
                f"totals with {self.encoding} and with {other.encoding} cannot be added", kind="scales_differ"
            )
        bound = self.bound + other.bound
        weighing.check_room(bound, self.bits)
        sum = self._with_rows(self.key.add_totals([self.rows, other.rows], self.bits))
        sum.bound = bound
        return sum


def combined(vectors: list[EncryptedVector], factors: list[int]) -> EncryptedVector:
    """Returns the sum of vectors, each times its factor, in the finest encoding among them."""
    first = vectors[0]
    finest = max((vector.encoding for vector in vectors), key=lambda encoding: -encoding.exponent)
    steps = [factor * vector.encoding.steps_to(finest) for vector, factor in zip(vectors, factors, strict=True)]
    for other in vectors[1:]:
        check_alike(first, other)
    bound = sum(abs(step) * vector.bound for step, vector in zip(steps, vectors, strict=True))
    weighing.check_room(bound, first.bits)
    weighing.check_factors(steps)
    rows = first.key.combine([vector.rows for vector in vectors], steps)
    return EncryptedVector(first.key, rows, finest, bound, first.bits, first.shape)


def _mask(where: Any, size: int) -> npt.NDArray[np.bool_]:
    mask = numbers(by_position(where))
    if mask.dtype.kind != "b":
        raise NumberError("where= must contain booleans", kind="not_a_mask")
    if mask.shape != (size,):
        raise ShapeError(f"where= has shape {mask.shape}, but the vector has {size} numbers", kind="lengths")
    return mask
