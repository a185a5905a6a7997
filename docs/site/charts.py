"""Draws docs/charts/*.svg from the tables in bench/results.

    python docs/site/charts.py

The first lines of each chart name its source page and that page's SHA-256, so that a check can
detect outdated charts (scripts/tests/test_site.py).
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tables import number, table

ROOT = Path(__file__).resolve().parents[2]
RESULTS, CHARTS = ROOT / "bench" / "results", ROOT / "docs" / "charts"
#: Colours that readers with red-green colour blindness can distinguish.
OURS, OTHERS, WARNING, NONE = "#0b5394", "#6aa9e0", "#d9822b", "#c4c9d0"

mpl.rcParams.update({"svg.hashsalt": "hearith", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9})


def operations(axes: Axes, page: Path) -> None:
    """Draws the speed-up over python-paillier in operations per second, at 2048 bits on one
    thread.
    """
    found = table(page, "2048 bits", "library")
    ratios = {
        operation: number(ratio)
        for operation, library, ratio in zip(
            found.column("operation"), found.column("library"), found.column("phe"), strict=True
        )
        if library == "hearith (ifma)" and number(ratio) is not None
    }
    # Keeps only the default decryption, and leaves out the part of encryption that remains when
    # randomisers are precomputed.
    leave = [name for name in ratios if name.startswith("decrypt,") and "default" not in name] + [
        "encrypt, online part"
    ]
    names = [name for name in ratios if name not in leave]
    bars = axes.barh(names[::-1], [ratios[name] or 0 for name in names[::-1]], color=OURS)
    axes.bar_label(bars, fmt="{:.3g}", padding=3)
    axes.set_xlabel("times python-paillier (with gmpy2), one thread, keys of 2048 bits")


def products(axes: Axes, page: Path) -> None:
    """Draws the speed-up over FLINT and GMP for very long products, by length."""
    found = table(page, "Products", "x FLINT")
    units = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
    bits = [(number(cell) or 0) * units.get(cell.split()[-1], 1) for cell in found.column("bits")]
    for column, name, colour in (("x GMP", "GMP", OTHERS), ("x FLINT", "FLINT's fft_small", OURS)):
        points = [(size, number(cell)) for size, cell in zip(bits, found.column(column), strict=True) if number(cell)]
        axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name, color=colour)
    axes.axhline(1, color=NONE, linewidth=1)
    axes.set_xscale("log")
    axes.set_ylim(0)
    axes.set_xlabel("bits of each factor")
    axes.set_ylabel("times as fast as")
    axes.legend(frameon=False)


def everyday(axes: Axes, page: Path) -> None:
    """Draws the outcomes of everyday lines of Python in four libraries."""
    found = table(page, "Everyday lines", "a user wants")
    libraries = found.columns[2:]
    kinds = {"right": OURS, "error": OTHERS, "wrong": WARNING, "-": NONE}
    names = {"right": "right", "error": "an error", "wrong": "wrong, unseen", "-": "not there"}
    left = [0] * len(libraries)
    for kind, colour in kinds.items():
        counts = [
            sum(cell.split()[0].strip(":") == kind for cell in found.column(library)[:-1]) for library in libraries
        ]
        bars = axes.barh(libraries, counts, left=left, color=colour, label=names[kind])
        axes.bar_label(bars, [str(count) if count else "" for count in counts], label_type="center", color="white")
        left = [before + count for before, count in zip(left, counts, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel(f"of {len(found.column(libraries[0])) - 1} lines")
    axes.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))


#: For each chart: the page with its figures, and the function that draws it.
ALL: dict[str, tuple[str, Callable[[Axes, Path], None]]] = {
    "operations": ("paillier.md", operations),
    "products": ("ntt.md", products),
    "everyday": ("everyday.md", everyday),
}


def drawn(page: Path, draw: Callable[[Axes, Path], None]) -> str:
    """Returns a chart as SVG."""
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    draw(axes, page)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    source = f"<!-- from {page.relative_to(ROOT)}, SHA-256 {hashlib.sha256(page.read_bytes()).hexdigest()} -->"
    head, rest = text.getvalue().split("\n", 1)
    lines = [line.rstrip() for line in rest.splitlines()]
    return "\n".join([head, source, *lines]) + "\n"


def main() -> None:
    """Draws all charts."""
    CHARTS.mkdir(exist_ok=True)
    for name, (page, draw) in ALL.items():
        (CHARTS / f"{name}.svg").write_text(drawn(RESULTS / page, draw))


if __name__ == "__main__":
    main()
