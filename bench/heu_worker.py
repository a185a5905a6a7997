"""Measures SecretFlow's HEU on request: its own keys, because it accepts no others, and arrays of
its numbers.

Reads one JSON object a line and answers with one:
  {"load": {"schema": "ZPaillier"|"OU", "bits": B, "rows": R}}  makes a key and R numbers, and checks what it gives -> {}
  {"run": "encrypt"|"decrypt"|"add", "rows": R, "repeats": N}   carries the operation out on the first R rows, N times over
      -> {"seconds": S, "output": []}
The first line out, before any request, is {"versions": ...}.
"""

import json
import os
import sys
import time
from importlib.metadata import version

# The library starts a second thread. Both run on one processor, so that one thread's work is
# measured.
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np
from heu import numpy as hnp
from heu import phe


class Session:
    """One key and its operands."""

    def __init__(self, load):
        self.kit = hnp.setup(getattr(phe.SchemaType, load["schema"]), load["bits"])
        self.values = np.random.default_rng(1).integers(-(2**40), 2**40, load["rows"])
        self.encryptor, self.decryptor = self.kit.encryptor(), self.kit.decryptor()
        self.plain, self.left, self.right = {}, {}, {}
        self.prepare(load["rows"])
        total = self.run("add", load["rows"])
        if self.decryptor.decrypt(total).to_numpy().tolist() != (2 * self.values).tolist():
            raise SystemExit("HEU returned wrong sums")

    def prepare(self, rows):
        if rows not in self.left:
            self.plain[rows] = self.kit.array(self.values[:rows])
            # Two encryptions: the product of a number with itself would be a square, which is
            # cheaper.
            self.left[rows], self.right[rows] = (self.encryptor.encrypt(self.plain[rows]) for _ in range(2))

    def run(self, name, rows):
        if name == "encrypt":
            return self.encryptor.encrypt(self.plain[rows])
        if name == "decrypt":
            return self.decryptor.decrypt(self.left[rows])
        if name == "add":
            return self.kit.evaluator().add(self.left[rows], self.right[rows])
        raise ValueError(name)


def answer(message):
    # A separate descriptor, because the library also writes to standard output.
    os.write(OUT, (json.dumps(message) + "\n").encode())


OUT = os.dup(1)
os.dup2(2, 1)


def main():
    answer({"versions": f"sf-heu {version('sf-heu')}"})
    session = None
    for line in sys.stdin:
        request = json.loads(line)
        if "load" in request:
            session = Session(request["load"])
            answer({})
            continue
        session.prepare(request["rows"])
        start = time.perf_counter()
        for _ in range(request["repeats"]):
            session.run(request["run"], request["rows"])
        answer({"seconds": time.perf_counter() - start, "output": []})


if __name__ == "__main__":
    main()
