"""`np.einsum` with one encrypted operand."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from hearith._linear import exact, product
from hearith._rows import Rows
from hearith.errors import ShapeError

#: The letters for numeric labels, in order.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def einsum(*given: Any, optimize: Any = False) -> Any:
    """Implements `np.einsum`, with subscripts as text or as lists of labels."""
    del optimize
    subscripts, *operands = given if isinstance(given[0], str) else _as_text(given)
    encrypted = [position for position, operand in enumerate(operands) if isinstance(operand, Rows)]
    if len(encrypted) > 1:
        raise TypeError("the product of two encrypted numbers cannot be computed from Paillier ciphertexts")
    labels, out = _labels(subscripts, [np.ndim(operand) for operand in operands])
    ours, numbers = labels.pop(encrypted[0]), operands[encrypted[0]]
    others = [operand for operand in operands if operand is not numbers]
    if not others:
        return product(numbers, ours, 1, "", out)
    if len(others) == 1:
        return product(numbers, ours, others[0], labels[0], out)
    return product(numbers, ours, *_together(others, labels, {*ours, *out}), out)


def _as_text(given: Sequence[Any]) -> list[Any]:
    """Converts operands that are followed by lists of labels, and optionally the result's labels,
    to subscripts and operands.
    """
    arrays, lists = given[: len(given) // 2 * 2 : 2], [*given[1::2], *given[-1:][: len(given) % 2]]
    texts = ["".join(map(_letter, some)) for some in lists]
    return [",".join(texts[: len(arrays)]) + "".join(f"->{text}" for text in texts[len(arrays) :]), *arrays]


def _letter(label: Any) -> str:
    """Returns the letter for a numeric label.

    Raises:
        ShapeError: the number is out of range.
    """
    if label is Ellipsis:
        return "..."
    position = operator.index(label)
    if not 0 <= position < len(_LETTERS):
        raise ShapeError(f"einsum labels are from 0 to {len(_LETTERS) - 1}, not {position}", kind="dimensions")
    return _LETTERS[position]


def _together(arrays: Sequence[Any], labels: Sequence[str], kept: set[str]) -> tuple[Any, str]:
    """Returns the exact product of plaintext arrays, summed over all labels but `kept`, and its
    labels.
    """
    left = "".join(sorted({label for some in labels for label in some} & kept))
    return np.einsum(f"{','.join(labels)}->{left}", *map(exact, arrays)), left


def _labels(subscripts: str, dimensions: Sequence[int]) -> tuple[list[str], str]:
    """Returns the labels of all operands and of the result, with unused letters for an ellipsis.

    Raises:
        ShapeError: the subscripts do not match the operands.
    """
    inputs, arrow, out = subscripts.replace(" ", "").partition("->")
    given = inputs.split(",")
    if len(given) != len(dimensions):
        raise ShapeError(f"subscripts for {len(given)} operands, but {len(dimensions)} operands", kind="lengths")
    free = [letter for letter in _LETTERS if letter not in subscripts]
    widest = 0
    found = []
    for some, count in zip(given, dimensions, strict=True):
        before, dots, after = some.partition("...")
        rest = count - len(before) - len(after)
        if rest < 0 or (rest and not dots):
            raise ShapeError(f"einsum subscripts {some!r} do not fit {count} dimensions", kind="dimensions")
        widest = max(widest, rest)
        found.append((before, rest, after))
    whole = "".join(free[:widest])
    labels = [before + whole[widest - rest :] + after for before, rest, after in found]
    if not arrow:
        counts = Counter("".join(before + after for before, _, after in found))
        out = "..." + "".join(sorted(label for label, count in counts.items() if count == 1))
    out = out.replace("...", whole)
    for label in out:
        if out.count(label) > 1 or not any(label in some for some in labels):
            raise ShapeError(f"einsum result label {label!r} is repeated, or no operand has it", kind="dimensions")
    return labels, out
