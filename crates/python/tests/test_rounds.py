"""Rounds of federated sums that a single client cannot abort."""

import pickle
import warnings

import numpy as np
import pytest

import hearith as he
from hearith.errors import NumberError, RangeError, TableError
from hearith.federated import LeftOutWarning

LAYERS = {"a": np.array([[0.5, -1.25]]), "b": np.array([3.0, 1, 2])}
OPTIONS = {"range": 4, "step": 2**-10, "clients": 4, "max_weight": 10}


@pytest.fixture(scope="module", params=["paillier", "bfv"])
def parties(request):
    if request.param == "bfv":
        pairs = [he.generate_keypair(scheme="bfv", parameters="bfv-4096") for _ in range(2)]
    else:
        pairs = [he.generate_keypair(512, insecure=True) for _ in range(2)]
    (public, private), (other, _) = pairs
    return he.Aggregator(public, LAYERS, **OPTIONS), private, he.Aggregator(other, LAYERS, **OPTIONS)


def altered(update, **attributes):
    """Returns an update with manually changed attributes."""
    new = pickle.loads(pickle.dumps(update))
    for name, value in attributes.items():
        setattr(new, name, value)
    return new


def like(aggregator, layers, **options):
    """Returns an update of an aggregator with other arguments under the same key."""
    return he.Aggregator(aggregator._key, layers, **(OPTIONS | options)).encrypt(layers)


