"""The embedded PostgreSQL: a child process that lives as long as the process that started it.

Several processes may share one data directory (the command line beside a running agent): each first tries to
connect, and starts a server, under a file lock, only when nobody answers. When the process that started the
server dies, the kernel stops the server, and whoever needs it next starts another.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from agent.store.binaries import server_user
from agent.store.cluster import (
    CLUSTER,
    LOCK,
    LOG,
    SOCKET_NAME,
    check_version,
    command_for,
    environment,
    explain_output,
    explained,
    make_cluster,
    make_data_directory,
    make_socket_directory,
    socket_directory,
)
from agent.store.errors import ServerStartFailed

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "max_connections": "200",
    "max_wal_size": "256MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Errors reach us with their statement; the server's log must not keep what people said.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_checkpoints": "off",
}
_POLL_SECONDS = 0.01
#: What the server says when its predecessor has not quite gone; it passes, or the file is stale.
_PREDECESSOR = ('lock file "postmaster.pid"', "pre-existing shared memory block", "lock file is empty")
_STALE_SECONDS = 3.0


class EmbeddedServer:
    """The embedded server of one data directory.

    The methods block (a start takes 0.05 s, the first one about a second): call them in a thread.
    `settings` are PostgreSQL's own and win over SETTINGS; `durable=False` is for tests.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        settings: Mapping[str, str] | None = None,
        durable: bool = True,
        start_timeout: float = 60.0,
    ) -> None:
        self._data_dir = data_dir.absolute()
        self._settings = {**SETTINGS, **(settings or {})}
        self._durable = durable
        self._start_timeout = start_timeout
        self._mutex = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        """The address for clients; valid once `ensure_running` has returned."""
        directory = socket_directory(self._data_dir, server_user(self._data_dir / CLUSTER))
        return f"postgresql://app@/postgres?host={quote(str(directory), safe='')}"

    @property
    def started_here(self) -> bool:
        """True while a server that this process started is running."""
        return self._process is not None and self._process.poll() is None

    def ensure_running(self) -> None:
        """Return when the server takes connections; start it when nobody has.

        Raises EmbeddedServerError with one line that says why it cannot run and what to do.
        """
        with self._mutex:
            if self._accepts():
                return
            check_version(self._data_dir)
            make_data_directory(self._data_dir)
            with self._lock():
                self._start_or_join()

    def stop(self) -> None:
        """Stop the server if this process started it: running statements are cancelled, nothing committed is lost."""
        with self._mutex:
            process, self._process = self._process, None
            if process is None or process.poll() is not None:
                return
            for number, patience in ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
                process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(patience)
                    return

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        with explained(self._data_dir):
            descriptor = os.open(self._data_dir / LOCK, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _start_or_join(self) -> None:
        began = time.monotonic()
        cleared = False
        while not self._accepts():
            elapsed = time.monotonic() - began
            if elapsed > self._start_timeout:
                raise ServerStartFailed(
                    f"the embedded PostgreSQL did not answer within {self._start_timeout:.0f} s: "
                    f"see {self._data_dir / LOG}"
                )
            if self._status() in {"starting", "stopping"} and self._listens():
                time.sleep(_POLL_SECONDS)  # another process's server, on its way
                continue
            output = self._start()
            if output is None:
                return
            if not any(text in output for text in _PREDECESSOR):
                raise explain_output(output, self._data_dir)
            if elapsed > _STALE_SECONDS and not cleared:
                cleared = True
                self._clear_stale_pid()
            time.sleep(_POLL_SECONDS * 10)

    def _start(self) -> str | None:
        """Start a server; return None when it takes connections, else what it said before it ended."""
        if not check_version(self._data_dir):
            make_cluster(self._data_dir, server_user(self._data_dir / CLUSTER), durable=self._durable)
        cluster = (self._data_dir / CLUSTER).resolve()
        user = server_user(cluster)
        with explained(self._data_dir):
            sockets = socket_directory(self._data_dir, user)
            if sockets != cluster:
                make_socket_directory(sockets, user)
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        command = command_for(user, cluster, "postgres", "-D", cluster, "-k", sockets, *settings)
        log = self._data_dir / LOG
        with explained(self._data_dir):
            log.unlink(missing_ok=True)
            descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            process = _spawn(command, descriptor)
        finally:
            os.close(descriptor)
        deadline = time.monotonic() + self._start_timeout
        while process.poll() is None and time.monotonic() < deadline:
            if self._status(process.pid) == "ready":
                self._process = process
                return None
            time.sleep(_POLL_SECONDS)
        if process.poll() is None:
            process.send_signal(signal.SIGQUIT)
            process.wait()
        return log.read_text("utf-8", errors="replace")

    def _accepts(self) -> bool:
        return self._status() == "ready" and self._listens()

    def _listens(self) -> bool:
        directory = socket_directory(self._data_dir, server_user(self._data_dir / CLUSTER))
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1.0)
            try:
                client.connect(str(directory / SOCKET_NAME))
            except OSError:
                return False
        return True

    def _status(self, pid: int | None = None) -> str | None:
        """Return what postmaster.pid says (starting, ready, stopping); None without one, or when not of `pid`."""
        try:
            lines = (self._data_dir / CLUSTER / "postmaster.pid").read_text("utf-8").splitlines()
        except OSError:
            return None
        if pid is not None and lines[:1] != [str(pid)]:
            return None
        return lines[7].strip() if len(lines) > 7 else "starting"  # noqa: PLR2004  # its eighth line

    def _clear_stale_pid(self) -> None:
        """Remove a postmaster.pid whose process is no PostgreSQL (its number was used again), as in a new container."""
        path = self._data_dir / CLUSTER / "postmaster.pid"
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid = int(path.read_text("utf-8").splitlines()[0])
            if Path("/proc/self").exists() and b"postgres" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                path.unlink()


def _spawn(command: list[str | Path], log: int) -> subprocess.Popen[bytes]:
    """Start the server from a thread that waits for it.

    The kernel's death signal follows the *thread* that started a process, and a worker thread of the event loop
    may end long before the process does.
    """
    started = threading.Event()
    processes: list[subprocess.Popen[bytes]] = []
    failures: list[OSError] = []

    def keep() -> None:
        try:
            processes.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd="/",
                    env=environment(),
                    start_new_session=True,  # Ctrl-C in the terminal is for us; the server is stopped last
                )
            )
        except OSError as error:
            failures.append(error)
        finally:
            started.set()
        for process in processes:
            process.wait()

    threading.Thread(target=keep, name="embedded-postgres", daemon=True).start()
    started.wait()
    if failures:
        raise ServerStartFailed(f"the embedded PostgreSQL cannot be started: {failures[0].strerror}") from failures[0]
    return processes[0]
