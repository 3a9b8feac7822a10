"""Run as a user without special rights, so that permissions of files count."""

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["drop_root"]


@contextmanager
def drop_root() -> Iterator[None]:
    """Act as the user nobody if the tests run as root, who may write everywhere."""
    nobody, root = pwd.getpwnam("nobody").pw_uid, os.geteuid() == 0
    if root:
        os.setresuid(nobody, nobody, 0)
    try:
        yield
    finally:
        if root:
            os.setresuid(0, 0, 0)
