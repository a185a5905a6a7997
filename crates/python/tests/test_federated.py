"""The aggregator: exact sums of rounded numbers, and errors instead of wrong results."""

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
from hearith import _native
from hearith._integers import packed, unpack
from hearith.errors import CiphertextError, KeyMismatchError, RangeError, ScaleError

EXAMPLES = Path(__file__).parent.parent / "examples"


def layers(random, scale=1.0):
    return [random.normal(size=(4, 3)) * scale, random.normal(size=3) * scale, np.array(random.normal() * scale)]


def exact(updates, weights, step):
    """Returns weighted sums of rounded updates, computed with fractions."""
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


@pytest.fixture(scope="module", params=["bfv-4096", "bfv-8192"])
def lattice(request):
    return he.generate_keypair(scheme="bfv", parameters=request.param)


@given(weights=st.lists(st.integers(1, 50), min_size=1, max_size=4), seed=st.integers(0, 2**32), owner=st.booleans())
def test_weighted_sums_of_whole_vectors(lattice, weights, seed, owner):
    public, private = lattice
    random = np.random.default_rng(seed)
    updates = [layers(random) for _ in weights]
    options = {"range": 16, "step": 2**-16, "clients": len(weights), "max_weight": 50}
    aggregator = he.Aggregator(public, updates[0], **options)
    wanted = exact(updates, weights, 2**-16)

    def encrypt(update, weight):
        return aggregator.encrypt(update, weight=weight, private=private if owner else None)

    by_server = aggregator.sum([encrypt(update, 1) for update in updates], weights=weights)
    by_clients = aggregator.sum([encrypt(u, w) for u, w in zip(updates, weights, strict=True)])
    for total in (by_server, by_clients, aggregator.sum([aggregator.rerandomise(by_server)])):
        assert total.weight == sum(weights)
        found = pickle.loads(pickle.dumps(total))
        assert np.concatenate([np.ravel(layer) for layer in aggregator.total(private, found)]).tolist() == wanted


def test_one_ciphertext_holds_thousands(lattice):
    """Paillier of 3072 bits would need hundreds of ciphertexts.

    Tests the ends of the range with the largest weights.
    """
    public, private = lattice
    size = public.slots
    aggregator = he.Aggregator(public, np.zeros(size), range=1, step=2**-16, clients=100, max_weight=20)
    assert (aggregator.slots, aggregator.ciphertexts) == (size, 1)
    assert he.Aggregator(public, np.zeros(size + 1), range=1, step=2**-16, clients=100).ciphertexts == 2
    ends = np.where(np.arange(size) % 2 == 0, 1.0, -1.0)
    update = aggregator.encrypt(ends, private=private)
    assert aggregator.encrypt(ends).nbytes > 1.9 * update.nbytes
    total = aggregator.sum([update] * 100, weights=[20] * 100)
    assert aggregator.total(private, total).tolist() == (2000 * ends).tolist()
    assert aggregator.mean(private, total).tolist() == ends.tolist()
    with pytest.raises(RangeError, match="headroom"):
        aggregator.sum([total, update])


def test_the_owner_sees_of_a_sum_the_total_alone(lattice):
    """The ciphertexts of a sum cannot be linked to those of updates, and no two sums are equal."""
    public, private = lattice
    aggregator = he.Aggregator(public, np.zeros(100), range=8, step=2**-10, clients=3)
    update = aggregator.encrypt(np.linspace(-8, 8, 100))
    sums = [aggregator.sum([update]).to_bytes() for _ in range(2)]
    data = update.to_bytes()
    assert len(sums[0]) == len(sums[1]) == len(data)
    # After the header, bytes of unlinkable ciphertexts agree by chance in about one of 256 places.
    same = sum(a == b for a, b in zip(data[52:], sums[0][52:], strict=True))
    assert same < len(data) / 64
    assert sums[0] != sums[1]
    assert aggregator.total(private, aggregator.update(sums[0])).tolist() == aggregator.total(private, update).tolist()


