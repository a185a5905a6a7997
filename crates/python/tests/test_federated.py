"""The aggregator: exact sums of rounded numbers, and errors in place of wrong ones."""

import pickle
import re
import runpy
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hearith as he
from hearith.errors import CiphertextError, KeyMismatchError, RangeError, ScaleError

EXAMPLES = Path(__file__).parent.parent / "examples"


def layers(random, scale=1.0):
    return [random.normal(size=(4, 3)) * scale, random.normal(size=3) * scale, np.array(random.normal() * scale)]


def exact(updates, weights, step):
    """Weighted sums of rounded updates, in rational arithmetic."""
    flat = [np.concatenate([layer.reshape(-1) for layer in update]) for update in updates]
    rounded = [[round(Fraction(x) / Fraction(step)) for x in update] for update in flat]
    return [
        float(sum(w * x for w, x in zip(weights, column, strict=True)) * Fraction(step))
        for column in zip(*rounded, strict=True)
    ]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=4), st.integers(0, 2**32))
def test_weighted_sums(keys, weights, seed):
    public, private = keys
    random = np.random.default_rng(seed)
    updates = [layers(random) for _ in weights]
    options = {"range": 16, "step": 2**-16, "clients": len(weights), "max_weight": 50}
    aggregator = he.Aggregator(public, updates[0], **options)
    wanted = exact(updates, weights, 2**-16)

    by_server = aggregator.sum([aggregator.encrypt(update) for update in updates], weights=weights)
    by_clients = aggregator.sum([aggregator.encrypt(u, weight=w) for u, w in zip(updates, weights, strict=True)])
    for total in (by_server, by_clients):
        assert total.weight == sum(weights)
        found = aggregator.total(private, total)
        assert [layer.shape for layer in found] == [(4, 3), (3,), ()]
        assert np.concatenate([layer.reshape(-1) for layer in found]).tolist() == wanted
        mean = np.concatenate([layer.reshape(-1) for layer in aggregator.mean(private, total)])
        assert np.allclose(mean, np.array(wanted) / sum(weights), rtol=1e-15, atol=0)


def test_the_extremes_of_the_range_do_not_overflow(keys):
    """All clients at one end of the range, with the largest weight, next to others at the other end."""
    public, private = keys
    aggregator = he.Aggregator(public, np.zeros(40), range=100, step=0.5, clients=7, max_weight=9)
    ends = np.where(np.arange(40) % 2 == 0, 100.0, -100.0)
    total = aggregator.sum([aggregator.encrypt(ends) for _ in range(7)], weights=[9] * 7)
    assert total.weight == aggregator.capacity
    assert aggregator.total(private, total).tolist() == (63 * ends).tolist()
    with pytest.raises(RangeError, match="headroom"):
        aggregator.sum([total, aggregator.encrypt(ends)])


def test_sums_of_sums(keys):
    public, private = keys
    aggregator = he.Aggregator(public, np.zeros(2), range=1, step=0.25, clients=4)
    one = aggregator.encrypt(np.array([0.25, -1]), private=private)
    two = aggregator.sum([one, one])
    assert aggregator.total(private, aggregator.sum([two, two])).tolist() == [1, -4]
    with pytest.raises(RangeError, match="headroom"):
        aggregator.sum([two, two, one])


