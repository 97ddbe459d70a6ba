"""Which addresses may be asked: those of the public internet, also behind a name."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

from aiohttp.abc import AbstractResolver, ResolveResult

type Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Returns the addresses of a host."""


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as the system resolves it."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]


def forbidden(address: str) -> bool:
    """Tell whether an address is none of the public internet: this machine, a private network, a group."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return not parsed.is_global or parsed.is_multicast


class CheckedResolver(AbstractResolver):
    """Resolves names where the connection is made, so that no name leads to an address that must not be asked."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host.

        Raises:
            OSError: one of them must not be asked, or there is none.
        """
        found = await self._resolve(host, port)
        if any(map(forbidden, found)):
            raise OSError("the name leads to an address that is not of the public internet")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else family,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in found
        ]

    async def close(self) -> None:
        """Hold nothing."""
