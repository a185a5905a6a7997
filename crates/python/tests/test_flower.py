"""Flower's averaging of ciphertexts equals its averaging of plaintext arrays, for the strategy
alone and in a running federation.
"""

import importlib.util
import itertools
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from required import missing

if importlib.util.find_spec("flwr") is None:
    missing(
        "flower",
        "Flower and the fifty packages it needs are not among the test requirements: `make test-full` has them",
    )

from federation import agreed
from flwr.app import ArrayRecord, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg

import hearith as he
from hearith.errors import TableError
from hearith.federated import LeftOutWarning
from hearith.flower import EncryptedFedAvg, from_record, to_record

pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning")
STEP = 2**-16
APP = Path(__file__).parent / "flower_app"


class Reply:
    """A stand-in for `Message`, which Flower creates only in a running federation."""

    nodes = itertools.count(1)

    def __init__(self, content):
        self.content, self.metadata = content, SimpleNamespace(src_node_id=next(self.nodes))

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


def test_clients_that_send_no_update_are_left_out(keys, aggregator):
    update = layers(2)
    good = [reply(to_record(aggregator.encrypt(update)), count) for count in (10, 20)]
    bad = [
        reply(ArrayRecord(layers(0)), 1),
        *(reply(to_record(aggregator.encrypt(update)), weight) for weight in (51, 1.5, 0)),
    ]
    strategy = EncryptedFedAvg(aggregator)
    with pytest.warns(LeftOutWarning):
        record, _ = strategy.aggregate_train(1, [bad[0], good[0], *bad[1:], good[1]])
    assert list(strategy.left_out) == [one.metadata.src_node_id for one in bad]
    for found, wanted in zip(from_record(aggregator, record, keys[1]), aggregator.quantised(update), strict=True):
        assert np.allclose(found, wanted)
    with pytest.warns(LeftOutWarning), pytest.raises(TableError, match="fewer than 3"):
        EncryptedFedAvg(aggregator, minimum_clients=3).aggregate_train(1, [*bad, *good])


class Federation:
    """Flower's server and three clients, in separate processes that communicate over the loopback
    address.
    """

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        self.port, *self.client_ports = _free_ports(4)
        paths = [str(Path(he.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        self.environment = os.environ | {
            # Flower starts its own programs by name.
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "FLWR_HOME": str(folder / "flower"),
            "FLWR_TELEMETRY_ENABLED": "0",
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }

    def __enter__(self):
        public, self.private = he.generate_keypair(1024, insecure=True)
        _written(self.folder / "public.json", public.to_jwk())
        _written(self.folder / "private.json", self.private.to_jwk())
        (self.folder / "flower").mkdir()
        (self.folder / "flower" / "config.toml").write_text(
            f'[superlink]\ndefault = "live"\n\n[superlink.live]\naddress = "127.0.0.1:{self.port}"\ninsecure = true\n'
        )
        address = ["--host", "127.0.0.1", "--port", str(self.port)]
        self._start("flower-superlink", "--insecure", "--disable-runtime-dependency-installation", *address)
        for client, port in enumerate(self.client_ports):
            config = f'client={client} private="{self.folder / "private.json"}"'
            link = ["--superlink", f"127.0.0.1:{self.port}", "--port", str(port)]
            self._start("flower-supernode", "--insecure", *link, "--node-config", config)
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(timeout=60)

    def _start(self, program, *arguments):
        command = [program, *arguments]
        with (self.folder / f"{len(self.processes)}.log").open("w") as log:
            self.processes.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=log))

    def run(self, **config):
        """Runs the app with this configuration, and returns the last model's ciphertexts and its
        weight.
        """
        out = self.folder / f"model-{len(list(self.folder.glob('model-*')))}"
        entries = {"public": f'"{self.folder / "public.json"}"', "out": f'"{out}"', **config}
        text = " ".join(f"{name}={value}" for name, value in entries.items())
        command = ["flwr", "run", str(APP), "live", "--run-config", text]
        deadline, said = time.monotonic() + 400, ""
        # The server needs some time before it listens.
        while "Successfully started run" not in said:
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
            said = done.stdout + done.stderr
            self._check(deadline, said)
        while not out.exists():
            self._check(deadline, said)
        data = out.read_bytes()
        return data[8:], int.from_bytes(data[:8], "big"), self._logs()

    def _check(self, deadline, said):
        """Waits briefly; fails after the deadline or if a process has exited."""
        time.sleep(0.5)
        alive = all(process.poll() is None for process in self.processes)
        assert alive, said + self._logs()
        assert time.monotonic() < deadline, said + self._logs()

    def _logs(self):
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("*.log")))


def _free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _written(path, text):
    path.write_text(text)
    path.chmod(0o600)


@pytest.fixture(scope="module")
def federation(tmp_path_factory):
    with Federation(tmp_path_factory.mktemp("federation")) as running:
        yield running


def averaged(aggregator, secret, rounds=3):
    """Returns the last model, averaged in plaintext from the same rounded updates, and the weights
    it includes.
    """
    layers = agreed.FIRST
    for server_round in range(1, rounds + 1):
        clients = [client for client in range(3) if not agreed.drops_out(client, server_round, secret)]
        updates = [aggregator.quantised(agreed.trained(layers, client)) for client in clients]
        weights = [agreed.examples(client) for client in clients]
        layers = [np.average(parts, axis=0, weights=weights) for parts in zip(*updates, strict=True)]
    return layers, sum(weights)


@pytest.mark.parametrize("secret", [False, True], ids=["weights in the open", "secret weights, one client drops out"])
def test_a_live_federation(federation, secret):
    data, weight, logs = federation.run(secret=str(secret).lower())
    aggregator = agreed.aggregator(federation.private.public, secret)
    update = aggregator.update(data, weight=weight)
    wanted, examples = averaged(aggregator, secret)
    for found, right in zip(aggregator.mean(federation.private, update), wanted, strict=True):
        assert np.allclose(found, right, rtol=1e-12, atol=1e-12)
    assert aggregator.total_weight(federation.private, update) == examples
    assert weight == (3 if secret else examples), "of secret weights the server sees how many there are"
    assert ("this client drops out" in logs) == secret
