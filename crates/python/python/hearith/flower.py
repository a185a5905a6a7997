"""Flower's federated averaging with updates that its server cannot read (needs `flwr`; written for and tested with 1.41).

The clients hold the key pair, Flower's server the public key only. A client's train function ends with `to_record`; the server's
strategy is `EncryptedFedAvg`; what it sends out in the next round, the clients read with `from_record`. Everything else is as
with `flwr.serverapp.strategy.FedAvg`, whose method `aggregate_train` is all that is replaced::

    aggregator = he.Aggregator(public, like=layers, range=8, step=2**-20, clients=10, max_weight=1000)
    strategy = EncryptedFedAvg(aggregator)                                                       # in the server
    layers = from_record(aggregator, message.content["arrays"], private)                         # in a client, before training
    arrays = to_record(aggregator.encrypt(layers, private=private))                              # and after it
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

try:
    from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
    from flwr.serverapp.strategy import FedAvg
except ImportError as error:
    raise ImportError("the strategy needs Flower: pip install 'hearith[flower]'") from error

from hearith._layers import Floats
from hearith.errors import TableError
from hearith.federated import Aggregator, EncryptedUpdate
from hearith.keys import PrivateKey

#: Names of the two arrays in a record: the ciphertexts' bytes, one row each, and the total weight.
_CIPHERTEXTS, _WEIGHT = "hearith.ciphertexts", "hearith.weight"


class EncryptedFedAvg(FedAvg):
    """Federated averaging over ciphertexts; `options` are those of `FedAvg`.

    A reply's weight is its metric `num-examples` (or what `weighted_by_key` says), a whole number from 1 to the aggregator's
    `max_weight`. Metrics are averaged in the clear, as `FedAvg` does. Of an aggregator with secret weights the strategy takes
    no weight from the metrics: clients give theirs to `Aggregator.encrypt`, and 1 as the metric, which Flower's average of metrics wants.

    A client that sends an error, or nothing in time, is not in the round's sum.
    """

    def __init__(self, aggregator: Aggregator, **options: Any) -> None:
        """Adds up the updates that clients encrypt with an aggregator of the same arguments."""
        super().__init__(**options)
        self.aggregator = aggregator

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The encrypted weighted sum of the clients' updates.

        Raises:
            CiphertextError, KeyMismatchError, RangeError, ScaleError: as `Aggregator.sum`.
            TableError: a reply holds no encrypted update.
        """
        valid, _ = self._check_and_log_replies(replies, is_train=True)
        if not valid:
            return None, None
        contents = [message.content for message in valid]
        updates = [_update(self.aggregator, _only(content.array_records)) for content in contents]
        secret = self.aggregator.secret_weights
        weights = None if secret else [self._weight(content) for content in contents]
        total = self.aggregator.sum(updates, weights=weights)
        return to_record(total), self.train_metrics_aggr_fn(contents, self.weighted_by_key)

    def _weight(self, content: RecordDict) -> int:
        weight = float(_only(content.metric_records)[self.weighted_by_key])
        if not weight.is_integer():
            raise TableError(f"the weight '{self.weighted_by_key}' of an update is no whole number")
        return int(weight)


def to_record(update: EncryptedUpdate) -> ArrayRecord:
    """An update, or a sum of updates, as Flower carries it."""
    record = ArrayRecord([np.frombuffer(update.to_bytes(), dtype=np.uint8), np.array(update.weight, dtype=np.int64)])
    arrays = list(record.values())
    return ArrayRecord(dict(zip((_CIPHERTEXTS, _WEIGHT), arrays, strict=True)))


def from_record(aggregator: Aggregator, record: ArrayRecord, private: PrivateKey) -> Floats:
    """The weighted mean in an encrypted record; a plain record (the model of the first round) as it is."""
    if _CIPHERTEXTS not in record:
        return [array.astype(np.float64) for array in record.to_numpy_ndarrays()]
    return aggregator.mean(private, _update(aggregator, record))


def _update(aggregator: Aggregator, record: ArrayRecord) -> EncryptedUpdate:
    if _CIPHERTEXTS not in record or _WEIGHT not in record:
        raise TableError("a record holds no encrypted update")
    return aggregator.update(record[_CIPHERTEXTS].numpy().tobytes(), weight=int(record[_WEIGHT].numpy()))


def _only(records: Any) -> Any:
    """The single record of a kind, which Flower has checked there is."""
    return next(iter(records.values()))
