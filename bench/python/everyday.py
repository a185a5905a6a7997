"""What thirty everyday lines give in Hearith and its peers: right, an error, or a wrong result.

    python bench/python/everyday.py --library hearith --out hearith.json    # in an environment that has the library
    python bench/python/everyday.py --table hearith.json phe.json ...       # writes bench/results/everyday.md

Every line is run as it stands on `c`, the encrypted vector [3, -1, 2], `d`, that of [1, 1, 1], and `m`, the encrypted matrix [[1, 2], [3, 4]], as a user of that
library makes them: an array where it has arrays, else a NumPy array of its numbers. Where a library spells an operation in its own way the
line is given in that spelling; "-" says that it has no such operation at all. A result is right if it decrypts to what NumPy computes on the
plain numbers, to ten digits where it is no whole number. An error is right where no answer is (`raises`).
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parents[1] / "results" / "everyday.md"
VECTOR, OTHER, MATRIX = [3, -1, 2], [1, 1, 1], [[1, 2], [3, 4]]
WRONG = "wrong"

#: What a user wants, the line, and what is right: a result, or `raises` for lines that must not pass.
RAISES = "raises"
LINES: list[tuple[str, str, Any]] = [
    ("add two vectors", "c + c", [6, -2, 4]),
    ("subtract", "c - d", [2, -2, 1]),
    ("add a number", "c + 5", [8, 4, 7]),
    ("a number minus a vector", "5 - c", [2, 6, 3]),
    ("add a plain vector", "c + np.array([1, 2, 3])", [4, 1, 5]),
    ("a plain vector on the left", "np.array([1, 2, 3]) + c", [4, 1, 5]),
    ("multiply by a number", "c * 3", [9, -3, 6]),
    ("multiply by a negative number", "c * -2", [-6, 2, -4]),
    ("multiply by a plain vector", "c * np.array([1, 2, 3])", [3, -2, 6]),
    ("multiply by a float", "c * 2.5", [7.5, -2.5, 5.0]),
    ("add floats", "c + np.array([0.5, 0.25, 1])", [3.5, -0.75, 3.0]),
    ("divide", "c / 4", [0.75, -0.25, 0.5]),
    ("a third", "c / 3", [1.0, -1 / 3, 2 / 3]),
    ("change the sign", "-c", [-3, 1, -2]),
    ("sum", "c.sum()", 4),
    ("Python's sum", "sum(c)", 4),
    ("mean", "c.mean()", 4 / 3),
    ("dot product", "c @ np.array([1, 2, 3])", 7),
    ("matrix times vector", "np.array([[1, 0, 2], [0, 1, 1]]) @ c", [7, 1]),
    ("encrypted matrix times vector", "m @ np.array([1, 1])", [3, 7]),
    ("sum of columns", "m.sum(axis=0)", [4, 6]),
    ("running sums", "np.cumsum(c)", [3, 2, 4]),
    ("a slice", "c[1:]", [-1, 2]),
    ("a mask", "c[np.array([True, False, True])]", [3, 2]),
    ("put together", "np.concatenate([c, c])", [3, -1, 2, 3, -1, 2]),
    ("reshape", "m.reshape(4)", [1, 2, 3, 4]),
    ("a missing value", "c + np.array([1, np.nan, 3])", RAISES),
    ("a masked value", "c + np.ma.array([1, 2, 3], mask=[0, 1, 0])", RAISES),
    ("lengths that differ", "c + np.array([1, 2])", RAISES),
    ("more than the key has room for", "c * big", RAISES),
]

#: Spellings of a library's own, by what a user wants.
OWN = {
    "heu": {
        "add two vectors": "ev.add(c, c)",
        "subtract": "ev.sub(c, d)",
        "add a number": "ev.add(c, array([5, 5, 5]))",
        "a number minus a vector": "ev.sub(array([5, 5, 5]), c)",
        "add a plain vector": "ev.add(c, array([1, 2, 3]))",
        "a plain vector on the left": "ev.add(array([1, 2, 3]), c)",
        "multiply by a number": "ev.mul(c, array([3, 3, 3]))",
        "multiply by a negative number": "ev.mul(c, array([-2, -2, -2]))",
        "multiply by a plain vector": "ev.mul(c, array([1, 2, 3]))",
        "multiply by a float": "ev.mul(c, array([2.5, 2.5, 2.5]))",
        "add floats": "ev.add(c, array([0.5, 0.25, 1]))",
        "divide": None,
        "a third": None,
        "change the sign": "ev.mul(c, array([-1, -1, -1]))",
        "sum": "ev.sum(c)",
        "mean": None,
        "dot product": "ev.matmul(array([[1, 2, 3]]), c)",
        "matrix times vector": "ev.matmul(array([[1, 0, 2], [0, 1, 1]]), c)",
        "encrypted matrix times vector": "ev.matmul(m, array([1, 1]))",
        "sum of columns": "ev.matmul(array([[1, 1]]), m)",
        "Python's sum": None,
        "running sums": None,
        "a mask": "c[[0, 2], :]",
        "a missing value": "ev.add(c, array([1, np.nan, 3]))",
        "a masked value": "ev.add(c, array(np.ma.array([1, 2, 3], mask=[0, 1, 0])))",
        "lengths that differ": "ev.add(c, array([1, 2]))",
        "more than the key has room for": "repeatedly(lambda x: ev.mul(x, array([2**62] * 3)), c, 36)",
        "put together": None,
        "reshape": None,
    },
    "tenseal": {
        "a number minus a vector": "c.neg() + 5",
        "change the sign": "c.neg()",
        "divide": None,
        "a third": None,
        "Python's sum": None,
        "a slice": None,
        "add a plain vector": "c + [1, 2, 3]",
        "a plain vector on the left": "[1, 2, 3] + c",
        "multiply by a plain vector": "c * [1, 2, 3]",
        "add floats": "c + [0.5, 0.25, 1]",
        "dot product": "c.dot([1, 2, 3])",
        "matrix times vector": None,
        "encrypted matrix times vector": None,
        "sum of columns": None,
        "running sums": None,
        "a mask": None,
        "put together": None,
        "reshape": None,
        "mean": None,
        "a missing value": "c + [1, float('nan'), 3]",
        "a masked value": "c + np.ma.array([1, 2, 3], mask=[0, 1, 0])",
        "lengths that differ": "c + [1, 2]",
        "more than the key has room for": "repeatedly(lambda x: x * 1000, c, 4)",
    },
}


class Library:
    """A library as its users meet it: what lines may name, and how results are decrypted."""

    def __init__(self, version_of: str, names: dict[str, Any], decrypt: Callable[[Any], Any]) -> None:
        self.version, self.decrypt = f"{version_of} {version_or_source(version_of)}", decrypt
        self.names = {"np": np, "repeatedly": repeatedly, "big": 2**3000, **names}


def version_or_source(name: str) -> str:
    """The version of an installed package, or that of this tree."""
    if name == "hearith":
        import hearith

        return hearith.__version__
    return version(name)


def repeatedly(function: Callable[[Any], Any], value: Any, times: int) -> Any:
    """A function of a function's result, several times."""
    for _ in range(times):
        value = function(value)
    return value


