"""Compares `hearith.phe` with python-paillier: single-value operations and phe's example programs.

The same lines run with both, each in its own process with one thread. Numbers are computed one by
one, as in a program written for `phe`. In the column *many*, all results of a loop are read
(`ciphertext(be_secure=False)`) after it. In the column *alone*, each is read before the next
operation begins, so that nothing can be deferred.

The example programs come from python-paillier's source, because its releases have none:
`--examples FOLDER` names their folder. They run whole, from the first import to the last line.
Unavailable or slow parts are replaced for both: the logistic regression downloads its mails from a
site that no longer exists, so synthetic mails of the same number of words are used, and the
benchmark runs keys of up to 2048 bits and a tenth of its operations.

    .venv/bin/python bench/python/phe_numbers.py --examples FOLDER

Writes bench/results/phe.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import compare_phe
import machine

import hearith as he
from hearith._native import PROFILE

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "bench/results/phe.md"

#: How to import each library under the name `phe`.
NAMED = {
    "phe": "import phe, sys",
    "hearith.phe": (
        "import sys, hearith, hearith.phe\n"
        "hearith.set_threads(1)\n"
        "for name in [name for name in sys.modules if (name + '.').startswith('hearith.phe.')]:\n"
        "    sys.modules[name.removeprefix('hearith.')] = sys.modules[name]\n"
        "import phe"
    ),
}

#: Operations on `a`, `b` (encrypted) and `x` (a float), with their labels.
OPERATIONS = {
    "add": "a + b",
    "add plain": "a + x",
    "multiply": "a * x",
    "multiply by a small integer": "a * k",
    "subtract": "a - b",
}

MEASURE = """
{named}
import json, random, time
random.seed(7)
public, private = phe.generate_paillier_keypair(n_length={bits})
count, few = {count}, {few}
xs = [random.uniform(-1000, 1000) for _ in range(count)]
ks = [random.randrange(1, 100) for _ in range(count)]
rates = {{}}

def measured(name, number, run):
    run(2)
    start = time.perf_counter()
    run(number)
    rates[name] = number / (time.perf_counter() - start)

numbers = [public.encrypt(x) for x in xs[:few]]
others = [public.encrypt(x) for x in reversed(xs[:few])]
many = [(numbers[i % few], others[i * 7 % few], xs[i], ks[i]) for i in range(count)]
take = lambda results: [result.ciphertext(be_secure=False) for result in results]
measured("encrypt", few, lambda number: take([public.encrypt(x) for x in xs[:number]]))
measured("decrypt", few, lambda number: [private.decrypt(a) for a in numbers[:number]])
measured("sum", count, lambda number: take([sum(a for a, *_ in many[:number])]))
for name, line in {operations}.items():
    operation = eval("lambda a, b, x, k: " + line)
    measured(name, count, lambda number: take([operation(*entry) for entry in many[:number]]))
    measured(name + ", alone", few, lambda number: [take([operation(*entry)]) for entry in many[:number]])
if hasattr(public, "keep_randomisers"):
    public.keep_randomisers(few + 2)
    while public.randomisers_kept < few + 2:
        time.sleep(0.01)
measured("encrypt, randomisers kept", few, lambda number: take([public.encrypt(x) for x in xs[:number]]))
print(json.dumps(rates))
"""


def main() -> None:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument("--count", type=int, default=1000, help="operations per loop")
    parser.add_argument("--few", type=int, default=64, help="encryptions and decryptions per loop")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--examples", type=Path, help="the folder with python-paillier's example programs")
    parser.add_argument("--json", action="store_true", help="print the rates and write nothing")
    arguments = parser.parse_args()
    rounds = [
        {library: rates(library, arguments) for library in ordered(NAMED, number)} for number in range(arguments.rounds)
    ]
    if arguments.json:
        print(json.dumps(rounds, indent=1))
        return
    examples = run_examples(arguments.examples, arguments.rounds) if arguments.examples else []
    RESULT.write_text(page(arguments, rounds, examples))
    print(RESULT.read_text())


def ordered(libraries: dict[str, str], number: int) -> list[str]:
    """Returns the libraries, in reverse order every other round."""
    return list(libraries)[:: -1 if number % 2 else 1]


def rates(library: str, arguments: argparse.Namespace) -> dict[str, float]:
    """Returns one library's operations per second."""
    sizes = {"bits": arguments.bits, "count": arguments.count, "few": arguments.few}
    program = MEASURE.format(named=NAMED[library], operations=OPERATIONS, **sizes)
    return json.loads(run(program).splitlines()[-1])


