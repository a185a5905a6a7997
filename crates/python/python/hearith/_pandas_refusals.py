"""Methods that encrypted pandas columns reject, since they need the private key. pandas would
compute them from the ciphertexts, whose order and equality are unrelated to those of the numbers.
"""

from __future__ import annotations

from typing import Any, NoReturn


class NoPlaintextMethods:
    """A base for columns without an order, whose values cannot be searched, counted or tested for
    duplicates.
    """

    def _values_for_argsort(self) -> NoReturn:
        raise TypeError("encrypted numbers cannot be ordered: nobody can see which is larger without the private key")

    # Called by `is_monotonic_increasing` and similar methods, which would return False.
    @property
    def _is_monotonic_increasing(self) -> NoReturn:
        self._values_for_argsort()

    @property
    def _is_monotonic_decreasing(self) -> NoReturn:
        self._values_for_argsort()

    def _values_for_factorize(self) -> NoReturn:
        raise TypeError("encrypted numbers cannot be groups or labels: equal numbers have different ciphertexts")

    def factorize(self, use_na_sentinel: bool = True) -> NoReturn:
        """Raises `TypeError`, since equal numbers have different ciphertexts."""
        self._values_for_factorize()

    def unique(self) -> NoReturn:
        """Raises `TypeError`, since equal numbers have different ciphertexts."""
        self._values_for_factorize()

    def duplicated(self, keep: Any = "first") -> NoReturn:
        """Raises `TypeError`, since equal numbers have different ciphertexts.

        `drop_duplicates` calls it.
        """
        raise TypeError("encrypted numbers cannot be found twice: equal numbers have different ciphertexts")

    def isin(self, values: Any) -> NoReturn:
        """Raises `TypeError`, since equal numbers have different ciphertexts."""
        raise TypeError("encrypted numbers cannot be searched for: equal numbers have different ciphertexts")

    def _mode(self, dropna: bool = True) -> NoReturn:
        self._values_for_factorize()

    def round(self, decimals: int = 0, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises `TypeError`, since the digits are encrypted."""
        raise TypeError("encrypted numbers cannot be rounded: decrypt them first")

    def value_counts(self, dropna: bool = True) -> NoReturn:
        """Raises `TypeError`, since equal numbers have different ciphertexts.

        `describe` calls it.
        """
        raise TypeError(
            "encrypted numbers cannot be counted by value or described: equal numbers have different ciphertexts"
        )