def test_updates_of_another_scheme_or_key(lattice, keys):
    aggregator = he.Aggregator(lattice[0], np.zeros(3), range=8, step=1, clients=2)
    theirs = he.Aggregator(keys[0], np.zeros(3), range=8, step=1, clients=2)
    update, other = aggregator.encrypt(np.ones(3)), theirs.encrypt(np.ones(3))
    for wrong in (
        lambda: aggregator.sum([update, other]),
        lambda: theirs.sum([update]),
        lambda: aggregator.total(keys[1], update),
        lambda: theirs.total(lattice[1], other),
        lambda: aggregator.encrypt(np.ones(3), private=keys[1]),
        lambda: theirs.encrypt(np.ones(3), private=lattice[1]),
    ):
        with pytest.raises(KeyMismatchError):
            wrong()
    longer = he.Aggregator(lattice[0], np.zeros(4), range=8, step=1, clients=2)
    with pytest.raises(CiphertextError, match="numbers"):
        aggregator.update(longer.encrypt(np.zeros(4)).to_bytes())
    finer = he.Aggregator(lattice[0], np.zeros(3), range=8, step=0.25, clients=2)
    with pytest.raises(CiphertextError, match="bits"):
        aggregator.update(finer.encrypt(np.zeros(3)).to_bytes())
    with pytest.raises(CiphertextError):
        aggregator.update(update.to_bytes()[:-5])


def test_what_a_parameter_set_has_no_room_for():
    public, _ = he.generate_keypair(scheme="bfv", parameters="bfv-4096")
    with pytest.raises(RangeError, match="allows 2 to 40"):
        he.Aggregator(public, np.zeros(3), range=2**20, step=2**-20, clients=2)


def test_the_extremes_of_the_range_do_not_overflow(keys):
    """All clients at one end of the range with the largest weight, next to others at the other
    end.
    """
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
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "federated.md").read_text()
    names = {}
    # The second program uses the first one's clients, and must compute the same mean.
    for program in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        names.pop("mean", None)
        exec(program, names)
        first, second = names["mean"]
        assert np.allclose(first, [[1.25, -0.125]], atol=2**-20)
        assert np.allclose(second, [0.0], atol=2**-20)
    assert names["aggregator"].secret_weights


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
    """A client that claims a weight of 1 but encrypts ten times the range is detected."""
    public, private = keys
    honest = he.Aggregator(public, np.zeros(3), range=4, step=0.5, clients=20)
    total = honest.sum([honest.encrypt(np.array([4.0, -4, 0]))] * 10)
    forged = he.EncryptedUpdate(total.key_id, total.layout, 1, total.to_bytes())
    with pytest.raises(RangeError, match="number 0: the total exceeds"):
        honest.total(private, forged)


def test_the_example_trains_the_same_model(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["federated.py", "--bits", "512", "--rounds", "6"])
    monkeypatch.syspath_prepend(str(EXAMPLES))
    # Its processes import it by path.
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


NESTED = {
    "encoder": [{"bias": np.array([1.0, -2.0]), "weight": np.array([[0.5, 0.25], [1.5, 3.0]])}, np.array([7.0])],
    "decoder": (np.array(4.0), [np.array([[2.0]])]),
    "scale": [0.5, 0.75],
}


