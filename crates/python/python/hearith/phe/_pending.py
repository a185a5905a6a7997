"""Sums and multiples of ciphertexts that are put off until somebody asks for one of them, and then
computed many at once.

An operation on single numbers costs a vector engine as much as eight. So `numbers` write down what
they are made of, and when one is needed, or many have gathered, all that somebody still holds are
computed side by side. The ciphertexts are the very ones that computing at once gives: products and
powers modulo n^2, which do not depend on the order.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeAlias

from hearith._native import Singles
from hearith._packing import packed, wipe
from hearith.errors import HearithError

#: Operations after which what has gathered is computed: enough to fill all lanes, few enough to
#: hold little memory.
MOST = 512
#: Scalars whose lengths lie in one step of this many bits are raised to side by side, as if they
#: had the longest one's.
STEP = 8


class Holder(Protocol):
    """Whoever holds a number."""

    @property
    def pending(self) -> Number | None:
        """The number, if it is one that is put off."""


#: A number that is to be computed as a sum: of these terms and of this residue.
Sum: TypeAlias = tuple["Number", list["Number"], int]


class Number:
    """A ciphertext, or what it is computed from: the sum of two numbers, of a number and a residue,
    or a multiple of one.
    """

    __slots__ = ("aligned", "base", "error", "factor", "left", "parents", "plain", "public", "right", "value")

    def __init__(self, value: bytes | None = None) -> None:
        """A ciphertext with these bytes, or one that is still to be described."""
        self.value = value
        self.left: Number | None = None
        self.right: Number | None = None
        self.plain = 0
        self.base: Number | None = None
        self.factor = 0
        self.public = False
        self.parents = 0
        self.error: Exception | None = None
        self.aligned: dict[int, Number] | None = None


class Pending:
    """The numbers of one key that are put off."""

    def __init__(self, singles: Singles, n: int, width: int) -> None:
        """For the key of `singles`, with residues of `width` bytes modulo `n`."""
        self._singles, self._n, self._width = singles, n, width
        self._held: list[weakref.ref[Holder]] = []
        # What one thread has computed, and has no more parts, another must not be taking apart.
        self._lock = threading.RLock()
        _ALL.add(self)

    def renew(self) -> None:
        """In the child of a `fork`, where nobody would give the lock back that a thread of the
        parent had.
        """
        self._lock = threading.RLock()

    def sum(self, left: Number, right: Number) -> Number:
        """The sum of two numbers."""
        made = Number()
        made.left, made.right = left, right
        left.parents += 1
        right.parents += 1
        return made

    def shifted(self, number: Number, residue: int) -> Number:
        """The sum of a number and a residue modulo n."""
        made = Number()
        made.left, made.plain = number, residue
        number.parents += 1
        return made

    def multiple(self, number: Number, factor: int) -> Number:
        """A multiple of a number by a signed integer."""
        made = Number()
        made.base, made.factor = number, factor
        number.parents += 1
        return made

    def public_multiple(self, number: Number, factor: int) -> Number:
        """A multiple that everybody may know, -1 or a power of the base; remembered, since a number
        meets the same exponents often.
        """
        known = number.aligned
        if known is None:
            known = number.aligned = {}
        made = known.get(factor)
        if made is None:
            made = known[factor] = self.multiple(number, factor)
            made.public = True
        return made

    def hold(self, holder: Holder) -> None:
        """Notes who holds a number, and computes what has gathered if that is much."""
        held = self._held
        held.append(weakref.ref(holder))
        if len(held) >= MOST:
            self.compute()

    def value(self, number: Number) -> bytes:
        """A number's ciphertext, computed with all others that are held if it is not there yet.

        Raises:
            HearithError: it is a negative multiple of what shares a factor with n.
        """
        if number.value is None and number.error is None:
            with self._lock:
                if not self._computed_alone(number):
                    self.compute(number)
        if number.value is None:
            assert number.error is not None
            raise number.error
        return number.value

    def _computed_alone(self, number: Number) -> bool:
        """Computes a number whose parts are there, without looking for an order, unless others
        wait; says whether it is there now.
        """
        if number.value is not None:
            return True
        parts = [part for part in (number.base, number.left, number.right) if part is not None]
        if any(part.value is None for part in parts):
            return False
        for reference in self._held:
            holder = reference()
            if holder is not None and holder.pending is not number:
                return False
        self._held = []
        if number.base is not None:
            self._multiply([number])
        else:
            self._add_up([(number, parts, number.plain)])
        return True

    def compute(self, *wanted: Number) -> None:
        """Computes these numbers and all that somebody holds."""
        with self._lock:
            holders, self._held = self._held, []
            targets = {id(number): number for number in wanted}
            for reference in holders:
                holder = reference()
                number = None if holder is None else holder.pending
                if number is not None:
                    targets[id(number)] = number
            for multiples, sums in _levels(list(targets.values()), targets.keys()):
                self._multiply(multiples)
                self._add_up(sums)

    def _multiply(self, numbers: list[Number]) -> None:
        steps: dict[tuple[bool, int], list[Number]] = {}
        for number in numbers:
            step = number.factor if number.public else -(-number.factor.bit_length() // STEP)
            steps.setdefault((number.public, step), []).append(number)
        for alike in steps.values():
            try:
                self._multiply_alike(alike)
            except HearithError:
                for number in alike:
                    try:
                        self._multiply_alike([number])
                    except HearithError as error:
                        number.error = error

    def _multiply_alike(self, numbers: list[Number]) -> None:
        open_numbers = []
        for number in numbers:
            assert number.base is not None
            number.error = number.base.error
            if number.error is None:
                open_numbers.append(number)
        if not open_numbers:
            return
        factors = [number.factor for number in open_numbers]
        rows = [_value(number.base) for number in open_numbers]
        if open_numbers[0].public:
            with packed(factors[:1]) as (data, width):
                values = self._singles.public_multiples(rows, data, width)
        else:
            bits = max(1, *(factor.bit_length() for factor in factors))
            with packed(factors) as (data, width):
                values = self._singles.multiples(rows, data, width, bits)
        _settle(open_numbers, values)

    def _add_up(self, numbers: list[Sum]) -> None:
        places: dict[int, int] = {}
        rows: list[bytes] = []
        groups: list[list[int]] = []
        made: list[Number] = []
        added: list[int] = []
        for number, terms, plain in numbers:
            group = []
            for term in terms:
                if term.value is None:
                    number.error = term.error
                    break
                place = places.setdefault(id(term), len(rows))
                if place == len(rows):
                    rows.append(term.value)
                group.append(place)
            else:
                groups.append(group)
                made.append(number)
                added.append(plain)
        if made:
            with self._residues(added) as residues:
                _settle(made, self._singles.sums(rows, groups, residues))

    @contextmanager
    def _residues(self, numbers: list[int]) -> Iterator[bytearray | None]:
        """The numbers modulo n as bytes, wiped in the end; nothing if all are 0."""
        if not any(numbers):
            yield None
            return
        residues = bytearray(self._width * len(numbers))
        try:
            for row, number in enumerate(numbers):
                residues[row * self._width : (row + 1) * self._width] = (number % self._n).to_bytes(self._width, "big")
            yield residues
        finally:
            wipe(residues)


def _is_open(number: Number) -> bool:
    return number.value is None and number.error is None


def _value(number: Number | None) -> bytes:
    assert number is not None
    assert number.value is not None
    return number.value


def _settle(numbers: Iterable[Number], values: Iterable[bytes]) -> None:
    for number, value in zip(numbers, values, strict=True):
        number.value = value
        _forget(number)


def _forget(number: Number) -> None:
    """What a number was computed from is needed no more."""
    number.left = number.right = number.base = None
    number.plain = number.factor = 0


def _levels(targets: list[Number], held: Collection[int]) -> Iterator[tuple[list[Number], list[Sum]]]:
    """What has to be computed for the targets, step by step: multiples, and sums with their terms.

    A sum that nobody holds and that is part of one other alone is not computed: its terms are that
    other's. All else is computed once, whatever it is part of, so the work is never more than that
    of computing at once.
    """
    depths: dict[int, int] = {}
    parts: dict[int, tuple[list[Number], int]] = {}
    steps: list[tuple[list[Number], list[Sum]]] = []
    stack = list(targets)
    while stack:
        number = stack[-1]
        if number.value is not None:
            depths[id(number)] = 0
            stack.pop()
            continue
        if id(number) in depths:
            stack.pop()
            continue
        if not _is_open(number):
            depths[id(number)] = 0
            continue
        if id(number) not in parts:
            parts[id(number)] = ([number.base], 0) if number.base is not None else _terms(number, held)
        terms, plain = parts[id(number)]
        depth = 1
        missing = False
        for term in terms:
            if term.value is not None:
                continue
            below = depths.get(id(term))
            if below is None:
                stack.append(term)
                missing = True
            elif below >= depth:
                depth = below + 1
        if missing:
            continue
        depths[id(number)] = depth
        steps += [([], []) for _ in range(depth - len(steps))]
        if number.base is None:
            steps[depth - 1][1].append((number, terms, plain))
        else:
            steps[depth - 1][0].append(number)
    yield from steps


def _terms(number: Number, held: Collection[int]) -> tuple[list[Number], int]:
    """The terms of a sum and the residue beside them."""
    left, right = number.left, number.right
    if left is not None and left.value is not None and (right is None or right.value is not None):
        return [left] if right is None else [left, right], number.plain
    terms: list[Number] = []
    plain = 0
    stack = [number]
    while stack:
        part = stack.pop()
        plain += part.plain
        for child in (part.left, part.right):
            if child is None:
                continue
            if _is_open(child) and child.base is None and child.parents < 2 and id(child) not in held:
                stack.append(child)
            else:
                terms.append(child)
    return terms, plain


_ALL: weakref.WeakSet[Pending] = weakref.WeakSet()


def _renew() -> None:
    for pending in list(_ALL):
        pending.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
