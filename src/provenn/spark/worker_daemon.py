"""The process that forks Spark's Python workers for calculators: ``python -m provenn.spark.worker_daemon``.

Spark starts the process with the environment of Java. The process gives up everything forbidden to calculators
(variables, open files, the powers of root, the means to gain other powers). Then the process becomes pyspark's own
daemon by ``exec``, so that nothing of the first environment stays in memory either.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import resource
import sys
from contextlib import suppress

from provenn.spark.worker_environment import FOLDER, NAMES, USER, build_worker_environment

__all__ = ["become_worker_daemon"]

_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_FILES = frozenset({0, 1, 2, 3})  # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER: access to files
_CAPABILITIES = 64
_MOST_PROCESSES = 4096
_MOST_FILES = 1 << 16  # Java hands on only the first three


def become_worker_daemon() -> None:
    """Give up everything forbidden to calculators, and become pyspark's daemon."""
    user, folder = os.environ.get(USER, ""), os.environ.get(FOLDER, "")
    names = os.environ.get(NAMES, "").split()
    environment = build_worker_environment(os.environ, named=names, user=user, folder=folder)
    os.closerange(3, _MOST_FILES)
    _limit_resource(resource.RLIMIT_CORE, 0)
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if libc is not None and os.geteuid() == 0:
        # Give up for good root's powers over other processes, such as reading the memory of a hidden process.
        for capability in range(_CAPABILITIES):
            if user or capability not in _FILES:
                libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    if user:
        _become_user(user, folder)
    if libc is not None:
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    os.execve(sys.executable, [sys.executable, "-m", "pyspark.daemon", *sys.argv[1:]], environment)  # noqa: S606


def _become_user(user: str, folder: str) -> None:
    account = pwd.getpwnam(user)
    _limit_resource(resource.RLIMIT_NPROC, _MOST_PROCESSES)
    os.initgroups(user, account.pw_gid)
    os.setresgid(account.pw_gid, account.pw_gid, account.pw_gid)
    os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)
    os.umask(0o077)
    if not os.access(".", os.R_OK | os.X_OK):
        os.chdir(folder)


def _limit_resource(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    become_worker_daemon()
