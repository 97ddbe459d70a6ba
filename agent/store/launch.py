"""Becomes a program of the database: drop privileges, ask to be stopped when the parent dies, exec.

Run as a script, `python -I -S launch.py PARENT_PID UID GID CLUSTER PROGRAM ARGUMENT…`, so that nothing of this
happens between fork and exec of a process with threads. It imports nothing of this package, and everything at the
top: once privileges are dropped, Python's own library may be out of reach.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
#: Stands in the arguments of the program for a path to CLUSTER; see `held`.
HELD = "@held@"


def stop_with_parent(parent: int) -> None:
    """Have the kernel send SIGINT (fast shutdown) when the thread that started this process dies. Linux only."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
    if os.getppid() != parent:  # it died before the call above
        sys.exit(1)


def held(directory: str) -> str:
    """Return a path to a directory by which a user may enter it who may not enter those above it, as root's home.

    The directory stays open in the program and its children. Linux only.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    os.set_inheritable(descriptor, True)  # noqa: FBT003  # os names it nowhere
    return f"/proc/self/fd/{descriptor}"


def main(arguments: list[str]) -> None:
    """Run the program in place of this process, as the given user."""
    parent, uid, gid = (int(argument) for argument in arguments[:3])
    cluster, *command = arguments[3:]
    if any(HELD in argument for argument in command):
        path = held(cluster)
        command = [argument.replace(HELD, path) for argument in command]
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    stop_with_parent(parent)  # after setuid, which clears it
    os.execv(command[0], command)  # noqa: S606  # no shell is wanted


if __name__ == "__main__":
    main(sys.argv[1:])
