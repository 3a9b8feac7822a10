"""Follow the calls of provenn's own functions in this thread, by Python's profile hook.

Other threads show progress and renew leases while this one waits, as often as there is time: they are not followed.

Nothing of provenn is imported or replaced: functions are recognised by the file and the qualified name of their code,
so that the same trace fits every arrangement of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

__all__ = ["CallTrace", "Function", "trace_calls"]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of provenn.

    Parameters
    ----------
    module
        The module that defines it, without the package: ``targets.planning``.
    name
        Its qualified name: ``Database.reading``.
    """

    module: str
    name: str

    @property
    def room(self) -> str:
        """The folder or module directly below the package."""
        return self.module.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(slots=True)
class CallTrace:
    """The calls of provenn's functions, in the order in which they began.

    Parameters
    ----------
    package
        The folder of the package.
    calls
        Each call: the function of provenn that is nearest above it, if any, and the function called.
    """

    package: Path
    calls: list[tuple[Function | None, Function]] = field(default_factory=list)
    _functions: dict[CodeType, Function | None] = field(default_factory=dict)

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call; as Python's profile hook."""
        if event != "call" or _is_resumed(frame):
            return
        function = self._identify(frame.f_code)
        if function is None:
            return
        above = frame.f_back
        caller = None
        while above is not None and caller is None:
            if above.f_code.co_name == "<module>" and self._contains(above.f_code):
                return  # an import: it happens once in a process
            caller = self._identify(above.f_code)
            above = above.f_back
        self.calls.append((caller, function))

    def _contains(self, code: CodeType) -> bool:
        """Return whether the package defines some code."""
        return code.co_filename.startswith(f"{self.package}/")

    def _identify(self, code: CodeType) -> Function | None:
        """Return the function of some code; None for code of others, comprehensions, lambdas and modules."""
        if code not in self._functions:
            is_named = self._contains(code) and not code.co_name.startswith("<")
            self._functions[code] = self._read_function(code) if is_named else None
        return self._functions[code]

    def _read_function(self, code: CodeType) -> Function:
        """Return the function of code in the package."""
        path = Path(code.co_filename).relative_to(self.package).with_suffix("")
        parts = path.parts[:-1] if path.name == "__init__" else path.parts
        return Function(".".join(parts), code.co_qualname.replace(".<locals>", ""))


def _is_resumed(frame: FrameType) -> bool:
    """Return whether a generator or coroutine goes on, which Python reports like a call."""
    return frame.f_lasti > _FIRST.setdefault(frame.f_code, frame.f_lasti)


_FIRST: dict[CodeType, int] = {}
"""The instruction at which the first call of each code began."""


@contextmanager
def trace_calls(package: Path) -> Iterator[CallTrace]:
    """Trace the calls of the functions in a package while the block runs, in this thread."""
    trace = CallTrace(package)
    sys.setprofile(trace.note)
    try:
        yield trace
    finally:
        sys.setprofile(None)
