"""Five hospitals train one model on their private data, and reveal neither the data nor its
gradients.

The model is a logistic regression on scikit-learn's breast cancer data (569 tumours, 30 features),
split into five parts of different sizes. Every client is a process with its part and the public
key. In each round it computes the gradient of its part and sends it encrypted. The server, another
process that holds only the public key, sums the gradients, each weighted by its client's number of
samples. The key owner decrypts the mean, which is the gradient over all samples, and distributes
the next model.

The program also trains the same model in plaintext and compares. The results are equal to the last
bit if the plaintext gradients are rounded to the same multiples of the step. Otherwise they are as
close as that rounding allows.

    python examples/federated.py [--bits 2048] [--rounds 40]
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import hearith as he

Vector: TypeAlias = npt.NDArray[np.float64]

CLIENTS = 5
LEARNING_RATE = 1.0
PENALTY = 1e-3
#: The largest feature bounds the gradients, which are rounded to multiples of 2^-24.
RANGE, STEP = 64, 2**-24


@dataclass(frozen=True)
class Part:
    """The samples of one client."""

    features: Vector
    labels: Vector


@dataclass
class Party:
    """The state of a process: the public key with the agreed layout, and a client's part."""

    aggregator: he.Aggregator
    part: Part | None


_party: Party


def join(jwk: str, part: Part | None, samples: int) -> None:
    """Initialises a client process, or the server process (without a part)."""
    global _party
    _party = Party(layout(he.PublicKey.from_jwk(jwk, insecure=True), samples), part)


def layout(public: he.PublicKey, samples: int) -> he.Aggregator:
    """Returns the parameters shared by all parties: 31 numbers, weights up to the number of
    samples.
    """
    like = np.zeros(31)
    return he.Aggregator(public, like, range=RANGE, step=STEP, clients=CLIENTS, max_weight=samples)


def client_round(model: Vector) -> he.EncryptedUpdate:
    """Encrypts the gradient of the client's part. Runs in a client process."""
    assert _party.part is not None
    return _party.aggregator.encrypt(gradient(_party.part, model))


def server_round(updates: list[he.EncryptedUpdate], weights: list[int]) -> he.EncryptedUpdate:
    """Computes the weighted sum. Runs in the server process."""
    return _party.aggregator.sum(updates, weights=weights)


def gradient(part: Part, model: Vector) -> Vector:
    """Returns the gradient of the mean logistic loss over a part's samples."""
    scores = part.features @ model
    errors = 1 / (1 + np.exp(-scores)) - part.labels
    return np.asarray(part.features.T @ errors / len(part.labels), dtype=np.float64)


def train(rounds: int, mean_gradient: Callable[[Vector], Vector]) -> Vector:
    """Runs gradient descent from 0."""
    model = np.zeros(31)
    for _ in range(rounds):
        model = model - LEARNING_RATE * (mean_gradient(model) + PENALTY * model)
    return model


def parts() -> list[Part]:
    """Returns the normalised data with a constant feature, in parts of different sizes."""
    # Imported here, since the client processes import this file but do not need it.
    from sklearn.datasets import load_breast_cancer

    data: Any = load_breast_cancer()
    features = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    features = np.hstack([features, np.ones((len(features), 1))])
    ends = np.cumsum([180, 50, 120, 19])
    pairs = zip(np.split(features, ends), np.split(data.target.astype(float), ends), strict=True)
    return [Part(features, labels) for features, labels in pairs]


def encrypted_training(private: he.PrivateKey, clients: list[Part], rounds: int) -> Vector:
    """Trains with every gradient encrypted."""
    weights = [len(part.labels) for part in clients]
    samples = sum(weights)
    aggregator = layout(private.public, samples)
    jwk = private.public.to_jwk()
    # Spawned processes do not inherit the owner's memory with the private key.
    context = multiprocessing.get_context("spawn")

    def process(part: Part | None) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, context, initializer=join, initargs=(jwk, part, samples))

    server, processes = process(None), [process(part) for part in clients]

    def mean_gradient(model: Vector) -> Vector:
        updates = [client.submit(client_round, model) for client in processes]
        total = server.submit(server_round, [update.result() for update in updates], weights).result()
        return np.asarray(aggregator.mean(private, total))

    try:
        return train(rounds, mean_gradient)
    finally:
        for pool in [server, *processes]:
            pool.shutdown()


def open_training(private: he.PrivateKey, clients: list[Part], rounds: int, rounded: bool) -> Vector:
    """Trains in plaintext, optionally with gradients rounded as for encryption."""
    samples = sum(len(part.labels) for part in clients)
    aggregator = layout(private.public, samples)

    def mean_gradient(model: Vector) -> Vector:
        gradients = [gradient(part, model) for part in clients]
        if rounded:
            gradients = [np.asarray(aggregator.quantised(one)) for one in gradients]
        total = sum(one * len(part.labels) for one, part in zip(gradients, clients, strict=True))
        return np.asarray(total * float(1 / samples)) if not rounded else np.asarray(total / STEP) * (STEP / samples)

    return train(rounds, mean_gradient)


def accuracy(model: Vector, clients: list[Part]) -> float:
    """Returns the share of correctly classified samples."""
    right = sum(int(((part.features @ model > 0) == (part.labels > 0.5)).sum()) for part in clients)
    return right / sum(len(part.labels) for part in clients)


def main() -> None:
    """Trains three times and compares the models."""
    parser = argparse.ArgumentParser(description="Federated training under encryption")
    parser.add_argument("--bits", type=int, default=2048, help="bits of the key (below 2048: for tests only)")
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()

    _, private = he.generate_keypair(arguments.bits, "djn", insecure=arguments.bits < he.MIN_SECURE_BITS)
    clients = parts()
    encrypted = encrypted_training(private, clients, arguments.rounds)
    rounded = open_training(private, clients, arguments.rounds, rounded=True)
    plain = open_training(private, clients, arguments.rounds, rounded=False)

    difference = float(np.abs(encrypted - plain).max())
    print(f"accuracy {accuracy(encrypted, clients):.4f} encrypted, {accuracy(plain, clients):.4f} in the open")
    print(f"equal to open training with rounded gradients: {bool((encrypted == rounded).all())}")
    print(f"largest difference from open training: {difference:.1e} (steps of {STEP:.1e})")
    # Every round adds at most half a step, times the learning rate. The loss is convex, so errors
    # are not amplified.
    if not (encrypted == rounded).all() or difference > LEARNING_RATE * arguments.rounds * STEP / 2:
        raise SystemExit("the encrypted training went another way")


if __name__ == "__main__":
    main()
