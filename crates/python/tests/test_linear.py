"""Linear algebra on encrypted arrays of any scale, compared with exact fractions."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import hearith as he
from hearith.errors import RangeError, ScaleError, ShapeError

small = st.integers(-999, 999)
#: Multiples of 1/16, which are exact both as decimals and as binary fractions.
halves = small.map(lambda number: number / 16)


def fractions(values):
    """Returns an array of exact fractions; a float counts as the decimal it prints as."""
    found = np.asarray(values, dtype=object)
    flat = [Fraction(str(one)) if isinstance(one, float) else Fraction(one) for one in found.reshape(-1).tolist()]
    return np.array([*flat, None], dtype=object)[:-1].reshape(found.shape)


def exactly(judge, encrypted):
    """Returns the exact numbers in ciphertexts."""
    return np.array([*(one * encrypted.encoding.unit for one in judge(encrypted)), None], dtype=object)[:-1].reshape(
        encrypted.shape
    )


def same(judge, encrypted, wanted):
    assert encrypted.shape == np.shape(wanted)
    assert exactly(judge, encrypted).tolist() == np.asarray(wanted, dtype=object).tolist()


@st.composite
def encrypted(draw, public, shape):
    """Draws an encrypted array of some scale and divisor, and its exact numbers."""
    kind = draw(st.sampled_from(["integers", "decimals", "sixteenths"]))
    if kind == "integers":
        plain = draw(arrays.arrays(np.int64, shape, elements=small))
        array, numbers = public.encrypt(plain, range=999), fractions(plain)
    elif kind == "decimals":
        scale = draw(st.integers(1, 6))
        numbers = fractions(draw(arrays.arrays(np.int64, shape, elements=small))) / 10**scale
        array = public.encrypt(numbers, scale=scale, range=100)
    else:
        numbers = fractions(draw(arrays.arrays(np.float64, shape, elements=halves)))
        array = public.encrypt(numbers, exponent=draw(st.integers(-8, -1)), range=100)
    divisor = draw(st.sampled_from([1, 1, 3, 4, 10, Fraction(-7, 5)]))
    return (array, numbers) if divisor == 1 else (array / divisor, numbers / divisor)


@st.composite
def plain(draw, shape):
    """Draws plaintext numbers of some type, and their exact values."""
    kind = draw(st.sampled_from([np.int64, np.float64, Decimal, Fraction, float]))
    if kind is np.int64:
        values = draw(arrays.arrays(np.int64, shape, elements=small))
    elif kind is np.float64:
        values = draw(arrays.arrays(np.float64, shape, elements=halves))
    else:
        integers = draw(arrays.arrays(np.int64, shape, elements=small)).reshape(-1).tolist()
        make = {
            Decimal: lambda one: Decimal(one).scaleb(-3),
            Fraction: lambda one: Fraction(one, 12),
            float: lambda one: one / 8,
        }[kind]
        values = np.array([*map(make, integers), None], dtype=object)[:-1].reshape(shape)
    return values, fractions(values)


shape_pairs = arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3, min_side=1)


@given(st.data())
def test_sums_of_any_scales_and_divisors(keys, judge, data):
    left, right = data.draw(shape_pairs).input_shapes
    (c, x), (d, y) = (data.draw(encrypted(keys[0], shape)) for shape in (left, right))
    k, z = data.draw(plain(right))
    same(judge, c + d, x + y)
    same(judge, c - d, x - y)
    same(judge, c + k, x + z)
    same(judge, k - c, z - x)
    same(judge, c - c.mean(), x - np.sum(x) / np.size(x))
    same(judge, c.sum(keepdims=True) + d, np.sum(x, keepdims=True) + y)
    assert keys[1].decrypt(c + d) is not None


@given(st.data())
def test_products_and_quotients(keys, judge, data):
    left, right = data.draw(shape_pairs).input_shapes
    (c, x), (k, z) = data.draw(encrypted(keys[0], left)), data.draw(plain(right))
    same(judge, c * k, x * z)
    same(judge, k * c + c, z * x + x)
    same(judge, Fraction(1, 3) * c + 0.25 * c, x * Fraction(7, 12))
    divisors = np.where(z == 0, Fraction(1), z)
    try:
        quotients = c / divisors
    except (RangeError, ScaleError):
        # The common multiple of nine different divisors may exceed the key.
        assert np.size(divisors) > 4
        return
    same(judge, quotients, x / divisors)


@given(st.data())
def test_products_of_matrices_of_any_scales(keys, judge, data):
    rows, terms, columns, batch = (data.draw(st.integers(1, 3)) for _ in range(4))
    c, x = data.draw(encrypted(keys[0], (rows, terms)))
    (first, y), (second, z) = data.draw(plain((terms, columns))), data.draw(plain((columns, rows)))
    same(judge, (c @ first) @ second, (x @ y) @ z)
    same(judge, second.T @ (c @ first).T, z.T @ (x @ y).T)
    d, w = data.draw(encrypted(keys[0], (batch, 1, rows, terms)))
    third, v = data.draw(plain((2, terms, columns)))
    same(judge, d @ third, w @ v)
    same(judge, np.einsum("...ij,...jk->...ki", d, third), (w @ v).swapaxes(-1, -2))


@given(st.data())
def test_weights_of_any_width(keys, judge, data):
    weights = data.draw(st.lists(st.integers(-(2**180), 2**180), min_size=2, max_size=2))
    c = keys[0].encrypt([3, -5], range=10)
    same(judge, c @ weights, Fraction(3 * weights[0] - 5 * weights[1]))
    same(judge, [weights, [1, 2]] @ c, fractions([3 * weights[0] - 5 * weights[1], -7]))


def test_digits_grow_until_the_key_is_full(keys, judge):
    """An exponentially weighted mean stays exact at each step, until an error reports the
    headroom.
    """
    known = []

    def weighted():
        found, wanted = keys[0].encrypt(1, range=9), Fraction(1)
        for step in range(400):
            known.append(found)
            found = 0.3 * keys[0].encrypt(step % 10, range=9) + 0.7 * found
            wanted = Fraction(3, 10) * (step % 10) + Fraction(7, 10) * wanted
            same(judge, found, wanted)

    with pytest.raises(RangeError, match=r"it has \d+ bits of headroom beyond these numbers"):
        weighted()
    assert known[-1].scale > 50


#: Expressions of `c`, a vector of 3, `m`, a matrix of 2 x 3, and `s`, a scalar. `p` and `q` are
#: plaintext, with the shapes of `c` and `m`.
CALLS = """
np.where(p > 0, c, 0)
np.where(p > 0, 1.5, c)
np.where(q > 0, m, c)
np.outer(c, p)
np.outer(p, m)
np.einsum("ij,j->i", m, p)
np.einsum("ij,kj", m, q)
np.einsum("i,i", p, c)
np.einsum("i,j->ji", c, p)
np.einsum("ij->j", m)
np.einsum("ii->i", m[:, :2])
np.einsum("ii", m[:, :2])
np.einsum("ij,jk,kl->il", q, m.T, q)
np.einsum("...j,j->...", m, p)
np.einsum(c, [0], [0])
np.einsum(m, [1, 0])
np.einsum(m, [0, 1], p, [1], [0])
np.einsum(q, [7, 30], c, (30,))
np.einsum(m, [..., 0], p, [0], [...])
np.einsum(q, [0, 1], m.T, [1, 2], q, [2, 3], [3, 0], optimize=True)
np.tensordot(m, q)
np.tensordot(m, q, axes=(1, 1))
np.tensordot(q, m, axes=([0], [0]))
np.inner(m, q)
np.inner(p, c)
np.vdot(m, q)
np.dot(m, p)
np.dot(q, c)
np.dot(c, 3)
c.dot(2)
m.dot(np.int8(-3))
np.dot(s, p)
m.dot(p)
m.dot(q.T)
m.dot(np.stack([q.T, q.T + 1]))
m[None].dot(np.stack([q.T, q.T + 1]))
np.kron(m, q)
np.kron(p, m)
np.cross(c, p)
np.cross(q, m)
np.convolve(c, p)
np.convolve(p, c, "same")
np.convolve(c, [1, 2], "valid")
np.convolve([1, 2, 3, 4, 5], c, "same")
np.correlate(c, [2, 5], "full")
np.correlate([1, 2, 3, 4], c, "full")
np.correlate(c, [1, 2, 3, 4], "same")
np.correlate([1, 2], c)
np.trace(m)
np.trace(m, 1)
np.linalg.multi_dot([q.T, m, p])
np.diff(m)
np.diff(m, axis=0)
np.diff(c, 2, prepend=0, append=[4, 5])
np.ediff1d(m, to_begin=[1, 2], to_end=c)
np.cumsum(m, axis=1)
np.cumsum(m)
np.sum(m, axis=0, where=q > 0)
np.sum(m, axis=1, initial=7, keepdims=True)
np.nansum(m, axis=0)
np.sum(m, axis=0, dtype=object)
m.sum(initial=7)
m.sum(0, None, initial=s, keepdims=True)
m.sum(axis=1, dtype=object, initial=-2)
np.add.accumulate(m)
np.add.outer(c, p)
np.subtract.outer(p, c)
np.multiply.outer(c, q)
np.bincount([2, 0, 2], weights=c, minlength=5)
np.add.reduceat(c, [0, 2])
np.add.reduceat(c, [1, 1, 0])
np.add.reduceat(m, [0, 2, 1], axis=1)
np.histogram([0.5, 2, 1], 2, weights=c)[0]
np.histogram([[0.5, 2, 7], [3, -1, 1]], [0, 1, 3, 3.5], weights=m)[0]
np.histogram([4, 4, 9], range=(5, 9), bins=4, weights=c)[0]
m.trace()
m.trace(1)
m.diagonal()
m.swapaxes(0, 1)
m[:1].squeeze()
m[:, None].squeeze(1).swapaxes(-1, 0)
m.mT
m[None].mT
m.flat[4]
[one for one in m.flat]
m.ravel(order="F")
m.flatten("F")
m.reshape(3, 2, order="F")
m.reshape((3, -1), order="F")
m[None].reshape(2, 3, 1, order="F")
np.polyadd(c, p)
np.polyadd(p[1:], c)
np.polyadd(c, 4)
np.polyadd(np.uint8([200, 3, 0, 7]), c)
np.polysub(c, p[1:])
np.polysub(p, c)
np.polysub(c, np.array([1, 200, 3, 0, 7]))
np.polysub(p, c[1:])
np.polyder(c)
np.polyder(c, 2)
np.polyder(c, 3)
np.polyint(c, 0)
np.pad(c, 1)
np.pad(c, (1, 2), constant_values=7)
np.pad(m, ((0, 1), (2, 0)), constant_values=((1, 2), (3, 4)))
np.pad(m, 1, mode="edge")
np.pad(c, 2, mode="reflect")
np.pad(c, 2, "symmetric")
np.pad(c, 2, mode="wrap")
np.split(c, 3)
np.split(m, [1], axis=1)
np.array_split(c, 2)
np.hsplit(m, 3)
np.vsplit(m, 2)
np.dsplit(m[None], 3)
np.insert(c, 1, 9)
np.insert(m, [0, 2], c[:2], axis=1)
np.insert(p, 1, c)
np.append(c, 5)
np.append(p, c)
np.append(m, [[1, 2, 3]], axis=0)
np.delete(m, 1, axis=1)
np.concatenate([c, p, m[0]])
np.concatenate([q, m], axis=1)
np.stack([c, p], axis=1)
np.vstack([c, m])
np.hstack([c, p, [1]])
np.dstack([m, q])
np.column_stack([c, p])
np.block([[m, q], [q, m]])
np.block([[m, m], [q, q + 1]])
np.block([[q, q[:, :1]], [m[:1], 5], [1, 2, 3, 4]])
np.block([1, s, 2])
np.concatenate([c, [p, p + 1][0], [1, 2]])
np.concatenate([m, [p, p + 1]], axis=None)
np.vstack([[p, p + 1], m])
np.tril(m)
np.triu(m, 1)
np.diag(c)
np.diag(m, 1)
np.diagflat(m)
np.diagonal(m)
np.rot90(m)
np.rot90(m, 2, (1, 0))
np.flip(m, 1)
np.fliplr(m)
np.flipud(m)
np.roll(m, 1, axis=1)
np.rollaxis(m, 1)
np.moveaxis(m[None], 0, 2)
np.swapaxes(m, 0, 1)
np.transpose(m)
np.atleast_1d(s)
np.atleast_3d(m)
np.atleast_2d(c, s)
np.expand_dims(c, (0, 2))
np.squeeze(m[:1])
np.ravel(m, order="F")
np.reshape(m, (3, 2), order="F")
np.resize(c, (2, 5))
np.tile(c, (2, 2))
np.repeat(m, 2, axis=1)
np.repeat(m, [1, 2], axis=0)
np.broadcast_to(c, (2, 3))
np.broadcast_arrays(c, m)
np.meshgrid(c, p)
np.select([p > 0, p < -5], [c, p], 4)
np.select([p > 10], [c])
np.choose([1, 0, 1], [c, p])
np.compress([True, False, True], m, axis=1)
np.extract(q > 0, m)
np.take(m, [2, 0], axis=1)
np.take(c, 1)
np.take_along_axis(m, np.argsort(q, axis=1), axis=1)
np.zeros_like(m)
np.ones_like(c)
np.full_like(m, 2)
np.full_like(m, s)
np.empty_like(c) * 0
np.lib.stride_tricks.sliding_window_view(c, 2)
np.lib.stride_tricks.sliding_window_view(m, 2, axis=1).sum(axis=-1)
np.apply_along_axis(lambda row: row.sum(), 1, m)
np.apply_along_axis(lambda row: row[::-1] - 1, 0, m)
np.array([c, c[::-1]])
np.array(list(c))
np.vectorize(lambda one: one * 2 + 1, otypes=[object])(m)
[one + 1 for one in c]
c + [s, 1, s]
np.conjugate(c)
np.nancumsum(c)
np.copy(m, order="F")
np.linalg.matrix_power(m[:, 1:], 1)
np.linalg.matrix_power(m[:, 1:] * 3, 0)
np.linalg.matrix_power(np.stack([m[:, 1:], m[:, :2]]), np.int8(1))
""".strip().splitlines()

#: Expressions that NumPy computes with floats.
CLOSE = """
np.mean(m, axis=1, keepdims=True)
np.mean(m, axis=0, where=q != q[0, 0])
np.nanmean(m)
np.average(m, axis=0, weights=abs(q) + 1)
np.average(c, weights=[0.3, 0.7, 1.1])
c / [0.3, 7, 1.1]
np.gradient(c)
np.gradient(m)
np.gradient(c, 0.5)
np.gradient(c, [0, 1, 3.5])
np.gradient(m, 2, axis=1)
np.interp([0.5, 1.2, -1, 7, 1], [0, 1, 2], c)
np.polyval(c, [2, -0.5])
np.polyint(c)
np.polyint(c, 3)
np.polyint(c, 2, 4)
np.polyint(c, 2, [1, 2, 3])
np.polyint(c, k=s)
np.polyadd([0.5], c)
np.polysub([0.5, 1, 2, 0.25], c)
np.linspace(c[0], c[1], 5)
np.linspace(c, 9, 4, endpoint=False)
np.apply_over_axes(np.mean, m, [0, 1])
np.convolve(c, np.ones(2) / 2, "valid")
np.mean(np.array([c, c]), axis=0)
0.1 * c + 0.2 * c[::-1]
(m - m.mean(axis=0)) / [1.5, 2, 3]
c - 0.01 * ((q.T / 4) @ (m[:, 0] - 1))
""".strip().splitlines()
# Functions that this version of NumPy may lack.
CALLS += ["np.cumulative_sum(c, include_initial=True)", "np.unstack(m)"] if hasattr(np, "unstack") else []
CALLS += ["np.vecdot(m, p)", "np.linalg.trace(m)", "np.linalg.outer(c, p)"] if hasattr(np, "vecdot") else []
CALLS += ["np.matvec(m, p)", "np.vecmat(p[:2], m)"] if hasattr(np, "matvec") else []
CLOSE += ["np.trapezoid(c, dx=0.5)", "np.trapezoid(m, [0, 1.5], axis=0)"] if hasattr(np, "trapezoid") else []

numbers = arrays.arrays(np.int64, 16, elements=small)


def names(values, encrypt):
    """Returns the variables of the expressions."""
    c, m, s, p, q = values[:3], values[3:9].reshape(2, 3), values[9], values[10:13], values[10:].reshape(2, 3)
    return {"np": np, "c": encrypt(c), "m": encrypt(m), "s": encrypt(s), "p": p, "q": q}


@pytest.mark.parametrize("call", CALLS)
@given(values=numbers)
def test_numpys_functions(keys, call, values):
    found = keys[1].decrypt(eval(call, names(values, keys[0].encrypt)))
    wanted = eval(call, names(values, lambda one: one))
    if isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
    else:
        found, wanted = [found], [wanted]
    for one, other in zip(found, wanted, strict=True):
        assert np.shape(one) == np.shape(other)
        assert np.asarray(one).tolist() == np.asarray(other).tolist()


@given(values=numbers)
def test_products_of_polynomials(keys, values):
    """NumPy drops leading zeros, which are unknown in encrypted polynomials."""
    c, p = values[:3], values[3:7]
    for plain in (p, np.array([0, 0, *p]), np.array([0, 0]), 3, np.poly1d(p)):
        wanted = np.polymul(c, plain)
        for found in (np.polymul(keys[0].encrypt(c), plain), np.polymul(plain, keys[0].encrypt(c))):
            product = keys[1].decrypt(found)
            assert np.trim_zeros(product, "f").tolist() == np.trim_zeros(np.asarray(wanted), "f").tolist()
            assert len(product) == 3 + len(np.trim_zeros(np.atleast_1d(plain), "f") if np.any(plain) else [0]) - 1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("np.polyadd(c, [[1, 2]])", ShapeError),
        ("np.polyadd(c, [])", ShapeError),
        ("np.polyder(c, -1)", ValueError),
        ("np.polyint(c, 3, [1, 2])", ShapeError),
        ("np.einsum(c, [0], [1, 2, 3], [52])", ShapeError),
        ("np.einsum(c, [0, 1])", ShapeError),
        ("c.mT", ShapeError),
        ("m.ravel('K')", ValueError),
        ("m.reshape(6, order='A')", ValueError),
        ("m.reshape(4, order='F')", ShapeError),
        ("c.dot([1, 2])", ShapeError),
        ("np.block([[c, [1, 2]], [c, c]])", ShapeError),
        ("np.block([[m], [p[:2]]])", ShapeError),
    ],
)
def test_what_does_not_fit_is_named(keys, call, error):
    with pytest.raises(error):
        eval(call, names(np.arange(16), keys[0].encrypt))


@pytest.mark.parametrize("call", CLOSE)
@given(values=numbers)
def test_numpys_functions_with_floats(keys, call, values):
    if "where" in call and len(set(values[10:].reshape(2, 3).T[0])) < 2:
        values = np.arange(16)
    values = np.where(values == values[10], 5, values) if "where" in call else values
    if "where" in call:
        values[10] = -1000
    found = keys[1].decrypt(eval(call, names(values, keys[0].encrypt)))
    wanted = eval(call, names(values, lambda one: one))
    for one, other in zip(*([found], [wanted]) if not isinstance(wanted, tuple) else (found, wanted), strict=True):
        assert np.shape(one) == np.shape(other)
        assert np.allclose(np.asarray(one, dtype=float), np.asarray(other, dtype=float), rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        "np.std(c)",
        "np.sort(c)",
        "np.linalg.norm(c)",
        "np.linalg.solve(np.eye(3), c)",
        "np.fft.fft(c)",
        "np.prod(c)",
        "np.round(c)",
        "np.array_equal(c, c)",
        "np.where(c, 1, 2)",
        "np.where(c)",
        "np.pad(c, 1, mode='mean')",
        "np.pad(c, 2, mode='reflect', reflect_type='odd')",
        "np.pad(c, 1, mode='linear_ramp')",
        "np.pad(c, 1, mode='empty')",
        "np.take(c, c)",
        "np.concatenate([c, c], dtype=float)",
        "np.outer(c, c)",
        "np.einsum('i,i', c, c)",
        "np.einsum(c, [0], c, [0])",
        "np.einsum(c, ['i'])",
        "np.polymul(c, c)",
        "np.polydiv(c, [1, 2])",
        "np.polyfit([1, 2, 3], c, 1)",
        "np.roots(c)",
        "c.sum(dtype=int)",
        "np.sum(c, dtype=int)",
        "c.dot(c)",
        "np.convolve(c, c)",
        "np.cumsum(c, out=np.zeros(3))",
        "np.asarray(c, dtype=float)",
        "np.array(c, dtype=int)",
        "np.add(c, 1, out=np.zeros(3))",
        "np.add.at(c, [0], 1)",
        "np.interp(c, [1, 2], [3, 4])",
        "np.polyval([1, 2], c)",
        "np.bincount(c)",
        "np.histogram(c)",
        "np.histogram([1, 2, 3], weights=c, density=True)",
        "np.add.reduceat(c, 1)",
        "c // 2",
        "c % 2",
        "abs(c)",
        "round(c)",
        "np.mean(c, where=c)",
        "np.linalg.matrix_power(m[:, 1:], 2)",
        "np.linalg.matrix_power(m[:, 1:], -1)",
        "np.linalg.matrix_power(m[:, 1:], 1.0)",
    ],
)
def test_what_cannot_be_done_is_named(keys, call):
    with pytest.raises(TypeError, match=r"cannot be|encrypted|unsupported|bad operand|doesn't define"):
        eval(call, names(np.arange(16), keys[0].encrypt))


@pytest.mark.parametrize(
    "call",
    [
        "np.einsum('ij,j', m, [1, 2])",
        "np.linalg.matrix_power(m, 1)",
        "np.linalg.matrix_power(c, 1)",
        "np.einsum('ij', c)",
        "np.einsum('i->ii', c)",
        "np.einsum('i->j', c)",
        "np.einsum('i,j', c)",
        "np.cross(c, [1, 2])",
        "np.split(c, 2)",
        "np.concatenate([c, m])",
        "np.tensordot(m, [1, 2], axes=1)",
        "np.inner(m, [1])",
        "np.vdot(c, [1])",
        "np.average(c, weights=[1, 2])",
        "np.gradient(c[:1])",
        "np.gradient(c, [1, 2])",
        "np.interp(1, [2, 1, 0], c)",
        "np.convolve(c, [])",
        "np.mean(c, where=[False] * 3)",
        "np.array([c, m]) if False else c + [c, m]",
    ],
)
def test_shapes_that_do_not_go_together(keys, call):
    with pytest.raises(ShapeError):
        eval(call, names(np.arange(16), keys[0].encrypt))


def test_plain_numbers_beside_encrypted_ones_are_encrypted(keys):
    """Numbers moved into an array become unreadable ciphertexts; zeros that fill up stay
    readable.
    """
    found = np.append(keys[0].encrypt([1, 2]), [5, 5])
    n = keys[0].n
    assert len({one % n for one in map(int.__int__, he.EncryptedArray(found.content).ciphertexts())}) == 4
    assert all((one - 1) % n for one in found.ciphertexts())
    assert np.pad(keys[0].encrypt([1]), 1).ciphertexts()[0] == 1


def test_series_of_encrypted_numbers(keys):
    import pandas as pd

    c = keys[0].encrypt([3, -1, 2])
    series = pd.Series(c)
    for found, wanted in (
        (series.sum(), 4),
        (series.cumsum(), [3, 2, 4]),
        (series + series * 2, [9, -3, 6]),
        (series.groupby([0, 1, 0]).sum(), [5, -1]),
        (series.shift(1, fill_value=0), [0, 3, -1]),
        (pd.DataFrame({"a": c, "b": c}).sum(axis=1), [6, -2, 4]),
    ):
        assert np.asarray(keys[1].decrypt(found)).tolist() == wanted
    for impossible in (series.max, series.sort_values, lambda: series > 1, lambda: series.astype(float)):
        with pytest.raises((TypeError, ValueError)):
            impossible()