def names_of(encrypt: Callable[[Any], Any]) -> dict[str, Any]:
    """The encrypted numbers that lines name."""
    return {"c": encrypt(VECTOR), "d": encrypt(OTHER), "m": encrypt(MATRIX)}


def hearith() -> Library:
    import hearith as he

    public, private = he.generate_keypair(2048)
    return Library("hearith", names_of(public.encrypt), private.decrypt)


def phe() -> Library:
    import phe as paillier

    public, private = paillier.generate_paillier_keypair(n_length=2048)
    encrypt = np.vectorize(public.encrypt, otypes=[object])
    decrypt = np.vectorize(private.decrypt, otypes=[object])
    return Library("phe", names_of(lambda plain: encrypt(np.array(plain))), lambda found: decrypt(found).tolist())


def heu() -> Library:
    from heu import numpy as hnp
    from heu import phe as schemes

    kit = hnp.setup(schemes.SchemaType.ZPaillier, 2048)
    encrypt, names = kit.encryptor().encrypt, {"ev": kit.evaluator(), "array": kit.array}

    def decrypt(found: Any) -> Any:
        plain = kit.decryptor().decrypt(found)
        return plain.to_numpy() if hasattr(plain, "to_numpy") else int(str(plain))

    return Library("sf-heu", {**names_of(lambda plain: encrypt(kit.array(plain))), **names}, decrypt)


