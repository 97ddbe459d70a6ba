"""Becomes the database server: drop privileges, ask to be stopped when the parent dies, exec.

Run as a script, `python -I -S launch.py PARENT_PID UID GID PROGRAM ARGUMENT…`, so that nothing of this happens
between fork and exec of a process with threads. It imports nothing of this package, and everything at the top:
once privileges are dropped, Python's own library may be out of reach.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def stop_with_parent(parent: int) -> None:
    """Have the kernel send SIGINT (fast shutdown) when the thread that started this process dies. Linux only."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
    if os.getppid() != parent:  # it died before the call above
        sys.exit(1)


def main(arguments: list[str]) -> None:
    """Run the program in place of this process, as the given user."""
    parent, uid, gid = (int(argument) for argument in arguments[:3])
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    stop_with_parent(parent)  # after setuid, which clears it
    os.execv(arguments[3], arguments[3:])  # noqa: S606  # no shell is wanted


if __name__ == "__main__":
    main(sys.argv[1:])
