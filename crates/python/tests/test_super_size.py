"""Super-size products, remainders and residue number systems, compared with Python integers."""

import random

import numpy as np
import pytest

import hearith as he
from hearith import ntt, rns

ENGINES = [None, "serial"]
#: Primes of 30, 60 and 2 bits, and an even number.
MODULI = [1_073_692_673, 1_152_921_504_606_846_883, 3, 1 << 40]


def number(draw, bits):
    return draw.getrandbits(bits) | 1 << bits - 1


@pytest.mark.parametrize("engine", ENGINES)
def test_products_are_those_of_python(engine):
    draw = random.Random(1)
    for bits in [1, 63, 64, 65, 1000, 5000, 100_000]:
        for other in [1, 64, 777, 30_000]:
            a, b = number(draw, bits), number(draw, other)
            for x, y in [(a, b), (-a, b), (a, -b), (-a, -b), (b, a)]:
                assert ntt.product(x, y, engine=engine) == x * y
            assert ntt.square(-a, engine=engine) == a * a
    ones = (1 << 12_800) - 1
    assert ntt.product(ones, ones, engine=engine) == ones * ones
    assert [ntt.product(0, 5), ntt.product(-5, 0), ntt.square(0), ntt.product(True, np.int64(-7))] == [0, 0, 0, -7]


@pytest.mark.parametrize("engine", ENGINES)
def test_remainders_are_those_of_python(engine):
    draw = random.Random(2)
    for bits in [1, 2, 64, 65, 5000, 20_001]:
        value = number(draw, bits)
        modulus = ntt.Modulus(value, engine=engine)
        assert (modulus.value, modulus.bits) == (value, 2 * bits)
        for x in [
            0,
            1,
            value - 1,
            value,
            value + 1,
            -1,
            -value,
            draw.getrandbits(2 * bits),
            -draw.getrandbits(2 * bits),
        ]:
            if abs(x).bit_length() <= 2 * bits:
                assert modulus.remainder(x) == x % value
        a, b = draw.randrange(value), draw.randrange(value)
        assert modulus.product(a, -b) == -a * b % value
    with pytest.raises(ValueError, match="1001 bits is too long to reduce: at most 1000|1001"):
        ntt.Modulus(number(draw, 500)).remainder(1 << 1000)
    with pytest.raises(ValueError, match="at least 1"):
        ntt.Modulus(0)
    with pytest.raises(ValueError, match="bits is 3"):
        ntt.Modulus(8, bits=3)
    with pytest.raises(TypeError):
        ntt.product(1.5, 2)
    assert repr(ntt.Modulus(8, bits=10)) == "<ntt.Modulus of 4 bits, for integers of up to 10>"


@pytest.mark.parametrize("engine", ENGINES)
def test_residues_and_back(engine):
    draw = random.Random(3)
    basis = rns.Basis(MODULI, engine=engine)
    product = MODULI[0] * MODULI[1] * MODULI[2] * MODULI[3]
    assert (basis.moduli, basis.product, basis.bits) == (tuple(MODULI), product, product.bit_length())
    numbers = [0, 1, product - 1, *(draw.randrange(product) for _ in range(40))]
    residues = basis.residues(numbers)
    assert residues.dtype == np.uint64
    assert residues.tolist() == [[number % modulus for number in numbers] for modulus in MODULI]
    assert basis.numbers(residues) == numbers
    assert basis.numbers(residues[:, :2].tolist()) == numbers[:2]
    # Sums of residues are residues of sums.
    a, b = draw.randrange(product // 2), draw.randrange(product // 2)
    both = (basis.residues([a]) + basis.residues([b])) % np.array(MODULI, dtype=np.uint64)[:, None]
    assert basis.numbers(both) == [a + b]
    assert basis.residues([]).shape == (4, 0)
    assert basis.numbers(basis.residues([])) == []
    assert basis.residues(np.array([5, 1 << 62])).tolist()[2] == [2, 1]


def test_what_has_no_residues():
    basis = rns.Basis([7, 11])
    for wrong, row in [([3, -1], 1), ([128], 0)]:
        with pytest.raises(he.RangeError) as error:
            basis.residues(wrong)
        assert error.value.row == row
    with pytest.raises(he.NumberError, match="row 1: not an integer"):
        basis.residues([1, 1.5])
    with pytest.raises(he.RangeError, match="row 1, column 0"):
        basis.numbers([[1, 7], [0, 0]])
    with pytest.raises(he.RangeError, match="negative"):
        basis.numbers([[1, 2], [0, -1]])
    for wrong in [[1, 2], [[1, 2]], 5]:
        with pytest.raises(he.ShapeError):
            basis.numbers(wrong)
    with pytest.raises(he.NumberError):
        basis.numbers([[0.5], [1.0]])
    for wrong, message in [
        ([], "moduli"),
        ([6, 9], "not coprime"),
        ([1], "moduli|modulus"),
        ([1 << 60], "moduli|modulus"),
        ([-7], "2 to 60 bits"),
    ]:
        with pytest.raises(ValueError, match=message):
            rns.Basis(wrong)
    with pytest.raises(ValueError, match="engine"):
        rns.Basis([7], engine="none")
