"""What public and private keys have in common."""

from __future__ import annotations

from typing import Any, Self


class Key:
    """Keys do not change: each is its own copy, and what was prepared for it is not pickled."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_arithmetic"}
