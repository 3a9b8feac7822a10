"""Pauses of Python's garbage collector, while very many objects are made that all stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["pause_collection"]


@contextmanager
def pause_collection() -> Iterator[None]:
    """Look for no garbage in a block that makes many objects and drops few.

    The collector would look through all objects of the process again and again, in vain. Reference counting goes on.
    A pause that begins during another pause, in any thread, ends no later than the other.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