def run(program: str, **options: object) -> str:
    """Runs a program in its own process with one thread and returns its output."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False, **options
    )
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return done.stdout


#: The programs, and the replacements in them for both libraries.
EXAMPLES = {
    "alternative_base.py": {},
    "benchmarks.py": {
        "key_sizes = [128, 256, 512, 1024, 2048, 4096, 8192]": "key_sizes = [128, 256, 512, 1024, 2048]",
        "bench_time(1000, key_size)": "bench_time(100, key_size)",
    },
    "federated_learning_with_encryption.py": {},
    "logistic_regression_encrypted_model.py": {
        "    download_data()\n    X, y, X_test, y_test = preprocess_data()\n": "    X, y, X_test, y_test = mails()\n",
    },
}

#: Runs of a program that spends most of its time finding primes, whose duration is random.
MANY_KEYS = {"alternative_base.py": 41}

#: Mails with the average word count of the example's data, and as uneven.
MAILS = """
def mails(words=3000, train=500, test=300):
    import numpy as np
    from scipy.sparse import csr_matrix
    chance = np.random.default_rng(5)
    often = 1 / np.arange(1, words + 1)
    of_spam = chance.permutation(often)
    y = chance.choice([-1, 1], train + test)
    rows = [chance.multinomial(80, p / p.sum()) for p in (of_spam if spam > 0 else often for spam in y)]
    X = csr_matrix(np.array(rows))
    return X[:train], y[:train], X[train:], y[train:]
"""


def run_examples(folder: Path, rounds: int) -> list[tuple[str, dict[str, list[float]]]]:
    """Returns the seconds of each program with each library, round by round."""
    found = []
    for name, replaced in EXAMPLES.items():
        source = (folder / name).read_text()
        for old, new in replaced.items():
            if old not in source:
                raise SystemExit(f"{name}: an unknown edition of the program, without {old!r}")
            source = source.replace(old, new)
        seconds: dict[str, list[float]] = {library: [] for library in NAMED}
        for number in range(MANY_KEYS.get(name, rounds)):
            for library in ordered(NAMED, number):
                start = time.perf_counter()
                run(NAMED[library] + "\n" + MAILS + source)
                seconds[library].append(time.perf_counter() - start)
        found.append((name, seconds))
    return found


def ratio(ours: list[float], theirs: list[float]) -> str:
    """Returns the median of ratios, with the minimum and maximum."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return f"{statistics.median(ratios):.3g} ({min(ratios):.3g}..{max(ratios):.3g})"


def page(
    arguments: argparse.Namespace,
    rounds: list[dict[str, dict[str, float]]],
    examples: list[tuple[str, dict[str, list[float]]]],
) -> str:
    """Returns the page."""
    lines = [
        "# Single numbers compared with python-paillier",
        "",
        "Made by `bench/python/phe_numbers.py`, which runs the same lines with `phe` and with `hearith.phe`.",
        "",
        f"- Machine: {machine.model()}, {platform.system()} {platform.machine()}; one thread each",
        f"- Built in the profile `{PROFILE}`{compare_phe.NOTES[PROFILE]}",
        f"- Date: {datetime.now(UTC):%Y-%m-%d}",
        f"- Versions: hearith {he.__version__}, phe {compare_phe.phe.__version__} with gmpy2 {compare_phe.gmpy2.version()}, "
        f"Python {platform.python_version()}",
        f"- Method: keys of {arguments.bits} bits; loops of {arguments.count} operations, of {arguments.few} for encryption, decryption "
        f"and operations alone; {arguments.rounds} rounds in alternating order, medians, and the lowest and highest "
        "ratios. Above 1 `hearith.phe` is faster. *Alone*: each result's ciphertext is read before the next operation "
        "begins. *Randomisers kept*: computed beforehand by a low-priority thread (`keep_randomisers`), whose time is not "
        "counted.",
        "",
        "| operation | phe, per second | hearith.phe, per second | ratio |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name in rounds[0]["phe"]:
        theirs, mine = ([entry[library][name] for entry in rounds] for library in NAMED)
        rates = f"{statistics.median(theirs):,.0f} | {statistics.median(mine):,.0f}"
        lines.append(f"| {name} | {rates} | {ratio(mine, theirs)} |")
    lines += [
        "",
        "phe and `hearith.phe` multiply by a factor differently. phe's time depends on the factor, and it inverts only for "
        "a negative one. `hearith.phe` treats a factor and its sign as secret: all factors of up to 8, 16, ... bits take "
        "the same steps, and it always computes the ciphertext's inverse. In loops, many numbers share that cost; "
        "*multiply by a small integer, alone* shows it for one number.",
    ]
    if examples:
        lines += [
            "",
            "phe's example programs, from the start of Python to its end. `benchmarks.py` does not use the results of its "
            "sums and products, so `hearith.phe` does not compute them. `alternative_base.py` spends its time on "
            f"importing packages and finding two primes, which varies randomly: it ran {MANY_KEYS['alternative_base.py']} "
            "times with each.",
            "",
            "| program | phe, s | hearith.phe, s | times as fast |",
            "| --- | ---: | ---: | ---: |",
        ]
        for name, seconds in examples:
            theirs, mine = seconds["phe"], seconds["hearith.phe"]
            lines.append(
                f"| `{name}` | {statistics.median(theirs):.2f} | {statistics.median(mine):.2f} | {ratio(theirs, mine)} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
