"""Flower's averaging over ciphertexts gives what its averaging of plain arrays gives."""

import importlib.util

import numpy as np
import pytest
from required import missing

if importlib.util.find_spec("flwr") is None:
    missing(
        "flower",
        "Flower and the fifty packages it needs are not among the test requirements: `make test-full` has them",
    )

from flwr.app import ArrayRecord, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg

import hearith as he
from hearith.errors import RangeError, TableError
from hearith.flower import EncryptedFedAvg, from_record, to_record

pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning")
STEP = 2**-16


class Reply:
    """What a strategy sees of a `Message`, which Flower only makes within a running federation."""

    def __init__(self, content):
        self.content = content

    def has_error(self):
        return False


def reply(arrays, examples):
    metrics = MetricRecord({"num-examples": examples, "loss": 0.5 * examples})
    return Reply(RecordDict({"arrays": arrays, "metrics": metrics}))


def layers(seed):
    random = np.random.default_rng(seed)
    return [np.rint(random.normal(size=shape) / STEP) * STEP for shape in ((3, 2), (2,))]


@pytest.fixture
def aggregator(keys):
    return he.Aggregator(keys[0], layers(0), range=8, step=STEP, clients=3, max_weight=50)


def test_the_mean_is_flowers(keys, aggregator):
    updates, examples = [layers(seed) for seed in range(3)], [10, 1, 50]
    plain = [reply(ArrayRecord(update), count) for update, count in zip(updates, examples, strict=True)]
    encrypted = [
        reply(to_record(aggregator.encrypt(update)), count) for update, count in zip(updates, examples, strict=True)
    ]
    wanted, wanted_metrics = FedAvg().aggregate_train(1, plain)
    record, metrics = EncryptedFedAvg(aggregator).aggregate_train(1, encrypted)
    found = from_record(aggregator, record, keys[1])
    for ours, theirs in zip(found, wanted.to_numpy_ndarrays(), strict=True):
        assert np.allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    assert dict(metrics) == dict(wanted_metrics)


def test_the_first_model_is_plain(keys, aggregator):
    found = from_record(aggregator, ArrayRecord(layers(1)), keys[1])
    assert all((a == b).all() for a, b in zip(found, layers(1), strict=True))


def test_no_reply_no_model(aggregator):
    assert EncryptedFedAvg(aggregator).aggregate_train(1, []) == (None, None)


def test_refusals(aggregator):
    strategy, update = EncryptedFedAvg(aggregator), aggregator.encrypt(layers(2))
    with pytest.raises(TableError, match="no encrypted update"):
        strategy.aggregate_train(1, [reply(ArrayRecord(layers(0)), 1)])
    with pytest.raises(RangeError, match="weight"):
        strategy.aggregate_train(1, [reply(to_record(update), 51)])
    with pytest.raises(TableError, match="whole number"):
        strategy.aggregate_train(1, [reply(to_record(update), 1.5)])
