"""Giving up powers: what a process and all processes after it can never have again.

Spark's worker daemon imports this module first, so the module imports only the standard library.
"""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["drop_capabilities", "forbid_new_privileges"]

_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_FILES = frozenset({0, 1, 2, 3})  # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER: access to files
_CAPABILITIES = 64


def drop_capabilities(*, keep_files: bool) -> None:
    """Have programs that root starts from now on lack root's powers, such as reading the memory of a hidden process.

    Parameters
    ----------
    keep_files
        Whether they keep root's power over files.
    """
    if sys.platform == "linux" and os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in range(_CAPABILITIES):
            if not (keep_files and capability in _FILES):
                libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def forbid_new_privileges() -> None:
    """Have programs that this process starts from now on gain no powers, for example by ``sudo``."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
