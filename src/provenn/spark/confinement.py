"""The confinement of processes that run calculators: their environment variables and their system user."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from provenn.database.secrets import remove_secrets
from provenn.errors import EngineError
from provenn.spark.worker_environment import FOLDER, NAMES, USER, build_worker_environment

if TYPE_CHECKING:
    from pwd import struct_passwd

__all__ = ["DAEMON", "Confinement"]

DAEMON = "provenn.spark.worker_daemon"
"""The module from which Spark gets its Python workers."""

_AS = "PROVENN_CALCULATORS_AS"
_ENVIRONMENT = "PROVENN_CALCULATORS_ENVIRONMENT"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")
_TRIAL = "import pyarrow, pyspark.daemon, provenn.spark.worker_daemon"
_PATIENCE = 300.0
"""Seconds in which the Python of another user must start and import its packages, even on a busy machine."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """The confinement of processes that run calculators.

    Parameters
    ----------
    user
        The system user of the processes; empty for the user of this process.
    variables
        The environment variables that the processes get in addition to the usual ones: names, or prefixes such as
        ``SWIRE_*``.
    """

    user: str = ""
    variables: tuple[str, ...] = ()

    @classmethod
    def of(cls, user: str | None = None, variables: tuple[str, ...] | None = None) -> Confinement:
        """Return a confinement; PROVENN_CALCULATORS_AS and PROVENN_CALCULATORS_ENVIRONMENT replace missing arguments.

        Raises
        ------
        EngineError
            If the user does not exist, this process cannot become that user, or a variable may not be handed on.
        """
        user = os.environ.get(_AS, "") if user is None else user
        if variables is None:
            variables = tuple(os.environ.get(_ENVIRONMENT, "").replace(",", " ").split())
        for name in variables:
            if not _NAME.fullmatch(name):
                raise EngineError(f"{name!r} is not the name of a variable", hint=f"{_ENVIRONMENT}=SWIRE_DATA,LSST_*")
            if name.rstrip("*") and not remove_secrets({name: ""}):
                raise EngineError(
                    f"calculators do not get {name}, which may lead to the database of the archive",
                    hint="pass what they need in a variable with another name",
                )
        if user:
            _check_user(user)
        return cls(user, tuple(sorted(set(variables))))

    def make_folder(self) -> Path | None:
        """Make a folder for `user` alone; return None if `user` is empty."""
        if not self.user:
            return None
        account = _find_account(self.user)
        folder = Path(tempfile.mkdtemp(prefix="provenn-calculators-"))
        os.chown(folder, account.pw_uid, account.pw_gid)
        return folder

    def build_daemon_variables(self, folder: Path | None) -> dict[str, str]:
        """Return the variables by which the daemon of Spark's Python workers learns of this confinement."""
        variables = {NAMES: " ".join(self.variables)}
        if not self.user:
            return variables
        # As long as the daemon is root, it imports nothing from the current folder.
        return variables | {USER: self.user, FOLDER: str(folder), "PYTHONSAFEPATH": "1"}

    def check_python(self, folder: Path | None = None) -> None:
        """Check that `user`, if not empty, can run Python with provenn, pyspark and Arrow.

        Raises
        ------
        EngineError
            If the user cannot; the message says why.
        """
        if not self.user:
            return
        account = _find_account(self.user)
        environment = build_worker_environment(
            os.environ, named=self.variables, user=self.user, folder=str(folder or "/")
        )
        python = os.environ.get("PYSPARK_PYTHON") or sys.executable
        command = [shutil.which(python) or python, "-c", _TRIAL]
        groups = os.getgrouplist(self.user, account.pw_gid)
        identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": groups}
        try:
            process = subprocess.run(  # type: ignore[call-overload] # noqa: S603 - our own Python
                command,
                env=environment,
                cwd=folder or "/",
                capture_output=True,
                text=True,
                timeout=_PATIENCE,
                check=False,
                **identity,
            )
            reason = "" if process.returncode == 0 else (process.stderr.strip().splitlines() or ["it ended"])[-1]
        except (OSError, subprocess.SubprocessError) as error:
            reason = str(error)
        if reason:
            raise EngineError(
                f"the user {self.user} cannot run calculators with {command[0]}: {reason}",
                hint="install Python and provenn where that user can read them, or name another Python: PYSPARK_PYTHON",
            )


def _find_account(user: str) -> struct_passwd:
    try:
        import pwd  # noqa: PLC0415 - only Unix-like systems have it

        return pwd.getpwnam(user)
    except (ImportError, KeyError, ValueError):
        raise EngineError(f"unknown system user {user!r}", hint="create one: useradd --system NAME") from None


def _check_user(user: str) -> None:
    account = _find_account(user)
    if os.geteuid() != 0:
        raise EngineError(
            f"only root can run calculators as {user}, and this process is not root", hint="start it as root"
        )
    if account.pw_uid == 0:
        raise EngineError("calculators must not run as root", hint="name an unprivileged user")
