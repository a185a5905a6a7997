"""The common base of public and private keys."""

from __future__ import annotations

from typing import Any, Self


class Key:
    """An immutable key. Copying returns the key itself; its prepared arithmetic is not pickled."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_arithmetic"}
