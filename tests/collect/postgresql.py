"""A PostgreSQL server for the tests alone, from the programs that `make setup` installs on Debian."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

OF_DEBIAN = Path("/usr/lib/postgresql")  # has a folder per version; its programs are not in PATH


@dataclass(frozen=True, slots=True)
class PostgreSql:
    """A running server: the folder of its socket, a way to restart it, and to call its programs.

    `call` runs one with arguments, such as pg_dump, as the user of the server and in its folder.
    """

    folder: Path
    restart: Callable[[], None]
    call: Callable[..., None]


@contextmanager
def serving_postgresql() -> Iterator[str]:
    """Run a server that listens on a Unix socket alone; yield its URL. Skip the test without PostgreSQL."""
    with running_postgresql() as server:
        yield f"postgresql://postgres@/postgres?host={server.folder}"


@contextmanager
def running_postgresql() -> Iterator[PostgreSql]:
    """Run a server as `serving_postgresql` does, that can be restarted."""
    found = shutil.which("pg_ctl") or max(map(str, OF_DEBIAN.glob("*/bin/pg_ctl")), default=None)
    if found is None:
        pytest.skip("no PostgreSQL here: `make setup` installs it on Debian when root runs it")
    # Not in pytest's folder, which no other user may enter; and the path of a socket must be short.
    with TemporaryDirectory(prefix="postgresql-") as folder:
        user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
        if user is not None:
            shutil.chown(folder, user)

        def call(program: str, *arguments: str) -> None:
            command = [str(Path(found).resolve().with_name(program)), *arguments]
            subprocess.run(command, check=True, user=user, group=user, cwd=folder)

        def pg_ctl(*arguments: str) -> None:
            call("pg_ctl", "--silent", f"--pgdata={folder}/data", f"--log={folder}/log", *arguments)

        pg_ctl("init", "--options=--auth=trust --username=postgres --no-locale --encoding=UTF8 --no-sync")
        pg_ctl("start", "--wait", f"--options=-k {folder} -c listen_addresses= -c fsync=off")
        try:
            yield PostgreSql(Path(folder), lambda: pg_ctl("restart", "--wait", "--mode=fast"), call)
        finally:
            pg_ctl("stop", "--mode=immediate")
