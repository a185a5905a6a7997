"""The arithmetic kernel under sums of ciphertexts, in a separate process."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Kernel:
    """The kernel in its own process, which computes the sums once per input line."""

    def __init__(self, key, file, groups, threads):
        """Starts it on `threads` threads with a key file and a ciphertext file."""
        binary = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/kernel"
        environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        self.process = subprocess.Popen([binary, key, file, str(groups)], env=environment, **pipes)
        self.engine = self.process.stdout.readline().split()[0]

    def round(self):
        """Returns the seconds for only the sums, and including reading the ciphertexts' bytes."""
        self.process.stdin.write("\n")
        return [float(field) for field in self.process.stdout.readline().split()]

    def close(self):
        """Ends the process."""
        self.process.stdin.close()
        self.process.wait()
