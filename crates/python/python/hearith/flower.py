"""Flower's federated averaging with updates that its server cannot read (needs `flwr`; written for
and tested with 1.41).

The clients hold the key pair; Flower's server holds only the public key. A client's train function
ends with `to_record`. The server uses the strategy `EncryptedFedAvg`. Clients read the records of
the next round with `from_record`. Everything else is as in `flwr.serverapp.strategy.FedAvg`, of
which only the method `aggregate_train` is replaced::

    aggregator = he.Aggregator(public, like=layers, range=8, step=2**-20, clients=10, max_weight=1000)
    strategy = EncryptedFedAvg(aggregator)                                                       # in the server
    layers = from_record(aggregator, message.content["arrays"], private)                         # in a client, before training
    arrays = to_record(aggregator.encrypt(layers, private=private))                              # and after it
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

try:
    from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
    from flwr.serverapp.strategy import FedAvg
except ImportError as error:
    raise ImportError("the strategy needs Flower: pip install 'hearith[flower]'") from error

from hearith._layers import Floats
from hearith._rounds import MALFORMED
from hearith.errors import TableError
from hearith.federated import Aggregator, EncryptedUpdate
from hearith.keys import PrivateKey

#: Names of the two arrays in a record: the ciphertext bytes, one row each, and the total weight.
_CIPHERTEXTS, _WEIGHT = "hearith.ciphertexts", "hearith.weight"


class EncryptedFedAvg(FedAvg):
    """Federated averaging over ciphertexts; `options` are those of `FedAvg`.

    A reply's weight is its metric `num-examples` (or the one named by `weighted_by_key`), an
    integer from 1 to the aggregator's `max_weight`. Metrics are averaged in plaintext, as in
    `FedAvg`. If the aggregator has secret weights, the strategy reads no weight from the metrics.
    Clients then pass their weight to `Aggregator.encrypt`, and 1 as the metric that Flower's
    average of metrics needs.

    The round's sum leaves out clients that send an error, nothing in time, or an invalid update. An
    invalid update causes a warning, and is listed in `left_out` by its node id.
    """

    def __init__(self, aggregator: Aggregator, *, minimum_clients: int = 1, **options: Any) -> None:
        """Sums updates that clients encrypt with an aggregator of the same arguments.

        Each round needs at least `minimum_clients` of them.
        """
        super().__init__(**options)
        self.aggregator, self.minimum_clients = aggregator, minimum_clients
        #: The clients left out of the latest round, with the reasons.
        self.left_out: Mapping[Hashable, Exception] = {}

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Returns the encrypted weighted sum of the clients' updates.

        Raises:
            RangeError: the total weight exceeds the headroom.
            TableError: fewer clients than `minimum_clients` sent a valid update.
        """
        # Flower's own validation would abort the round if a single client's record had other names.
        valid, _ = self._check_and_log_replies(replies, is_train=True, validate=False)
        if not valid:
            return None, None
        secret = self.aggregator.secret_weights
        sent, contents = [], {}
        weights: dict[Any, Any] = {}
        for message in valid:
            name = message.metadata.src_node_id
            contents[name] = message.content
            sent.append((name, _sent(self.aggregator, message.content)))
            weights[name] = None if secret else _weight(message.content, self.weighted_by_key)
        found = self.aggregator.aggregate(sent, weights=None if secret else weights, minimum=self.minimum_clients)
        self.left_out = found.left_out
        kept = [contents[name] for name in found.clients]
        return to_record(found.total), self.train_metrics_aggr_fn(kept, self.weighted_by_key)


def _weight(content: RecordDict, key: str) -> Any:
    """Returns the weight of an update, or None."""
    try:
        return _only(content.metric_records)[key]
    except (KeyError, StopIteration):
        return None


def _sent(aggregator: Aggregator, content: RecordDict) -> EncryptedUpdate | None:
    """Returns the update in a reply, or None if it cannot be read."""
    try:
        return _update(aggregator, _only(content.array_records))
    except (*MALFORMED, StopIteration):
        return None


def to_record(update: EncryptedUpdate) -> ArrayRecord:
    """Converts an update, or a sum of updates, to a Flower record."""
    record = ArrayRecord([np.frombuffer(update.to_bytes(), dtype=np.uint8), np.array(update.weight, dtype=np.int64)])
    arrays = list(record.values())
    return ArrayRecord(dict(zip((_CIPHERTEXTS, _WEIGHT), arrays, strict=True)))


def from_record(aggregator: Aggregator, record: ArrayRecord, private: PrivateKey) -> Floats:
    """Returns the weighted mean in an encrypted record.

    Returns a plaintext record (the model of the first round) unchanged.
    """
    if _CIPHERTEXTS not in record:
        arrays = record.to_numpy_ndarrays()
        return [array if array.dtype.kind == "f" else array.astype(np.float64) for array in arrays]
    return aggregator.mean(private, _update(aggregator, record))


def _update(aggregator: Aggregator, record: ArrayRecord) -> EncryptedUpdate:
    if _CIPHERTEXTS not in record or _WEIGHT not in record:
        raise TableError("a record holds no encrypted update")
    return aggregator.update(record[_CIPHERTEXTS].numpy().tobytes(), weight=int(record[_WEIGHT].numpy()))


def _only(records: Any) -> Any:
    """Returns the first record of a kind. Raises `StopIteration` if there is none."""
    return next(iter(records.values()))
