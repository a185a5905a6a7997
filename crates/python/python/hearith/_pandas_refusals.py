"""What encrypted columns of pandas refuse, since nobody can see their numbers without the private
key: pandas would answer from the ciphertexts, which says nothing of the numbers.
"""

from __future__ import annotations

from typing import Any, NoReturn


class NoPlaintextMethods:
    """Columns that have no order, and in which nothing is searched, counted or found twice."""

    def _values_for_argsort(self) -> NoReturn:
        raise TypeError("encrypted numbers cannot be ordered: nobody sees which is larger without the private key")

    # Asked for by `is_monotonic_increasing` and its like, which would answer that they are not.
    @property
    def _is_monotonic_increasing(self) -> NoReturn:
        self._values_for_argsort()

    @property
    def _is_monotonic_decreasing(self) -> NoReturn:
        self._values_for_argsort()

    def _values_for_factorize(self) -> NoReturn:
        raise TypeError("encrypted numbers cannot be groups or labels: equal numbers have different ciphertexts")

    def factorize(self, use_na_sentinel: bool = True) -> NoReturn:
        """Refuses: equal numbers have different ciphertexts."""
        self._values_for_factorize()

    def unique(self) -> NoReturn:
        """Refuses: equal numbers have different ciphertexts."""
        self._values_for_factorize()

    def duplicated(self, keep: Any = "first") -> NoReturn:
        """Refuses: equal numbers have different ciphertexts. `drop_duplicates` asks for them."""
        raise TypeError("encrypted numbers cannot be found twice: equal numbers have different ciphertexts")

    def isin(self, values: Any) -> NoReturn:
        """Refuses: equal numbers have different ciphertexts."""
        raise TypeError("encrypted numbers cannot be searched for: equal numbers have different ciphertexts")

    def _mode(self, dropna: bool = True) -> NoReturn:
        self._values_for_factorize()

    def round(self, decimals: int = 0, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuses: nobody sees the digits."""
        raise TypeError("encrypted numbers cannot be rounded: decrypt them first")

    def value_counts(self, dropna: bool = True) -> NoReturn:
        """Refuses: equal numbers have different ciphertexts. `describe` asks for them."""
        raise TypeError(
            "encrypted numbers cannot be counted by value or described: equal numbers have different ciphertexts"
        )