def same_tree(found, wanted):
    """Whether both hold equal numbers in the same containers."""
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        return all(same_tree(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list | tuple) and not all(isinstance(one, float) for one in wanted):
        assert (type(found), len(found)) == (type(wanted), len(wanted))
        return all(map(same_tree, found, wanted))
    return np.array_equal(found, wanted)


def test_layers_come_back_where_they_stood(keys):
    public, private = keys
    aggregator = he.Aggregator(public, NESTED, range=8, step=2**-4, clients=2)
    other_order = dict(reversed(NESTED.items()))
    total = aggregator.sum([aggregator.encrypt(NESTED), aggregator.encrypt(other_order)])
    assert same_tree(aggregator.mean(private, total), NESTED)
    assert same_tree(aggregator.quantised(NESTED), NESTED)
    assert not same_tree(aggregator.total(private, total), NESTED)
    with pytest.raises(ValueError, match=r"layers are \['a'\], not \['b'\]"):
        he.Aggregator(public, {"b": np.zeros(2)}, range=8, step=1, clients=2).encrypt({"a": np.zeros(2)})
    with pytest.raises(ScaleError, match="other shapes"):
        he.Aggregator(public, {"b": np.zeros(2)}, range=8, step=1, clients=2).sum(
            [he.Aggregator(public, {"a": np.zeros(2)}, range=8, step=1, clients=2).encrypt({"a": np.zeros(2)})]
        )


@pytest.mark.parametrize(("like", "name"), [([[[1, 2], [3]]], "0"), ({"a": [np.zeros(2), [[1], 2]]}, "a.1")])
def test_layers_that_no_array_has(keys, like, name):
    with pytest.raises(he.ShapeError, match=f"^layer {name}: its lists differ in length"):
        he.Aggregator(keys[0], like, range=8, step=1, clients=2)


@pytest.fixture(scope="module", params=["paillier", "bfv"])
def either(request, keys):
    return keys if request.param == "paillier" else he.generate_keypair(scheme="bfv", parameters="bfv-4096")


SECRET = {"range": 8, "step": 2**-10, "clients": 3, "max_weight": 50, "secret_weights": True}


class TestSecretWeights:
    def test_the_mean_is_that_of_open_weights(self, either):
        public, private = either
        updates, weights = [layers(np.random.default_rng(seed)) for seed in range(3)], [10, 1, 50]
        aggregator = he.Aggregator(public, updates[0], **SECRET)
        opened = he.Aggregator(public, updates[0], **SECRET | {"secret_weights": False})
        total = aggregator.sum(
            [aggregator.encrypt(update, weight=weight) for update, weight in zip(updates, weights, strict=True)]
        )
        wanted = opened.sum([opened.encrypt(update) for update in updates], weights=weights)
        assert total.weight == 3, "only how many there are can be read"
        assert (aggregator.total_weight(private, total), opened.total_weight(private, wanted)) == (61, 61)
        for found, right in zip(aggregator.mean(private, total), opened.mean(private, wanted), strict=True):
            assert (found == right).all()
        for found, right in zip(aggregator.total(private, total), opened.total(private, wanted), strict=True):
            assert (found == right).all()

    def test_nothing_that_travels_tells_the_weight(self, either):
        public, private = either
        aggregator = he.Aggregator(public, np.zeros(2), **SECRET)
        light, heavy = (aggregator.encrypt(np.ones(2), weight=weight) for weight in (1, 50))
        assert (light.weight, light.layout, light.nbytes) == (heavy.weight, heavy.layout, heavy.nbytes)
        sent = aggregator.update(heavy.to_bytes(), weight=heavy.weight)
        assert aggregator.total_weight(private, aggregator.rerandomise(sent)) == 50

    def test_refusals(self, either):
        public = either[0]
        aggregator = he.Aggregator(public, np.zeros(2), **SECRET)
        update = aggregator.encrypt(np.ones(2), weight=7)
        with pytest.raises(ValueError, match="the weights are secret"):
            aggregator.sum([update], weights=[7])
        with pytest.raises(RangeError, match="a total weight of 4 exceeds the 3"):
            aggregator.sum([update] * 4)
        with pytest.raises(RangeError, match="weight must be from 1 to 50"):
            aggregator.encrypt(np.ones(2), weight=51)
        opened = he.Aggregator(public, np.zeros(2), **SECRET | {"secret_weights": False})
        with pytest.raises(ScaleError, match="other shapes, range, step or headroom"):
            opened.sum([update])

    def test_a_weight_that_nobody_can_have(self, keys):
        """A client that encrypts an invalid weight is detected if the total weight is
        impossible.
        """
        public, private = keys
        aggregator = he.Aggregator(public, np.zeros(2), **SECRET)
        zero = aggregator.encrypt(np.zeros(2), weight=1)
        layout = he.Aggregator(public, np.zeros(3), **SECRET | {"secret_weights": False})
        for numbers in ([0, 0, 8.0], [0, 0, 0]):
            forged = aggregator.update(layout.encrypt(np.array(numbers)).to_bytes())
            with pytest.raises(RangeError, match="the total weight is impossible"):
                aggregator.mean(private, forged)
        assert aggregator.mean(private, zero).tolist() == [0, 0]


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
@pytest.mark.parametrize("most", [1, 2, 4])
def test_slots_give_no_numbers_beyond_their_headroom(keys, most, rows):
    """The sum of more rows than a layout allows carries between slots, and would look like valid
    numbers.
    """
    public, private = keys
    layout = _native.SlotLayout(public.bits, 3, 1000, most)
    values = np.tile(np.array([1000, -1000, 7], dtype=np.int64), rows)
    with packed(values) as (data, width):
        encrypted = public.native.encrypt(layout.pack(public.native, data, width))
    total = public.native.sum_groups(encrypted, [list(range(rows))])
    if rows <= most:
        assert unpack(*private.native.decrypt_slots(layout, total, rows)).tolist() == [
            1000 * rows,
            -1000 * rows,
            7 * rows,
        ]
        return
    with pytest.raises(RangeError, match="overflowed its slots") as caught:
        private.native.decrypt_slots(layout, total, rows)
    assert caught.value.kind == "overflow"
