"""The process that forks Spark's Python workers for calculators: ``python -m provenn.spark.worker_daemon``.

Spark starts the process with the environment of Java. The process gives up everything forbidden to calculators
(variables, open files, the powers of root, the means to gain other powers). Then the process becomes pyspark's own
daemon by ``exec``, so that nothing of the first environment stays in memory either.
"""

from __future__ import annotations

import os
import pwd
import resource
import sys
from contextlib import suppress

from provenn.spark.powers import drop_capabilities, forbid_new_privileges
from provenn.spark.warm.worker_side import GUEST, follow_command
from provenn.spark.worker_environment import FOLDER, NAMES, USER, build_worker_environment

__all__ = ["become_worker_daemon"]

_MOST_PROCESSES = 4096
_MOST_FILES = 1 << 16  # Java hands on only the first three


def become_worker_daemon() -> None:
    """Give up everything forbidden to calculators, and become pyspark's daemon."""
    user, folder = os.environ.get(USER, ""), os.environ.get(FOLDER, "")
    names = os.environ.get(NAMES, "").split()
    guest = os.environ.get(GUEST, "")
    os.closerange(3, _MOST_FILES)
    variables = follow_command(guest) if guest else os.environ
    environment = build_worker_environment(variables, named=names, user=user, folder=folder)
    _limit_resource(resource.RLIMIT_CORE, 0)
    drop_capabilities(keep_files=not user)
    if user:
        _become_user(user, folder)
    forbid_new_privileges()
    daemon = "provenn.spark.warm.worker_output" if guest else "pyspark.daemon"
    os.execve(sys.executable, [sys.executable, "-m", daemon, *sys.argv[1:]], environment)  # noqa: S606


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