def test_numbers_share_ciphertexts(keys):
    aggregator = he.Aggregator(keys[0], np.zeros(1000), range=1, step=2**-10, clients=100)
    # 11 bits of value, 7 of additions and a sign in 511 bits.
    assert aggregator.slots == 511 // 19
    assert aggregator.encrypt(np.zeros(1000)).nbytes == -(-1000 // aggregator.slots) * 128


def test_updates_travel(keys):
    public, private = keys
    aggregator = he.Aggregator(public, np.zeros(3), range=4, step=1, clients=2)
    data = pickle.dumps(aggregator.encrypt(np.array([1.0, 2, 3])))
    assert public.n.to_bytes(64, "big") not in data
    assert aggregator.total(private, pickle.loads(data)).tolist() == [1, 2, 3]


def test_a_sum_can_hide_what_went_in(keys, other_keys):
    public, private = keys
    aggregator = he.Aggregator(public, np.zeros(50), range=8, step=2**-10, clients=3, max_weight=5)
    update = aggregator.encrypt(np.linspace(-8, 8, 50), weight=5)
    alone = aggregator.sum([update])
    assert alone.to_bytes() == update.to_bytes()
    hidden = aggregator.rerandomise(alone)
    size = len(update.to_bytes()) // aggregator.ciphertexts
    parts = [
        {data[start : start + size] for start in range(0, len(data), size)}
        for data in (update.to_bytes(), hidden.to_bytes())
    ]
    assert parts[0].isdisjoint(parts[1])
    assert hidden.weight == 5
    assert aggregator.total(private, hidden).tolist() == aggregator.total(private, update).tolist()
    other = he.Aggregator(other_keys[0], np.zeros(50), range=8, step=2**-10, clients=3, max_weight=5)
    with pytest.raises(KeyMismatchError):
        other.rerandomise(alone)


def test_the_page_runs():
    page = (Path(__file__).parents[3] / "docs" / "federated.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    exec(program, names)
    first, second = names["mean"]
    assert np.allclose(first, [[1.25, -0.125]], atol=2**-20)
    assert np.allclose(second, [0.0], atol=2**-20)


def test_refusals(keys, other_keys):
    public, _private = keys
    aggregator = he.Aggregator(public, np.zeros(3), range=4, step=0.5, clients=2, max_weight=3)
    update = aggregator.encrypt(np.zeros(3))
    for bad in (4.5, -5, np.nan, np.inf):
        with pytest.raises(RangeError, match="number 1"):
            aggregator.encrypt(np.array([0, bad, 0]))
    with pytest.raises(ValueError, match="shapes"):
        aggregator.encrypt(np.zeros(4))
    with pytest.raises(RangeError, match="weight"):
        aggregator.encrypt(np.zeros(3), weight=4)
    for weights in ([0, 1], [4, 1], [-1, 1]):
        with pytest.raises(RangeError, match="weight"):
            aggregator.sum([update, update], weights=weights)
    with pytest.raises(ValueError, match="1 weights for 2"):
        aggregator.sum([update, update], weights=[1])
    with pytest.raises(ValueError, match="0 updates"):
        aggregator.sum([])
    others = he.Aggregator(public, np.zeros(3), range=4, step=0.25, clients=2, max_weight=3)
    with pytest.raises(ScaleError, match="other shapes, range, step"):
        others.sum([update])
    strangers = he.Aggregator(other_keys[0], np.zeros(3), range=4, step=0.5, clients=2, max_weight=3)
    with pytest.raises(KeyMismatchError):
        strangers.sum([update])
    with pytest.raises(KeyMismatchError):
        aggregator.total(other_keys[1], update)
    broken = he.EncryptedUpdate(update.key_id, update.layout, 1, update.to_bytes() * 2)
    with pytest.raises(CiphertextError, match="2 ciphertexts, not 1"):
        aggregator.sum([broken])
    for options in ({"range": 0.1}, {"range": 2**60}, {"step": 0}, {"clients": 0}, {"max_weight": 2**60}):
        with pytest.raises((RangeError, ScaleError, ValueError)):
            he.Aggregator(public, np.zeros(3), **{"range": 4, "step": 0.5, "clients": 2} | options)


def test_a_total_beyond_its_weights_is_not_believed(keys):
    """A client that claims a weight of 1 and adds ten times the range is found out."""
    public, private = keys
    honest = he.Aggregator(public, np.zeros(3), range=4, step=0.5, clients=20)
    total = honest.sum([honest.encrypt(np.array([4.0, -4, 0]))] * 10)
    forged = he.EncryptedUpdate(total.key_id, total.layout, 1, total.to_bytes())
    with pytest.raises(RangeError, match="number 0: the total exceeds"):
        honest.total(private, forged)


def test_the_example_trains_the_same_model(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["federated.py", "--bits", "512", "--rounds", "6"])
    monkeypatch.syspath_prepend(str(EXAMPLES))
    # Its processes import it by its path.
    runpy.run_path(str(EXAMPLES / "federated.py"), run_name="__main__")
    assert "equal to open training with rounded gradients: True" in capsys.readouterr().out


def test_numbers_beyond_the_range_are_cut_on_request(keys):
    public, private = keys
    aggregator = he.Aggregator(public, np.zeros(4), range=2, step=0.5, clients=2)
    update = np.array([0.5, 2.2, 1000.0, -1e300])
    with pytest.raises(RangeError, match="number 2 "):
        aggregator.encrypt(update)
    clipped = aggregator.encrypt(update, clip=True)
    assert aggregator.total(private, clipped).tolist() == [0.5, 2.0, 2.0, -2.0]
    assert aggregator.quantised(update, clip=True).tolist() == [0.5, 2.0, 2.0, -2.0]
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(RangeError, match="number 1 "):
            aggregator.encrypt(np.array([0, wrong, 0, 0]), clip=True)
