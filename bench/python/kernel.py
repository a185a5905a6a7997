"""The arithmetic kernel under sums of ciphertexts, in a process of its own."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Kernel:
    """The kernel in its own process, which sums once for every line that it is sent."""

    def __init__(self, key, file, groups, threads):
        """Starts it on so many threads with a key's file and one of ciphertexts."""
        binary = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/kernel"
        environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        self.process = subprocess.Popen([binary, key, file, str(groups)], env=environment, **pipes)
        self.engine = self.process.stdout.readline().split()[0]

    def round(self):
        """Seconds for the sums alone, and with reading the ciphertexts' bytes."""
        self.process.stdin.write("\n")
        return [float(field) for field in self.process.stdout.readline().split()]

    def close(self):
        """Ends the process."""
        self.process.stdin.close()
        self.process.wait()
