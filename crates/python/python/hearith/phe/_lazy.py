"""Deferred sums and multiples of ciphertexts, which are computed in batches once one of them is
needed.

A vector engine takes as long for one single-value operation as for eight. So a `LazyNumber` records
its operands. When one is needed, or many have accumulated, all numbers that are still referenced
are computed in parallel lanes. The ciphertexts equal those of immediate computation: products and
powers modulo n^2 do not depend on the order.
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

#: Accumulated operations that trigger a computation: enough to fill all lanes, few enough to need
#: little memory.
MOST = 512
#: Scalars whose lengths fall into one step of this many bits are raised together, with the time of
#: the longest.
STEP = 8


class LazyHolder(Protocol):
    """An object that holds a number."""

    @property
    def pending(self) -> LazyNumber | None:
        """The number, if it is a deferred one."""


#: A number to compute as the sum of these terms and this residue.
Sum: TypeAlias = tuple["LazyNumber", list["LazyNumber"], int]


class LazyNumber:
    """A ciphertext, or its operands: the sum of two numbers, the sum of a number and a residue, or
    a multiple of a number.
    """

    __slots__ = ("aligned", "base", "error", "factor", "left", "parents", "plain", "public", "right", "value")

    def __init__(self, value: bytes | None = None) -> None:
        """Creates a ciphertext from bytes, or a number whose operands are set later."""
        self.value = value
        self.left: LazyNumber | None = None
        self.right: LazyNumber | None = None
        self.plain = 0
        self.base: LazyNumber | None = None
        self.factor = 0
        self.public = False
        self.parents = 0
        self.error: Exception | None = None
        self.aligned: dict[int, LazyNumber] | None = None


class LazyGraph:
    """The deferred numbers of one key."""

    def __init__(self, singles: Singles, n: int, width: int) -> None:
        """Prepares the key of `singles`, with residues of `width` bytes modulo `n`."""
        self._singles, self._n, self._width = singles, n, width
        self._held: list[weakref.ref[LazyHolder]] = []
        # One thread must not traverse a number while another computes it and clears its operands.
        self._lock = threading.RLock()
        _ALL.add(self)

    def reset_lock(self) -> None:
        """Replaces the lock in the child of a `fork`, where a lock held by another thread of the
        parent would never be released.
        """
        self._lock = threading.RLock()

    def sum(self, left: LazyNumber, right: LazyNumber) -> LazyNumber:
        """Returns the deferred sum of two numbers."""
        made = LazyNumber()
        made.left, made.right = left, right
        left.parents += 1
        right.parents += 1
        return made

    def shifted(self, number: LazyNumber, residue: int) -> LazyNumber:
        """Returns the deferred sum of a number and a residue modulo n."""
        made = LazyNumber()
        made.left, made.plain = number, residue
        number.parents += 1
        return made

    def multiple(self, number: LazyNumber, factor: int) -> LazyNumber:
        """Returns the deferred multiple of a number by a signed integer."""
        made = LazyNumber()
        made.base, made.factor = number, factor
        number.parents += 1
        return made

    def public_multiple(self, number: LazyNumber, factor: int) -> LazyNumber:
        """Returns the deferred multiple by a public factor, -1 or a power of the base.

        It is cached, since numbers often meet the same exponents.
        """
        known = number.aligned
        if known is None:
            known = number.aligned = {}
        made = known.get(factor)
        if made is None:
            made = known[factor] = self.multiple(number, factor)
            made.public = True
        return made

    def register(self, holder: LazyHolder) -> None:
        """Registers the holder of a number, and computes the accumulated numbers if there are
        many.
        """
        held = self._held
        held.append(weakref.ref(holder))
        if len(held) >= MOST:
            self.compute()

    def value(self, number: LazyNumber) -> bytes:
        """Returns a number's ciphertext.

        If it is deferred, computes it together with all others that are held.

        Raises:
            HearithError: it is a negative multiple of a ciphertext that shares a factor with n.
        """
        if number.value is None and number.error is None:
            with self._lock:
                if not self._computed_alone(number):
                    self.compute(number)
        if number.value is None:
            assert number.error is not None
            raise number.error
        return number.value

    def _computed_alone(self, number: LazyNumber) -> bool:
        """Computes a number directly if its operands are known and no others are waiting.

        Returns whether it is known now.
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

    def compute(self, *wanted: LazyNumber) -> None:
        """Computes these numbers and all that are held."""
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

    def _multiply(self, numbers: list[LazyNumber]) -> None:
        steps: dict[tuple[bool, int], list[LazyNumber]] = {}
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

    def _multiply_alike(self, numbers: list[LazyNumber]) -> None:
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
        _resolve(open_numbers, values)

    def _add_up(self, numbers: list[Sum]) -> None:
        positions: dict[int, int] = {}
        rows: list[bytes] = []
        groups: list[list[int]] = []
        made: list[LazyNumber] = []
        added: list[int] = []
        for number, terms, plain in numbers:
            group = []
            for term in terms:
                if term.value is None:
                    number.error = term.error
                    break
                position = positions.setdefault(id(term), len(rows))
                if position == len(rows):
                    rows.append(term.value)
                group.append(position)
            else:
                groups.append(group)
                made.append(number)
                added.append(plain)
        if made:
            with self._residues(added) as residues:
                _resolve(made, self._singles.sums(rows, groups, residues))

    @contextmanager
    def _residues(self, numbers: list[int]) -> Iterator[bytearray | None]:
        """Yields the numbers modulo n as bytes, and wipes them afterwards; yields None if all
        are 0.
        """
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


def _is_open(number: LazyNumber) -> bool:
    return number.value is None and number.error is None


def _value(number: LazyNumber | None) -> bytes:
    assert number is not None
    assert number.value is not None
    return number.value


def _resolve(numbers: Iterable[LazyNumber], values: Iterable[bytes]) -> None:
    for number, value in zip(numbers, values, strict=True):
        number.value = value
        _forget(number)


def _forget(number: LazyNumber) -> None:
    """Clears the operands of a number, which are no longer needed."""
    number.left = number.right = number.base = None
    number.plain = number.factor = 0


def _levels(targets: list[LazyNumber], held: Collection[int]) -> Iterator[tuple[list[LazyNumber], list[Sum]]]:
    """Yields the numbers to compute for the targets, level by level: multiples, and sums with their
    terms.

    A sum that nobody holds and that has a single parent is not computed; its terms become terms of
    the parent. Everything else is computed once, however often it is used. So the work never
    exceeds that of immediate computation.
    """
    depths: dict[int, int] = {}
    parts: dict[int, tuple[list[LazyNumber], int]] = {}
    steps: list[tuple[list[LazyNumber], list[Sum]]] = []
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


def _terms(number: LazyNumber, held: Collection[int]) -> tuple[list[LazyNumber], int]:
    """Returns the terms of a sum, and the residue added to them."""
    left, right = number.left, number.right
    if left is not None and left.value is not None and (right is None or right.value is not None):
        return [left] if right is None else [left, right], number.plain
    terms: list[LazyNumber] = []
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


_ALL: weakref.WeakSet[LazyGraph] = weakref.WeakSet()


def _reset_locks() -> None:
    for graph in list(_ALL):
        graph.reset_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_locks)
