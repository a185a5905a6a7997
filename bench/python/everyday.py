"""Runs everyday lines in Hearith and its peers and records the outcome: right, an error, or wrong.

    python bench/python/everyday.py --library hearith --out hearith.json    # in an environment that has the library
    python bench/python/everyday.py --table hearith.json phe.json ...       # writes bench/results/everyday.md

The lines follow examples in the documentation of NumPy, pandas and python-paillier, and none is
left out because it fails. They use `c`, the encrypted vector [3, -1, 2], `d`, that of [1, 1, 1],
`m`, the encrypted matrix [[1, 2], [3, 4]], and `e`, the encrypted vector [0.5, 1.25, -2]. These are
made as a user of the library would make them: arrays if it has them, else NumPy arrays of its
numbers. A line is spelled in the library's own way where that differs; "-" means that the library
lacks the operation, or decimal numbers for `e`. A result is right if it decrypts to the result of
the same line on plaintexts, to ten digits if it is not an integer. An error is right if the line
has no answer (`RAISES`). A product of two encrypted numbers may be an error, although BFV supports
it (`EITHER`).
"""

from __future__ import annotations

import argparse
import json
import platform
import re
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parents[1] / "results" / "everyday.md"
VECTOR, OTHER, MATRIX, DECIMALS = [3, -1, 2], [1, 1, 1], [[1, 2], [3, 4]], [0.5, 1.25, -2]
WRONG = "wrong"

