"""Runs callbacks once a module is imported, and never if it is not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def after_import(name: str, act: Callable[[], object]) -> None:
    """Calls `act` now if the module is already imported, otherwise at the end of its import."""
    if sys.modules.get(name) is not None:
        act()
    else:
        sys.meta_path.insert(0, _Watch(name, act))


class _Watch:
    """A finder that delegates to the others, and wraps the loader they find so that it calls `act`
    after executing the module.
    """

    def __init__(self, name: str, act: Callable[[], object]) -> None:
        self._name, self._act = name, act

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                self._extend(spec)
                return spec
        return None

    def _extend(self, spec: ModuleSpec) -> None:
        loader = spec.loader
        if loader is None:
            return
        execute = loader.exec_module

        def execute_and_act(module: ModuleType) -> None:
            execute(module)
            # Loaders of archives serve several modules.
            if module.__name__ == self._name:
                self._act()

        # Patched in place, so that the loader's sources and data files stay accessible.
        loader.exec_module = execute_and_act  # type: ignore[method-assign]
