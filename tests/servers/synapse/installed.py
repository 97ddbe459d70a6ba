"""Where Synapse is installed; it is installed when it is not."""

import fcntl
import subprocess
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
LONGEST = 600


class SynapseMissing(Exception):
    """Synapse cannot be installed here; the text is one line that says why."""


@cache
def python_of_synapse() -> Path:
    """Return the Python of Synapse's environment; several test processes wait for one installation.

    Raises:
        SynapseMissing: it cannot be installed.
    """
    lock = Path(tempfile.gettempdir()) / "isthmus-synapse.lock"
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            done = subprocess.run(
                [str(ROOT / "scripts" / "synapse")], capture_output=True, text=True, timeout=LONGEST, check=True
            )
        except subprocess.CalledProcessError as error:
            last = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise SynapseMissing(f"Synapse cannot be installed: {last}") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SynapseMissing(f"Synapse cannot be installed: {type(error).__name__}") from None
    return Path(done.stdout.strip())