#: Invalid updates that a client may send, each with its weight.
MALFORMED = {
    "another key": lambda ours, other, good: (other.encrypt(LAYERS), 1),
    "bytes that are no ciphertexts": lambda ours, other, good: (b"\xff" * len(good.to_bytes()), 1),
    "other shapes": lambda ours, other, good: (like(ours, {"a": np.zeros((2, 1)), "b": np.zeros(3)}), 1),
    "a missing layer": lambda ours, other, good: (like(ours, {"a": LAYERS["a"]}), 1),
    "one layer more": lambda ours, other, good: (like(ours, LAYERS | {"c": np.zeros(1)}), 1),
    "another step": lambda ours, other, good: (like(ours, LAYERS, step=2**-9), 1),
    "another range": lambda ours, other, good: (like(ours, LAYERS, range=3), 1),
    "plain numbers": lambda ours, other, good: (LAYERS, 1),
    "text": lambda ours, other, good: ("update", 1),
    "nothing": lambda ours, other, good: (None, 1),
    "truncated bytes": lambda ours, other, good: (good.to_bytes()[:-1], 1),
    "half of the ciphertexts": lambda ours, other, good: (altered(good, _rows=good.to_bytes()[:7]), 1),
    "no ciphertexts": lambda ours, other, good: (b"", 1),
    "zeros": lambda ours, other, good: (bytes(len(good.to_bytes())), 1),
    "ciphertexts of another type": lambda ours, other, good: (altered(good, _rows=np.zeros(4)), 1),
    "no layout": lambda ours, other, good: (altered(good, layout=None), 1),
    "a layout of arrays": lambda ours, other, good: (altered(good, layout=np.zeros(6)), 1),
    "a weight that is not a number": lambda ours, other, good: (ours.encrypt(LAYERS), float("nan")),
    "an infinite weight": lambda ours, other, good: (ours.encrypt(LAYERS), float("inf")),
    "half a weight": lambda ours, other, good: (ours.encrypt(LAYERS), 1.5),
    "a weight of 0": lambda ours, other, good: (ours.encrypt(LAYERS), 0),
    "a negative weight": lambda ours, other, good: (ours.encrypt(LAYERS), -1),
    "too large a weight": lambda ours, other, good: (ours.encrypt(LAYERS), 11),
    "a weight in words": lambda ours, other, good: (ours.encrypt(LAYERS), "one"),
    "no weight": lambda ours, other, good: (ours.encrypt(LAYERS), None),
    "a weight of its own of 0": lambda ours, other, good: (altered(ours.encrypt(LAYERS), weight=0), 1),
    "a negative weight of its own": lambda ours, other, good: (altered(ours.encrypt(LAYERS), weight=-5), 1),
    "a weight of its own that takes the headroom of all": lambda ours, other, good: (
        altered(ours.encrypt(LAYERS), weight=30),
        1,
    ),
    "a copy of another client's update": lambda ours, other, good: (pickle.loads(pickle.dumps(good)), 1),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_update_is_left_out(parties, kind):
    ours, private, other = parties
    good = [ours.encrypt(LAYERS), ours.encrypt({"a": -LAYERS["a"], "b": np.zeros(3)})]
    bad, weight = MALFORMED[kind](ours, other, good[0])
    with pytest.warns(LeftOutWarning, match="client 'mallory' is left out of the round: ."):
        found = ours.aggregate(
            {"alice": good[0], "mallory": bad, "bob": good[1]}, weights={"alice": 3, "mallory": weight, "bob": 1}
        )
    assert (found.clients, list(found.left_out)) == (("alice", "bob"), ["mallory"])
    assert found.total.weight == 4
    mean = ours.mean(private, found.total)
    assert np.allclose(mean["a"], LAYERS["a"] / 2)
    assert np.allclose(mean["b"], LAYERS["b"] * 0.75)
    with (
        pytest.warns(LeftOutWarning),
        pytest.raises(TableError, match="2 clients .* fewer than 3; left out: 'mallory'"),
    ):
        ours.aggregate(
            {"alice": good[0], "mallory": bad, "bob": good[1]},
            weights={"alice": 3, "mallory": weight, "bob": 1},
            minimum=3,
        )


def test_two_updates_of_one_client(parties):
    ours, private, _ = parties
    sent = [("alice", ours.encrypt(LAYERS)), ("bob", ours.encrypt(LAYERS).to_bytes()), ("alice", ours.encrypt(LAYERS))]
    with pytest.warns(LeftOutWarning, match="more than one update"):
        found = ours.aggregate(sent)
    assert found.clients == ("bob",)
    assert np.allclose(ours.mean(private, found.total)["b"], LAYERS["b"])


def test_places_are_names(parties):
    ours, *_ = parties
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ours.aggregate([ours.encrypt(LAYERS), ours.encrypt(LAYERS)], weights=[2, 5], minimum=2)
    assert (found.clients, found.left_out, found.total.weight) == ((0, 1), {}, 7)
    with pytest.warns(LeftOutWarning, match="client 1 "):
        assert ours.aggregate([ours.encrypt(LAYERS), b"", ours.encrypt(LAYERS)]).clients == (0, 2)


@pytest.mark.parametrize("weights", [[], [4], [1, 50, 1]])
def test_weights_in_an_order_are_as_many_as_updates(parties, weights):
    ours, *_ = parties
    with pytest.raises(ValueError, match=f"{len(weights)} weights for 2 updates"):
        ours.aggregate([ours.encrypt(LAYERS), ours.encrypt(LAYERS)], weights=weights)


def test_a_round_is_decrypted_as_its_total_is(parties):
    ours, private, _ = parties
    round = ours.aggregate([ours.encrypt(LAYERS), ours.encrypt(LAYERS)], weights=[1, 2])
    np.testing.assert_array_equal(ours.total(private, round)["b"], [9, 3, 6])
    np.testing.assert_array_equal(ours.mean(private, round)["b"], LAYERS["b"])
    assert ours.total_weight(private, round) == 3
    with pytest.raises(TypeError, match="an EncryptedUpdate is needed, not dict"):
        ours.mean(private, LAYERS)


def test_rounds_of_nobody(parties):
    ours, *_ = parties
    for updates in ([], {}):
        with pytest.raises(TableError, match="0 clients .* fewer than 1; left out: none"):
            ours.aggregate(updates)
    for minimum, error in ((0, RangeError), (1.5, NumberError)):
        with pytest.raises(error, match="minimum"):
            ours.aggregate([ours.encrypt(LAYERS)], minimum=minimum)


def test_secret_weights(keys):
    ours = he.Aggregator(keys[0], LAYERS, secret_weights=True, **OPTIONS)
    sent = [ours.encrypt(LAYERS, weight=3), altered(ours.encrypt(LAYERS), weight=2), ours.encrypt(LAYERS, weight=4)]
    with pytest.warns(LeftOutWarning, match="client 1 "):
        found = ours.aggregate(sent)
    assert ours.total_weight(keys[1], found.total) == 7
    with pytest.raises(ValueError, match="secret"):
        ours.aggregate(sent, weights=[1, 1, 1])


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_models_come_back_as_they_are(parties, kind):
    ours, private, _ = parties
    model = [np.array([0.5, -1.25], dtype=kind), {"w": np.ones((2, 2), dtype=np.float32)}, np.arange(3), [0.25, 1.0]]
    aggregator = he.Aggregator(ours._key, model, **OPTIONS)
    total = aggregator.aggregate([aggregator.encrypt(model), aggregator.encrypt(model)]).total
    for found in (aggregator.mean(private, total), aggregator.quantised(model)):
        assert [found[0].dtype, found[1]["w"].dtype] == [kind, np.float32]
        assert [found[2].dtype, found[3].dtype] == [np.float64, np.float64]
        assert found[0].tolist() == [0.5, -1.25]
    assert aggregator.total(private, total)[0].dtype == kind


def test_totals_too_large_for_short_floats(keys):
    model = np.full(2, 60000, dtype=np.float16)
    aggregator = he.Aggregator(keys[0], model, range=60000, step=1, clients=2)
    total = aggregator.sum([aggregator.encrypt(model), aggregator.encrypt(model)])
    assert aggregator.total(keys[1], total).tolist() == [float(np.float16(60000)) * 2] * 2
    assert aggregator.mean(keys[1], total).dtype == np.float16