#: The right outcome: the line's result on plaintexts, an error, or either, if schemes differ.
PLAIN, RAISES, EITHER = "plain", "raises", "either"
#: The user's goal, the line, and the right outcome.
LINES: list[tuple[str, str, str]] = [
    ("add two vectors", "c + c", PLAIN),
    ("subtract", "c - d", PLAIN),
    ("add a number", "c + 5", PLAIN),
    ("a number minus a vector", "5 - c", PLAIN),
    ("add a plain vector", "c + np.array([1, 2, 3])", PLAIN),
    ("a plain vector on the left", "np.array([1, 2, 3]) + c", PLAIN),
    ("multiply by a number", "c * 3", PLAIN),
    ("multiply by a negative number", "c * -2", PLAIN),
    ("multiply by a plain vector", "c * np.array([1, 2, 3])", PLAIN),
    ("multiply by a float", "c * 2.5", PLAIN),
    ("add floats", "c + np.array([0.5, 0.25, 1])", PLAIN),
    ("divide", "c / 4", PLAIN),
    ("a third", "c / 3", PLAIN),
    ("divide by a vector", "c / np.array([1, 2, 4])", PLAIN),
    ("change the sign", "-c", PLAIN),
    ("integers and decimals", "c + e", PLAIN),
    ("decimals minus integers", "e - c", PLAIN),
    ("multiply decimals", "e * 0.125", PLAIN),
    ("a weighted sum", "0.1 * c + 0.2 * d", PLAIN),
    ("an exponential average", "0.3 * c + 0.7 * (0.3 * d + 0.7 * e)", PLAIN),
    ("centre", "c - c.mean()", PLAIN),
    ("standardise", "(c - c.mean()) / 1.7", PLAIN),
    ("a gradient step", "c - 0.01 * (np.array([[0.5, 1, 2], [1, 0, 1]]).T @ (m[:, 0] - 1))", PLAIN),
    ("a NumPy scalar on the left", "np.float64(2.5) * c", PLAIN),
    ("a NumPy scalar of 32 bits", "np.float32(0.5) * c", PLAIN),
    ("sum", "c.sum()", PLAIN),
    ("Python's sum", "sum(c)", PLAIN),
    ("a list of sums", "[x + 1 for x in c]", PLAIN),
    ("mean", "c.mean()", PLAIN),
    ("NumPy's mean", "np.mean(c)", PLAIN),
    ("weighted mean", "np.average(c, weights=[3, 1, 1])", PLAIN),
    ("weighted mean of columns", "np.average(m, axis=0, weights=[1, 3])", PLAIN),
    ("dot product", "c @ np.array([1, 2, 3])", PLAIN),
    ("np.dot", "np.dot(c, [1, 2, 3])", PLAIN),
    ("matrix times vector", "np.array([[1, 0, 2], [0, 1, 1]]) @ c", PLAIN),
    ("encrypted matrix times vector", "m @ np.array([1, 1])", PLAIN),
    ("two layers", "(m @ np.array([[0.5, 1], [2, 0.25]])) @ np.array([[1.5], [2]])", PLAIN),
    ("inner product", "np.inner(c, [1, 0, 2])", PLAIN),
    ("outer product", "np.outer(c, [1, 2])", PLAIN),
    ("Kronecker product", "np.kron(c, [1, 2])", PLAIN),
    ("cross product", "np.cross(c, [1, 2, 3])", PLAIN),
    ("tensordot", "np.tensordot(m, np.array([[1, 2], [3, 4]]), axes=1)", PLAIN),
    ("einsum", "np.einsum('ij,j->i', m, [1, 2])", PLAIN),
    ("trace by einsum", "np.einsum('ii', m)", PLAIN),
    ("trace", "np.trace(m)", PLAIN),
    ("vdot", "np.vdot(m, [[1, 2], [3, 4]])", PLAIN),
    ("sum of columns", "m.sum(axis=0)", PLAIN),
    ("sum that keeps its dimensions", "m.sum(axis=1, keepdims=True)", PLAIN),
    ("np.sum", "np.sum(m, axis=(0, 1))", PLAIN),
    ("a sum where", "np.sum(c, where=[True, False, True])", PLAIN),
    ("a sum with a start", "np.sum(c, initial=5)", PLAIN),
    ("running sums", "np.cumsum(c)", PLAIN),
    ("differences", "np.diff(c)", PLAIN),
    ("second differences", "np.diff(c, n=2)", PLAIN),
    ("differences from 0", "np.diff(c, prepend=0)", PLAIN),
    ("a gradient", "np.gradient(c)", PLAIN),
    ("an integral", "np.trapezoid(c)", PLAIN),
    ("convolution", "np.convolve(c, [1, 2])", PLAIN),
    ("a moving average", "np.convolve(c, np.ones(2) / 2, mode='valid')", PLAIN),
    ("correlation", "np.correlate(c, [0, 1, 0.5])", PLAIN),
    ("interpolation", "np.interp([0.5, 1.5], [0, 1, 2], c)", PLAIN),
    ("a polynomial", "np.polyval(c, 2)", PLAIN),
    ("count with weights", "np.bincount([0, 1, 0], weights=c)", PLAIN),
    ("broadcast", "c[:, np.newaxis] * np.array([1, 2])", PLAIN),
    ("add columns and rows", "m + np.array([[10], [20]])", PLAIN),
    ("np.add.outer", "np.add.outer(c, [1, 2])", PLAIN),
    ("an element", "m[1, 0]", PLAIN),
    ("a slice", "c[1:]", PLAIN),
    ("backwards", "c[::-1]", PLAIN),
    ("a column", "m[:, 1]", PLAIN),
    ("several places", "c[[2, 0]]", PLAIN),
    ("a mask", "c[np.array([True, False, True])]", PLAIN),
    ("np.take", "np.take(c, [0, 2])", PLAIN),
    ("put together", "np.concatenate([c, c])", PLAIN),
    ("integers and decimals together", "np.concatenate([c, e])", PLAIN),
    ("stack", "np.stack([c, d])", PLAIN),
    ("vstack", "np.vstack([c, d])", PLAIN),
    ("hstack", "np.hstack([c, d])", PLAIN),
    ("an array of arrays", "np.array([c, d])", PLAIN),
    ("blocks", "np.block([[m, m]])", PLAIN),
    ("split", "np.split(c, 3)", PLAIN),
    ("array_split", "np.array_split(m, 2, axis=1)", PLAIN),
    ("where", "np.where([True, False, True], c, d)", PLAIN),
    ("where with a constant", "np.where([True, False, True], c, 0 * c)", PLAIN),
    ("select", "np.select([[True, False, False], [False, True, True]], [c, d])[:2]", PLAIN),
    ("append", "np.append(c, d)", PLAIN),
    ("delete", "np.delete(c, 1)", PLAIN),
    ("insert", "np.insert(c, 1, d[0])", PLAIN),
    ("pad", "np.pad(c, 1, mode='edge')", PLAIN),
    ("pad with zeros", "np.pad(c, (1, 1))", PLAIN),
    ("repeat", "np.repeat(c, 2)", PLAIN),
    ("tile", "np.tile(c, 2)", PLAIN),
    ("roll", "np.roll(c, 1)", PLAIN),
    ("flip", "np.flip(m, axis=1)", PLAIN),
    ("transpose", "m.T", PLAIN),
    ("reshape", "m.reshape(4)", PLAIN),
    ("ravel", "np.ravel(m)", PLAIN),
    ("diagonal", "np.diagonal(m)", PLAIN),
    ("a diagonal matrix", "np.diag(c)", PLAIN),
    ("upper triangle", "np.triu(m)", PLAIN),
    ("squeeze", "np.squeeze(m[:1])", PLAIN),
    ("along an axis", "np.apply_along_axis(lambda row: row.sum(), 1, m)", PLAIN),
    ("windows", "np.lib.stride_tricks.sliding_window_view(c, 2).sum(axis=1)", PLAIN),
    ("a vectorised function", "np.vectorize(lambda x: 2 * x + 1, otypes=[object])(c)", PLAIN),
    ("pandas: a series plus a series", "pd.Series(c) + pd.Series(d)", PLAIN),
    ("pandas: a series times a number", "pd.Series(c) * 2.5", PLAIN),
    ("pandas: sum", "pd.Series(c).sum()", PLAIN),
    ("pandas: mean", "pd.Series(c).mean()", PLAIN),
    ("pandas: running sums", "pd.Series(c).cumsum()", PLAIN),
    ("pandas: differences", "pd.Series(c).diff().iloc[1:]", PLAIN),
    ("pandas: shift", "pd.Series(c).shift(1).iloc[1:]", PLAIN),
    ("pandas: sums of groups", "pd.Series(c).groupby(['a', 'b', 'a']).sum()", PLAIN),
    ("pandas: sums of a frame's groups", "pd.DataFrame({'k': [1, 2, 1], 'x': c}).groupby('k')['x'].sum()", PLAIN),
    ("pandas: rolling sums", "pd.Series(c).rolling(2).sum().iloc[1:]", PLAIN),
    ("pandas: apply", "pd.Series(c).apply(lambda x: x * 2)", PLAIN),
    ("pandas: concat", "pd.concat([pd.Series(c), pd.Series(d)])", PLAIN),
    ("pandas: rows of a frame", "pd.DataFrame({'x': c, 'y': d}).sum(axis=1)", PLAIN),
    ("pandas: a product of columns", "pd.DataFrame({'x': c, 'w': [1, 2, 3]}).eval('x * w')", PLAIN),
    ("pandas: dot", "pd.Series(c).dot(np.array([1, 2, 3]))", PLAIN),
    ("pandas: choose rows", "pd.DataFrame({'k': [1, 2, 1], 'x': c}).loc[lambda f: f.k == 1, 'x']", PLAIN),
    ("a missing value", "c + np.array([1, np.nan, 3])", RAISES),
    ("a masked value", "c + np.ma.array([1, 2, 3], mask=[0, 1, 0])", RAISES),
    ("lengths that differ", "c + np.array([1, 2])", RAISES),
    ("more than the key has room for", "c * big", RAISES),
    ("compare", "c > 1", RAISES),
    ("compare with another", "c == d", RAISES),
    ("the largest", "np.max(c)", RAISES),
    ("sort", "np.sort(c)", RAISES),
    ("a product of two", "c * d", EITHER),
    ("a standard deviation", "np.std(c)", RAISES),
    ("a square", "c**2", EITHER),
    ("pandas: the largest", "pd.Series(c).max()", RAISES),
]

