"""Secure aggregation of client updates. Only the key owner can decrypt, and sees only their sum.

An update is one NumPy array, or several in lists, tuples and dictionaries (the layers of a model).
Its numbers are rounded to multiples of `step`, with magnitudes up to `range`, and packed into the
slots of a few plaintexts: dozens per Paillier ciphertext, thousands per `hearith.bfv` ciphertext.
Each slot has headroom for the weighted sum of all clients. A sum that could exceed it raises an
error; numbers never wrap around.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hearith import _native, bfv
from hearith._arguments import MOST, whole
from hearith._computing import ComputingKey
from hearith._federated_rows import Scheme, Slotted, Whole
from hearith._integers import Integers, first_beyond
from hearith._layers import Floats, Layers, Layout
from hearith._operands import Number
from hearith._rounds import Admission, LeftOutWarning, Round, named
from hearith.errors import KeyMismatchError, RangeError, ScaleError
from hearith.keys import PrivateKey

__all__ = ["Aggregator", "EncryptedUpdate", "LeftOutWarning", "Round"]

#: Largest magnitude of a number in steps, which a double represents exactly.
_MOST_STEPS = 2**53


class EncryptedUpdate:
    """A client's encrypted update, or a sum of several.

    Pickles without the key. `weight` is the total weight of the updates it contains.
    """

    __slots__ = ("_rows", "key_id", "layout", "weight")

    def __init__(
        self,
        key_id: str,
        layout: tuple[Any, ...],
        weight: int,
        rows: _native.Ciphertexts | _native.BfvVector | bytes,
    ) -> None:
        """Creates an update. Use `Aggregator.encrypt` or `Aggregator.sum` instead."""
        self.key_id, self.layout, self.weight, self._rows = key_id, layout, weight, rows

    @property
    def nbytes(self) -> int:
        """Bytes of the ciphertexts."""
        return len(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Returns the concatenated ciphertexts: Paillier's big-endian, BFV's each with a length
        prefix.
        """
        return self._rows if isinstance(self._rows, bytes) else self._rows.to_bytes()

    def __repr__(self) -> str:
        return f"<EncryptedUpdate: weight {self.weight}, key {self.key_id[:8]}...>"

    def __reduce__(self) -> tuple[Any, ...]:
        return EncryptedUpdate, (self.key_id, self.layout, self.weight, self.to_bytes())

    def rows(self, scheme: Scheme[Any]) -> Any:
        """Returns the ciphertexts, and checks them on first use."""
        if isinstance(self._rows, bytes):
            self._rows = scheme.read(self._rows)
        return self._rows


