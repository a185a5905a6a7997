"""The server: it has the public key, and writes what it holds in the end."""

from pathlib import Path

from flwr.app import ArrayRecord
from flwr.serverapp import ServerApp

import hearith as he
from federation.agreed import FIRST, aggregator
from hearith.flower import EncryptedFedAvg

app = ServerApp()


@app.main()
def main(grid, context):
    config = context.run_config
    public = he.PublicKey.load(config["public"], insecure=True)
    nodes = {"min_train_nodes": 3, "min_available_nodes": 3, "fraction_evaluate": 0.0}
    strategy = EncryptedFedAvg(aggregator(public, config["secret"]), **nodes)
    result = strategy.start(grid=grid, initial_arrays=ArrayRecord(FIRST), num_rounds=config["rounds"], timeout=120)
    ciphertexts, weight = (result.arrays[name].numpy() for name in ("hearith.ciphertexts", "hearith.weight"))
    whole = Path(config["out"] + ".part")
    whole.write_bytes(int(weight).to_bytes(8, "big") + ciphertexts.tobytes())
    whole.rename(config["out"])