#: A library's own spellings, by the user's goal.
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
    """A library as its users see it: the names that lines may use, and how to decrypt results."""

    def __init__(self, version_of: str, names: dict[str, Any], decrypt: Callable[[Any], Any]) -> None:
        self.version, self.decrypt = f"{version_of} {version_or_source(version_of)}", decrypt
        self.names = {"np": np, "pd": pd, "repeatedly": repeatedly, "big": 2**3000, **names}


def version_or_source(name: str) -> str:
    """Returns the version of an installed package, or that of this tree."""
    if name == "hearith":
        import hearith

        return hearith.__version__
    return version(name)


def repeatedly(function: Callable[[Any], Any], value: Any, times: int) -> Any:
    """Applies a function repeatedly."""
    for _ in range(times):
        value = function(value)
    return value


def names_of(encrypt: Callable[[Any], Any]) -> dict[str, Any]:
    """Returns the encrypted numbers that lines name."""
    return {"c": encrypt(VECTOR), "d": encrypt(OTHER), "m": encrypt(MATRIX)}


#: Names for evaluating the lines on plaintexts.
NUMBERS = {"np": np, "pd": pd, **names_of(np.array), "e": np.array(DECIMALS)}


def hearith() -> Library:
    import hearith as he

    public, private = he.generate_keypair(2048)
    return Library("hearith", {**names_of(public.encrypt), "e": public.encrypt(DECIMALS, scale=2)}, private.decrypt)


