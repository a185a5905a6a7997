"""What server and clients agree on."""

import numpy as np

import hearith as he

#: The model of the first round.
FIRST = [np.zeros((2, 3)), np.zeros(2)]


def aggregator(public, secret):
    """The aggregator that all parties make alike."""
    return he.Aggregator(public, FIRST, range=8, step=2**-16, clients=3, max_weight=100, secret_weights=bool(secret))


def trained(layers, client):
    """What training makes of a model: halves it, and adds the client's own."""
    random = np.random.default_rng(client)
    return [layer / 2 + random.normal(size=layer.shape) for layer in layers]


def examples(client):
    """How many examples a client has."""
    return 10 + 20 * client


def drops_out(client, server_round, secret):
    """Whether a client fails in a round: one does, in the second of the run with secret weights."""
    return bool(secret) and client == 1 and server_round == 2