class Aggregator:
    """Encrypts and sums the updates of many clients.

    Every party creates an aggregator with the same arguments.

    Args:
        key: the public key, of either scheme. The key owner decrypts with the private key.
        like: an example update, which defines the shapes of the arrays.
        range: largest magnitude of a number.
        step: granularity; numbers are rounded to multiples of it.
        clients: largest number of updates in a sum.
        max_weight: largest weight of an update, a positive integer (say, its number of samples).
        secret_weights: encrypts each client's weight as an additional number of its update. Only
            the key owner can decrypt weights, and sees only their sum.

    Raises:
        NumberError: `clients` or `max_weight` is not an integer.
        RangeError: a slot with this range, step and headroom does not fit the key, or an
            argument is not finite.
        ScaleError: the step is not positive.

    >>> import hearith as he, numpy as np
    >>> public, private = he.generate_keypair(512, insecure=True)
    >>> aggregator = he.Aggregator(public, like=np.zeros(3), range=8, step=2**-10, clients=2, max_weight=100)
    >>> one = aggregator.encrypt(np.array([0.5, -1, 2]))
    >>> two = aggregator.encrypt(np.array([1.5, 3, 0]))
    >>> aggregator.mean(private, aggregator.sum([one, two], weights=[1, 3]))
    array([1.25, 2.  , 0.5 ])
    """

    def __init__(
        self,
        key: ComputingKey | bfv.PublicKey,
        like: Layers,
        *,
        range: Number,
        step: Number,
        clients: int,
        max_weight: int = 1,
        secret_weights: bool = False,
    ) -> None:
        """Computes the slot layout."""
        clients, max_weight = whole("clients", clients, 1), whole("max_weight", max_weight, 1)
        self._key = key
        self._layers = Layout(like)
        # A float counts as its exact binary value (so a power of two is exact), not as the decimal
        # it prints as.
        self._step = _exact("step", step)
        if self._step <= 0:
            raise ScaleError("the step must be positive", kind="out_of_range")
        self._steps = int(_exact("range", range) / self._step)
        if not 1 <= self._steps <= _MOST_STEPS:
            raise RangeError("the range must be at least one step and at most 2^53 steps", kind="out_of_range")
        self._max_weight, self._secret = max_weight, secret_weights
        # With secret weights, the aggregator can only count updates.
        self._capacity = clients if secret_weights else clients * max_weight
        largest, numbers = self._steps * max_weight, self.size + secret_weights
        if largest >= 2**63 or clients * max_weight > MOST:
            raise RangeError("range, step, clients and largest weight need more than 64 bits", kind="out_of_range")
        self._scheme: Scheme[Any]
        if isinstance(key, bfv.PublicKey):
            self._scheme = Whole(key.native, numbers, largest, clients)
        else:
            self._scheme = Slotted(key, numbers, largest, clients)

    @property
    def size(self) -> int:
        """The number of numbers in an update."""
        return self._layers.size

    @property
    def slots(self) -> int:
        """The number of slots per ciphertext."""
        return self._scheme.slots

    @property
    def secret_weights(self) -> bool:
        """Whether weights are encrypted with the updates."""
        return self._secret

    @property
    def ciphertexts(self) -> int:
        """The number of ciphertexts in an update."""
        return self._scheme.ciphertexts

    @property
    def capacity(self) -> int:
        """The largest total weight of a sum; with secret weights, the largest number of updates in
        one.
        """
        return self._capacity

    def encrypt(
        self,
        update: Layers,
        *,
        weight: int = 1,
        clip: bool = False,
        private: PrivateKey | bfv.PrivateKey | None = None,
        progress: bool = False,
    ) -> EncryptedUpdate:
        """Encrypts an update, after rounding its numbers to the nearest step and multiplying them
        by the client's weight.

        Args:
            update: arrays of the agreed shapes.
            weight: 1 to `max_weight`. It is public unless the aggregator has secret weights.
            clip: clips numbers to the range instead of rejecting them. NaN and infinities are still
                rejected.
            private: the private key, if the client owns it: faster, and with BFV half the size.
            progress: shows a progress bar.

        Raises:
            NullError: a number is missing (masked, null).
            KeyMismatchError: the private key does not match.
            RangeError: a number is not finite, or exceeds the range and `clip` is not set.
            ShapeError: the arrays have other shapes.
        """
        weight = self._weight(weight)
        if private is not None:
            self._check_key(private.id)
        numbers = self._quantised(update, clip) * weight
        if self._secret:
            numbers, weight = np.append(numbers, np.int64(weight)), 1
        rows = self._scheme.encrypt(numbers, private, progress)
        return EncryptedUpdate(self._key.id, self._layout, weight, rows)

    def sum(
        self, updates: Iterable[EncryptedUpdate], *, weights: Sequence[int] | None = None, progress: bool = False
    ) -> EncryptedUpdate:
        """Returns the sum of updates, each multiplied by its weight if `weights` is given.

        Needs no private key.

        With Paillier, the sum of a single update consists of that update's own ciphertexts. Sums
        are not randomised, so anyone who knows the updates' ciphertexts can test guesses of the
        weights. `rerandomise` prevents this. With BFV, sums are randomised, since their noise would
        reveal information about the addends to the key owner.

        Raises:
            NumberError: a weight is not an integer.
            KeyMismatchError, ScaleError: an update belongs to another key, or to an aggregator with
                other arguments.
            RangeError: the total weight exceeds the headroom.
            ValueError: there is no update, the number of weights differs, or weights are given
                although they are secret (clients have already applied theirs).
        """
        every = list(updates)
        if self._secret and weights is not None:
            raise ValueError("the weights are secret: each client passes its own to encrypt")
        factors = [1] * len(every) if weights is None else [self._weight(weight) for weight in weights]
        if len(factors) != len(every) or not every:
            raise ValueError(f"{len(factors)} weights for {len(every)} updates")
        for update in every:
            self._check(update)
        total = sum(update.weight * factor for update, factor in zip(every, factors, strict=True))
        if total > self._capacity:
            text = f"a total weight of {total} exceeds the {self._capacity} that there is headroom for"
            raise RangeError(text, kind="headroom")
        rows = self._scheme.sum([update.rows(self._scheme) for update in every], factors, progress)
        return EncryptedUpdate(self._key.id, self._layout, total, rows)

    def aggregate(
        self,
        updates: Mapping[Any, EncryptedUpdate | bytes] | Iterable[Any],
        *,
        weights: Mapping[Any, int] | Sequence[int] | None = None,
        minimum: int = 1,
        progress: bool = False,
    ) -> Round[EncryptedUpdate]:
        """Returns the sum of all valid updates, for rounds that a single client must not be able to
        abort.

        Leaves out a client, with a warning that names it, if its weight is invalid, or if its
        update belongs to another key or aggregator, is damaged, is not an update, copies another
        client's, or is the second under one name. `sum` raises an error instead.

        Args:
            updates: updates by client name: a mapping or pairs. Without names, positions are the
                names. Bytes are read as those of `to_bytes`.
            weights: weights by the same names, or a sequence in the same order; 1 each by default.
                Weights of names without an update are ignored.
            minimum: smallest number of clients in a sum.
            progress: shows a progress bar.

        Raises:
            NumberError, RangeError: `minimum` is not an integer of at least 1; the total weight
                exceeds the headroom.
            TableError: fewer clients than `minimum` remain.
            ValueError: weights are given although they are secret, or a sequence of weights has the
                wrong length.
        """
        minimum = whole("minimum", minimum, 1)
        if self._secret and weights is not None:
            raise ValueError("the weights are secret: each client passes its own to encrypt")
        admission: Admission[EncryptedUpdate] = Admission(self._read, EncryptedUpdate.to_bytes)
        sent_by = list(named(updates))
        if weights is not None and not isinstance(weights, Mapping) and len(weights) != len(sent_by):
            # It is unknown which client's weight is missing or superfluous.
            raise ValueError(f"{len(weights)} weights for {len(sent_by)} updates")
        for position, (name, sent) in enumerate(sent_by):
            admission.add(name, sent, 1 if weights is None else _weight_of(weights, name, position))
        admission.check(minimum)
        every, factors = zip(*admission.admitted.values(), strict=True)
        total = self.sum(every, weights=None if self._secret else factors, progress=progress)
        return Round(total, tuple(admission.admitted), admission.left_out)

    def _read(self, sent: Any, weight: Any) -> tuple[EncryptedUpdate, int]:
        """Returns an update that a client sent, and its factor.

        Raises:
            HearithError: it cannot be summed.
            TypeError: it is not an update.
        """
        factor = self._weight(weight)
        update = self.update(bytes(sent)) if isinstance(sent, bytes | bytearray | memoryview) else sent
        if not isinstance(update, EncryptedUpdate):
            raise TypeError(f"an EncryptedUpdate or its bytes are needed, not {type(sent).__name__}")
        # A single client must not use up the headroom of all.
        most = 1 if self._secret else self._max_weight // factor
        whole("the weight of an update times its factor", update.weight, 1, most)
        self._check(update)
        return update, factor

    def rerandomise(self, update: EncryptedUpdate, *, progress: bool = False) -> EncryptedUpdate:
        """Returns the same update, or sum of updates, in ciphertexts that cannot be linked to the
        originals without the private key.

        Raises:
            KeyMismatchError, ScaleError: the update belongs to another key, or to an aggregator
                with other arguments.
        """
        self._check(update)
        others = self._scheme.rerandomise(update.rows(self._scheme), progress)
        return EncryptedUpdate(self._key.id, self._layout, update.weight, others)

    def update(self, data: bytes, *, weight: int = 1) -> EncryptedUpdate:
        """Reads an update from the bytes of `EncryptedUpdate.to_bytes`.

        Raises:
            CiphertextError: a ciphertext is not one of this key, or there are too few or too many.
            RangeError: the weight exceeds the headroom.
        """
        weight = whole("weight", weight, 1, self._capacity)
        update = EncryptedUpdate(self._key.id, self._layout, weight, self._scheme.read(data))
        self._check(update)
        return update

    def total(
        self,
        private: PrivateKey | bfv.PrivateKey,
        update: EncryptedUpdate | Round[EncryptedUpdate],
        *,
        progress: bool = False,
    ) -> Floats:
        """Decrypts the weighted sum in an update or a round's total.

        Returns arrays of the agreed shapes.

        Raises:
            RangeError: a slot exceeds the range times the total weight.
        """
        totals, _ = self._decrypted(private, update, progress)
        return self._shaped(totals, Fraction(1))

    def mean(
        self,
        private: PrivateKey | bfv.PrivateKey,
        update: EncryptedUpdate | Round[EncryptedUpdate],
        *,
        progress: bool = False,
    ) -> Floats:
        """Decrypts the weighted mean: the total divided by the total weight."""
        totals, weight = self._decrypted(private, update, progress)
        return self._shaped(totals, Fraction(1, weight))

    def total_weight(
        self, private: PrivateKey | bfv.PrivateKey, update: EncryptedUpdate | Round[EncryptedUpdate]
    ) -> int:
        """Returns the total weight of all updates in a sum, decrypted if weights are secret."""
        return self._decrypted(private, update, False)[1]

    def quantised(self, update: Layers, *, clip: bool = False) -> Floats:
        """Returns the update as it would be encrypted: rounded to multiples of the step, and
        clipped to the range if `clip` is set.
        """
        return self._shaped(self._quantised(update, clip), Fraction(1))

    @property
    def _layout(self) -> tuple[Any, ...]:
        """The parameters that must agree between updates in a sum."""
        return self._layers.arrays, self._steps, str(self._step), self._max_weight, self._capacity, self._secret

    def _quantised(self, update: Layers, clip: bool) -> npt.NDArray[np.int64]:
        scaled = np.rint(self._layers.flatten(update) / float(self._step))
        if clip:
            # NaN stays NaN. Infinities become NaN, so that they are rejected as well.
            scaled = np.where(np.isfinite(scaled), np.clip(scaled, -self._steps, self._steps), np.nan)
        outside = ~(np.abs(scaled) <= self._steps)
        if outside.any():
            text = f"number {int(np.argmax(outside))} is not finite or exceeds the range"
            raise RangeError(text, kind="out_of_range")
        return scaled.astype(np.int64)

    def _weight(self, weight: int) -> int:
        return whole("weight", weight, 1, self._max_weight)

    def _check(self, update: EncryptedUpdate) -> None:
        if not isinstance(update, EncryptedUpdate):
            raise TypeError(f"an EncryptedUpdate is needed, not {type(update).__name__}")
        if update.key_id != self._key.id:
            raise KeyMismatchError(f"the update is under key {update.key_id}, not {self._key.id}", kind="wrong_key")
        if update.layout != self._layout:
            text = "the update belongs to an aggregator with other shapes, range, step or headroom"
            raise ScaleError(text, kind="scales_differ")
        self._scheme.check(update.rows(self._scheme))

    def _check_key(self, key_id: str) -> None:
        if key_id != self._key.id:
            text = f"the updates are under key {self._key.id}, but this is key {key_id}"
            raise KeyMismatchError(text, kind="wrong_key")

    def _decrypted(
        self, private: PrivateKey | bfv.PrivateKey, update: EncryptedUpdate | Round[EncryptedUpdate], progress: bool
    ) -> tuple[Integers, int]:
        """Returns the weighted sums and the total weight."""
        self._check_key(private.id)
        if isinstance(update, Round):
            update = update.total
        self._check(update)
        weight = update.weight
        # A slot holds numbers of up to the largest weight; the total weight counts as that many
        # additions.
        additions = weight if self._secret else -(-weight // self._max_weight)
        found = self._scheme.decrypt(private, update.rows(self._scheme), additions, progress)
        if self._secret:
            weight = int(found[self.size])
            if not update.weight <= weight <= update.weight * self._max_weight:
                raise RangeError("the total weight is impossible for this many clients", kind="overflow")
        totals = found[: self.size]
        position = first_beyond(totals, self._steps * weight)
        if position is not None:
            raise RangeError(f"number {position}: the total exceeds what the weights allow", kind="overflow")
        return totals, weight

    def _shaped(self, integers: Integers, factor: Fraction) -> Floats:
        return self._layers.unflatten(np.asarray(integers, dtype=np.float64) * float(self._step * factor))


def _weight_of(weights: Any, name: Any, position: int) -> Any:
    """Returns the weight of a client; None if a mapping has none."""
    return weights.get(name) if isinstance(weights, Mapping) else weights[position]


def _exact(name: str, number: Number) -> Fraction:
    try:
        exact = Fraction(number.item() if isinstance(number, np.generic) else number)
        float(exact)
    except (OverflowError, ValueError):
        raise RangeError(f"{name} must be finite and fit into a float", kind="out_of_range") from None
    return exact
