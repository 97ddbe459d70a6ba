"""Logging in: once by password or token; afterwards the same session goes on, on the same device."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.bridge import BridgeStartFailed
from agent.redaction import remember_secret
from agent.settings.errors import SecretError
from bridges.matrix.client import CLIENT, NETWORK, Client, MatrixError
from bridges.matrix.rules.values import text

if TYPE_CHECKING:
    from pathlib import Path

    from agent.bridge import State
    from agent.settings.secrets import Secret
    from bridges.matrix.settings import MatrixSettings

log = logs.get_logger(__name__)

TOKEN: Final = "access_token"  # noqa: S105 - a key, not a token
DEVICE: Final = "device_id"
ACCOUNT: Final = "account"
PASSPHRASE: Final = "store_passphrase"  # noqa: S105 - a key, not a passphrase
SINCE: Final = "since"
"""Where the next sync goes on."""


class Login:
    """Begins a session, or goes on with the one that is kept."""

    def __init__(self, client: Client, settings: MatrixSettings, state: State) -> None:
        self._client = client
        self._settings = settings
        self._state = state

    async def open(self) -> None:
        """Make the client ready to call.

        Raises:
            BridgeStartFailed: the homeserver is away, or refuses; with the way out.
        """
        try:
            await self._open()
        except MatrixError as error:
            raise BridgeStartFailed(f"Matrix: {self._settings.homeserver} refused the login: {error}") from None
        except SecretError as error:
            raise BridgeStartFailed(f"Matrix: {error}") from None
        except NETWORK as error:
            raise BridgeStartFailed(
                f"Matrix: {self._settings.homeserver} cannot be reached ({type(error).__name__}): check "
                f"bridges.matrix.homeserver and the network"
            ) from None

    async def _open(self) -> None:
        account = f"{self._settings.user} at {self._settings.homeserver}"
        if await self._state.get(ACCOUNT) != account:  # what was kept is another account's
            await self._state.remove(TOKEN, DEVICE, SINCE)
            await self._state.put({ACCOUNT: account})
        given = _value(self._settings.access_token)
        for token in dict.fromkeys((await self._state.get(TOKEN), given)):
            if token and await self._goes_on(token):
                return
        await self._by_password()

    async def _goes_on(self, token: str) -> bool:
        """Take up a session; False when it has ended."""
        remember_secret(token)
        self._client.use(token, "")
        try:
            who = await self._client.call("GET", "/_matrix/client/v3/account/whoami")
        except MatrixError as error:
            if not error.ends_session:
                raise
            return False
        if who.get("user_id") != self._settings.user:
            raise BridgeStartFailed(
                f"Matrix: the access token is of {who.get('user_id')}, and bridges.matrix.user says "
                f"{self._settings.user}: make them agree"
            )
        await self._keep(token, text(who.get("device_id")))
        return True

    async def _by_password(self) -> None:
        password = _value(self._settings.password)
        if password is None:
            raise BridgeStartFailed(
                "Matrix: the access token is not valid any more: give a new one as bridges.matrix.access_token, "
                "or the password as bridges.matrix.password"
            )
        self._client.use("", "")
        body = {
            "type": "m.login.password",
            "identifier": {"type": "m.id.user", "user": self._settings.user},
            "password": password,
            "initial_device_display_name": self._settings.device_name,
        }
        answer = await self._client.call("POST", f"{CLIENT}/login", body)
        token, device = text(answer.get("access_token")), text(answer.get("device_id"))
        if answer.get("user_id") != self._settings.user or not token:
            raise BridgeStartFailed(
                f"Matrix: the homeserver logged {answer.get('user_id')} in, and bridges.matrix.user says "
                f"{self._settings.user}: make them agree"
            )
        remember_secret(token)
        await self._keep(token, device)
        log.info("matrix_logged_in", user=self._settings.user, device=device)

    async def _keep(self, token: str, device: str) -> None:
        self._client.use(token, device)
        await self._state.put({TOKEN: token}, secret=True)
        await self._state.put({DEVICE: device})

    async def renew(self, folder: Path | None) -> None:
        """Log in again when the session was ended; another device has other keys, in the same folder.

        Raises:
            BridgeStartFailed: as `open` and `open_keys`.
        """
        before = self._client.device_id
        await self.open()
        if folder is not None and self._client.device_id != before:
            self._client.leave_keys()
            await self.open_keys(folder)

    async def open_keys(self, folder: Path) -> None:
        """Open the store of encryption keys, whose passphrase is kept with the bridge's secrets.

        Raises:
            BridgeStartFailed: the folder cannot be used.
        """
        passphrase = await self._state.get(PASSPHRASE)
        if passphrase is None:
            passphrase = secrets.token_urlsafe(32)
            await self._state.put({PASSPHRASE: passphrase}, secret=True)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # noqa: ASYNC240 - once, at the start
            await asyncio.to_thread(self._client.use_keys, folder, passphrase)
        except Exception as error:
            raise BridgeStartFailed(
                f"Matrix: the encryption keys in {folder} cannot be opened ({type(error).__name__}): if they were made "
                f"by another installation, move that directory away; encrypted rooms then need new keys"
            ) from error


def _value(secret: Secret | None) -> str | None:
    return None if secret is None else secret.resolve().get_secret_value()
