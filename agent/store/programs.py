"""PostgreSQL's client programs (pg_dump, psql): which ones can talk to a server, and how they are run."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from agent.store.binaries import installed_programs, major_version
from agent.store.connect import Connection
from agent.store.errors import BackupFailed
from agent.store.queries import load_queries

QUERIES = load_queries(__name__)
#: What a client program may see of our environment: what libpq itself reads, and no token of ours.
_KEPT = ("PATH", "HOME", "LD_LIBRARY_PATH", "PGPASSFILE", "PGPASSWORD", "PGSERVICEFILE", "PGSYSCONFDIR")


async def client_program(name: str, connection: Connection) -> Path:
    """Return the path of a program that can talk to the server of `connection`.

    The package's own has no TLS and knows no newer server; then it is the system's.
    """
    encrypted = bool(await connection.fetchval(QUERIES["is_encrypted"]))
    server = connection.get_server_version().major
    if not encrypted and server <= int(major_version()):
        return installed_programs() / name
    found = shutil.which(name)
    if found is not None and await _major(found) >= server:
        return Path(found)
    reason = "over TLS" if encrypted else f"of version {server}"
    raise BackupFailed(
        f"a database server {reason} needs the program {name} of PostgreSQL {server} or newer: "
        f"install the PostgreSQL client programs (on Debian: postgresql-client-{server})"
    )


async def run_client(program: Path, dsn: str, *arguments: str) -> str | None:
    """Run a client program on a database; return None when it succeeded, else the line that tells why not."""
    address, password = without_password(dsn)
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment |= {"LC_ALL": "C", "PGAPPNAME": "isthmus backup", "PGCONNECT_TIMEOUT": "10"}
    if password is not None:
        environment["PGPASSWORD"] = password  # an argument could be read by every user of the machine
    process = await asyncio.create_subprocess_exec(
        program,
        "--no-password",
        f"--dbname={address}",
        *arguments,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, output = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode == 0:
        return None
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "error:" in line.lower() or "fatal:" in line.lower()]
    return (telling or lines or [f"it ended with {process.returncode} and said nothing"])[0]


def without_password(dsn: str) -> tuple[str, str | None]:
    """Return an address without its password, and the password."""
    parts = urlsplit(dsn)
    query = parse_qsl(parts.query, keep_blank_values=True)
    password = next((value for name, value in query if name == "password"), None)
    user, at, place = parts.netloc.rpartition("@")
    name, colon, inline = user.partition(":")
    if colon:
        password = unquote(inline)
    kept = urlencode([pair for pair in query if pair[0] != "password"])
    return urlunsplit(parts._replace(netloc=name + at + place, query=kept)), password


async def _major(program: str) -> int:
    process = await asyncio.create_subprocess_exec(program, "--version", stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    digits = output.decode(errors="replace").rpartition(") ")[2].partition(".")[0]
    return int(digits) if digits.isdigit() else 0
