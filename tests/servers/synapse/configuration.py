"""The configuration of a Synapse for tests: fast, without limits, and talking with nobody."""

import json
from pathlib import Path

SERVER_NAME = "home.test"
SHARED_SECRET = "register-here"
_LOGGING = """
version: 1
formatters: {plain: {format: '%(asctime)s %(levelname)s %(name)s %(message)s'}}
handlers: {file: {class: logging.FileHandler, formatter: plain, filename: FILE}}
root: {level: WARNING, handlers: [file]}
disable_existing_loggers: false
"""


def write(folder: Path, port: int, appservices: tuple[Path, ...] = ()) -> Path:
    """Write homeserver.yaml (JSON is YAML) and what it names; return its path."""
    (folder / "log.yaml").write_text(_LOGGING.replace("FILE", str(folder / "synapse.log")))
    much = {"per_second": 10_000, "burst_count": 10_000}
    settings = {
        "server_name": SERVER_NAME,
        "pid_file": str(folder / "synapse.pid"),
        "public_baseurl": f"http://127.0.0.1:{port}/",
        "listeners": [
            {
                "port": port,
                "type": "http",
                "bind_addresses": ["127.0.0.1"],
                "resources": [{"names": ["client"], "compress": False}],
            }
        ],
        "database": {"name": "sqlite3", "args": {"database": str(folder / "homeserver.db")}},
        "media_store_path": str(folder / "media"),
        "signing_key_path": str(folder / "signing.key"),
        "log_config": str(folder / "log.yaml"),
        "report_stats": False,
        "trusted_key_servers": [],
        "federation_domain_whitelist": [],
        "enable_registration": True,
        "enable_registration_without_verification": True,
        "registration_shared_secret": SHARED_SECRET,
        "macaroon_secret_key": "macaroon",
        "form_secret": "form",
        "bcrypt_rounds": 4,
        "presence": {"enabled": False},
        "url_preview_enabled": False,
        "caches": {"sync_response_cache_duration": "0s"},
        "app_service_config_files": [str(path) for path in appservices],
        "rc_message": much,
        "rc_registration": much,
        "rc_login": {"address": much, "account": much, "failed_attempts": much},
        "rc_joins": {"local": much, "remote": much},
        "rc_joins_per_room": much,
        "rc_invites": {"per_room": much, "per_user": much, "per_issuer": much},
        "rc_admin_redaction": much,
        "rc_room_creation": much,
        "rc_key_requests": much,
        "rc_presence": {"per_user": much},
    }
    path = folder / "homeserver.yaml"
    path.write_text(json.dumps(settings))
    return path