def phe() -> Library:
    import phe as paillier

    public, private = paillier.generate_paillier_keypair(n_length=2048)
    encrypt = np.vectorize(public.encrypt, otypes=[object])
    decrypt = np.vectorize(private.decrypt, otypes=[object])
    names = {**names_of(lambda plain: encrypt(np.array(plain))), "e": encrypt(np.array(DECIMALS))}
    return Library("phe", names, decrypt)


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
    """Returns a library's outcomes for every line."""
    library = LIBRARIES[name]()
    found = {what: verdict(library, OWN.get(name, {}).get(what, line), line, right) for what, line, right in LINES}
    return {"library": name, "version": library.version, "verdicts": found}


def verdict(library: Library, spelling: str | None, line: str, right: str) -> str:
    """Returns `right`, `wrong` with the result, the name of an error, or "-"."""
    if spelling is None or (re.search(r"\be\b", spelling) and "e" not in library.names):
        return "-"
    try:
        result = decrypted(library, eval(spelling, dict(library.names)))
    except Exception as error:
        name = type(error).__name__
        return f"right ({name})" if right in (RAISES, EITHER) else f"error ({name})"
    if right == RAISES:
        return f"{WRONG}: no error"
    expected = flat(eval(line, dict(NUMBERS)))
    try:
        numbers = flat(result)
    except Exception as error:
        return f"error ({type(error).__name__})"
    if numbers.shape == expected.shape and np.allclose(numbers, expected, rtol=1e-10, atol=1e-10):
        return "right"
    return f"{WRONG}: {', '.join(f'{number:g}' for number in numbers[:4])}"


def decrypted(library: Library, result: Any) -> Any:
    """Decrypts a line's result; lists of arrays are decrypted one by one."""
    if isinstance(result, list | tuple):
        return [decrypted(library, one) for one in result]
    return library.decrypt(result)


def flat(numbers: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Flattens an array, or lists of arrays, row by row."""
    if isinstance(numbers, list | tuple):
        return np.concatenate([np.empty(0), *map(flat, numbers)])
    return np.ravel(np.asarray(numbers, dtype=object)).astype(float)


def table(files: list[str]) -> str:
    """Returns the page."""
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
    text = f"""# Everyday lines

Made by `make bench-everyday` (`bench/python/everyday.py`), which defines the right results. The {len(LINES)} lines follow examples in the
documentation of NumPy, pandas and python-paillier. `c` is the encrypted vector [3, -1, 2], `d` that of [1, 1, 1], `e` that of
[0.5, 1.25, -2], `m` the encrypted matrix [[1, 2], [3, 4]], `big` is 2^3000. "-" marks an operation that the library does not have, or
a line with decimals if it only has integers. An error is right if there can be no result.

- Versions: {"; ".join(one["version"] for one in found)}; NumPy {np.__version__}, Python {platform.python_version()}
- Schemes: Paillier, 2048 bits; TenSEAL's BFV with N = 8192 and a plaintext modulus of 20 bits, where larger numbers wrap around silently
- Date: {datetime.now(UTC):%Y-%m-%d}

{chr(10).join(lines)}

Lines in a library's own form:

{chr(10).join(own)}
"""
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", choices=LIBRARIES, help="print this library's results for the lines")
    parser.add_argument("--out", type=Path, help="write to this file, since libraries print lines themselves")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="write the table from the printed results in these files")
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
