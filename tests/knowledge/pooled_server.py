"""A pooler in front of a server: PgBouncer, a program of its own, for as long as it is needed."""

import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urlsplit

import psycopg

POOLER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
_PORT = 6432
_PATIENCE = 30


@contextmanager
def pooled(address, mode, users, size=1):
    """Run a pooler that hands out so many connections, and yield a function that gives the address for a user."""
    [folder_of_server] = parse_qs(urlsplit(address).query)["host"]
    owner = Path(folder_of_server).owner()
    with TemporaryDirectory(prefix="pooler-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        if os.geteuid() == 0:
            shutil.chown(folder, owner)
        (folder / "users.txt").write_text("".join(f'"{user}" ""\n' for user in users))
        (folder / "pooler.ini").write_text(
            f"[databases]\n* = host={folder_of_server}\n[pgbouncer]\nlisten_port = {_PORT}\nlisten_addr =\n"
            f"unix_socket_dir = {folder}\nauth_type = trust\nauth_file = {folder / 'users.txt'}\n"
            f"pool_mode = {mode}\ndefault_pool_size = {size}\n"
        )
        as_owner = ["-u", owner] if os.geteuid() == 0 else []  # it refuses to run as root
        process = subprocess.Popen(
            [POOLER, *as_owner, folder / "pooler.ini"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            yield lambda user: f"postgresql://{user}@/{_wait(folder, user)}?host={folder}&port={_PORT}"
        finally:
            process.terminate()
            process.wait()


def _wait(folder, user):
    """Wait until the pooler answers, and return the name of the database."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            psycopg.connect(f"postgresql://{user}@/postgres?host={folder}&port={_PORT}").close()
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return "postgres"