def tenseal() -> Library:
    import tenseal as ts

    context = ts.context(ts.SCHEME_TYPE.BFV, poly_modulus_degree=8192, plain_modulus=1032193)
    context.generate_galois_keys()

    def decrypt(found: Any) -> Any:
        plain = found.decrypt()
        return plain[0] if len(plain) == 1 else plain

    return Library("tenseal", names_of(lambda plain: ts.bfv_vector(context, np.ravel(plain).tolist())), decrypt)


LIBRARIES = {"hearith": hearith, "phe": phe, "heu": heu, "tenseal": tenseal}


def verdicts(name: str) -> dict[str, Any]:
    """What a library makes of every line."""
    library = LIBRARIES[name]()
    found = {what: verdict(library, OWN.get(name, {}).get(what, line), right) for what, line, right in LINES}
    return {"library": name, "version": library.version, "verdicts": found}


def verdict(library: Library, line: str | None, right: Any) -> str:
    """`right`, `wrong` with what came out, the name of an error, or "-"."""
    if line is None:
        return "-"
    try:
        result = library.decrypt(eval(line, dict(library.names)))
    except Exception as error:
        name = type(error).__name__
        return f"right ({name})" if right is RAISES else f"error ({name})"
    if right is RAISES:
        return f"{WRONG}: no error"
    numbers = np.asarray(np.array(result, dtype=object), dtype=float).reshape(-1)
    expected = np.asarray(right, dtype=float).reshape(-1)
    if numbers.shape == expected.shape and np.allclose(numbers, expected, rtol=1e-10, atol=1e-10):
        return "right"
    return f"{WRONG}: {', '.join(f'{number:g}' for number in numbers[:4])}"


def table(files: list[str]) -> str:
    """The page."""
    found = [json.loads(Path(file).read_text()) for file in files]
    heads = ["a user wants", "line", *(one["library"] for one in found)]
    rows = [[what, f"`{line}`", *(one["verdicts"][what] for one in found)] for what, line, _ in LINES]
    counts = []
    for one in found:
        kinds = [text.split()[0].strip(":") for text in one["verdicts"].values()]
        counts.append(
            ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("right", "error", "wrong", "-") if kind in kinds)
        )
    rows.append(["**all**", "", *counts])
    lines = ["| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads), *rows]]
    own = [f"- {library}: {what}: `{line}`" for library, lines_ in OWN.items() for what, line in lines_.items() if line]
    text = f"""# Thirty everyday lines

Made by `make bench-everyday` (`bench/python/everyday.py`), which says what counts as right. `c` is the encrypted vector [3, -1, 2],
`d` that of [1, 1, 1], `m` the encrypted matrix [[1, 2], [3, 4]], `big` is 2^3000. "-" is an operation that the library does not have; an error is right where no result would be.

- Versions: {"; ".join(one["version"] for one in found)}; NumPy {np.__version__}, Python {platform.python_version()}
- Schemes: Paillier, 2048 bits; TenSEAL's BFV with N = 8192 and a plaintext modulus of 20 bits, where larger numbers wrap around unseen
- Date: {datetime.now(UTC):%Y-%m-%d}

{chr(10).join(lines)}

Lines in a library's own spelling:

{chr(10).join(own)}
"""
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", choices=LIBRARIES, help="print what this library makes of the lines")
    parser.add_argument("--out", type=Path, help="into this file: libraries print lines of their own")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="write the table of what was printed into files")
    arguments = parser.parse_args()
    if arguments.table:
        RESULTS.write_text(table(arguments.table))
    elif arguments.library:
        text = json.dumps(verdicts(arguments.library), indent=1)
        if arguments.out:
            arguments.out.write_text(text)
        else:
            print(text)
    else:
        parser.error("--library or --table")


if __name__ == "__main__":
    main()
