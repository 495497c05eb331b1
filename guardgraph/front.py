"""A front: a module that offers names from many homes and loads each when it is first used.

The stub beside a front is the one list of its names. Type checkers read it as it stands, and the front reads it when
somebody asks for a name: so a part is imported at the cost of that part.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any


class Front:
    """The names that a stub declares with lines such as ``from guardgraph.drawing import draw as draw``.

    Args:
        module: the module that offers them.
        stub: the name of its stub's file, in the package `guardgraph`.
    """

    def __init__(self, module: str, stub: str) -> None:
        self._module = module
        self._stub = stub
        self._homes: dict[str, str] = {}

    def load(self, name: str) -> object:
        """Return what a name stands for, from its home: the module's ``__getattr__``.

        Raises:
            AttributeError: the stub does not declare it.
        """
        if name == "__all__":
            return sorted(self.homes)
        if name.startswith("__") or name not in self.homes:
            raise AttributeError(f"module {self._module!r} has no attribute {name!r}")
        return getattr(import_module(self.homes[name]), name)

    def names(self) -> list[str]:
        """Return the names that the module has, loaded or not: its ``__dir__``."""
        return sorted({*vars(sys.modules[self._module]), *self.homes})

    @property
    def homes(self) -> dict[str, str]:
        """The module that each name comes from."""
        if not self._homes:
            self._homes = _read_stub_names("guardgraph", self._stub)
        return self._homes


def _read_stub_names(package: str, stub: str) -> dict[str, str]:
    import ast

    loader: Any = sys.modules[package].__loader__  # a package may lie in a zip file
    text = loader.get_data(str(Path(__file__).with_name(stub)))
    imports = [node for node in ast.parse(text or b"").body if isinstance(node, ast.ImportFrom)]
    return {name.asname: node.module for node in imports if node.module for name in node.names if name.asname}
