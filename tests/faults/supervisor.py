"""Fail or stop a process at a chosen system call on files below a folder; Linux only, in Python alone.

The process installs a seccomp filter that hands its file calls to a supervisor (`seccomp_unotify(2)`). The supervisor
lets a call happen, answers it with an error in the kernel's place, does half of a write, or kills the process before
the call. So every file call counts, whoever makes it: Python, SQLite's C library or Arrow's C++ library.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.waiting import LIMIT

__all__ = ["Call", "Fault", "Supervisor", "is_supported", "lift_fault"]

Kind = Literal["EIO", "ENOSPC", "full", "short", "torn", "killed"]
"""Seconds after which a process that makes no call and does not end is taken to hang."""

_LIFTED = ".the-fault-is-over"
_FD, _PATH, _AT, _TWO_PATHS, _TWO_AT = range(5)

# `access` is not among them: it answers whether something is allowed, and `os.access` takes every error for a no.
# Of each system call: its number on x86_64 and on aarch64 (None if there is none), and where it names its file.
_CALLS: dict[str, tuple[int | None, int | None, int]] = {
    "read": (0, 63, _FD),
    "write": (1, 64, _FD),
    "open": (2, None, _PATH),
    "stat": (4, None, _PATH),
    "lstat": (6, None, _PATH),
    "pread64": (17, 67, _FD),
    "pwrite64": (18, 68, _FD),
    "readv": (19, 65, _FD),
    "writev": (20, 66, _FD),
    "sendfile": (40, 71, _FD),
    "fcntl": (72, 25, _FD),
    "fsync": (74, 82, _FD),
    "fdatasync": (75, 83, _FD),
    "truncate": (76, 45, _PATH),
    "ftruncate": (77, 46, _FD),
    "rename": (82, None, _TWO_PATHS),
    "mkdir": (83, None, _PATH),
    "rmdir": (84, None, _PATH),
    "link": (86, None, _TWO_PATHS),
    "unlink": (87, None, _PATH),
    "getdents64": (217, 61, _FD),
    "openat": (257, 56, _AT),
    "mkdirat": (258, 34, _AT),
    "newfstatat": (262, 79, _AT),
    "unlinkat": (263, 35, _AT),
    "renameat": (264, 38, _TWO_AT),
    "linkat": (265, 37, _TWO_AT),
    "fallocate": (285, 47, _FD),
    "renameat2": (316, 276, _TWO_AT),
    "copy_file_range": (326, 285, _FD),
    "statx": (332, 291, _AT),
}
_WRITES = frozenset({"write", "pwrite64"})
_CHANGES = _WRITES | {
    *(
        "writev",
        "sendfile",
        "fsync",
        "fdatasync",
        "truncate",
        "ftruncate",
        "rename",
        "mkdir",
        "rmdir",
        "link",
        "unlink",
    ),
    *("mkdirat", "unlinkat", "renameat", "linkat", "fallocate", "renameat2", "copy_file_range"),
}
_NEEDS_SPACE = _CHANGES - {"rmdir", "unlink", "unlinkat"}
_LOCKS = frozenset({6, 7, 37, 38})
_AT_FDCWD = -100

_MACHINES = {"x86_64": (0, 0xC000003E, 317), "aarch64": (1, 0xC00000B7, 277)}
_PIDFD_GETFD = 438
_RECEIVE, _ANSWER = 0xC0502100, 0xC0182101
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Call:
    """A system call on a file below the folder: its name, the file, and whether it makes a new file."""

    name: str
    path: str
    creates: bool = False

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The ways in which it is made to fail. Death before a call that changes nothing is death before the next."""
        kinds: tuple[Kind, ...] = ("EIO",)
        if self.name in _NEEDS_SPACE or self.creates:
            kinds += ("ENOSPC", "full")
        if self.name in _WRITES:
            kinds += ("short", "torn")
        return (*kinds, "killed") if self.name in _CHANGES or self.creates else kinds


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens at which call, counted from 1.

    ``full`` lasts: from that call on, every call that needs space fails, until the process says `lift_fault`.
    ``short`` does half of a write and says so; ``torn`` does half of it, and kills the process.
    """

    number: int
    kind: Kind


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _column() -> int:
    return _MACHINES[platform.machine()][0]


def _install() -> int:
    """Hand the file calls of this process to whoever holds the descriptor that is returned."""

    def instruction(code: int, jump_true: int, jump_false: int, value: int) -> bytes:
        return struct.pack("HBBI", code, jump_true, jump_false, value)

    _, architecture, seccomp = _MACHINES[platform.machine()]
    numbers = [result for entry in _CALLS.values() if (result := entry[_column()]) is not None]
    allow, ask = 0x7FFF0000, 0x7FC00000
    program = [
        instruction(0x20, 0, 0, 4),
        instruction(0x15, 1, 0, architecture),
        instruction(0x06, 0, 0, allow),
        instruction(0x20, 0, 0, 0),
        *(instruction(0x15, len(numbers) - at, 0, number) for at, number in enumerate(numbers)),
        instruction(0x06, 0, 0, allow),
        instruction(0x06, 0, 0, ask),
    ]
    code = ctypes.create_string_buffer(b"".join(program))
    filtering = _Program(len(program), ctypes.cast(code, ctypes.c_void_p))
    if _libc.prctl(38, 1, 0, 0, 0) != 0:  # no new privileges
        raise OSError(ctypes.get_errno(), "prctl")
    listener = _libc.syscall(seccomp, 1, 8, ctypes.byref(filtering))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return int(listener)


def lift_fault(folder: Path) -> None:
    """Tell the supervisor that the disk has room again."""
    (folder / _LIFTED).exists()


@dataclass
class Supervisor:
    """Runs work in processes of their own, and lets one call of each fail.

    Parameters
    ----------
    folder
        Calls on files below it are counted.
    fault
        What fails; without, nothing does.
    """

    folder: Path
    fault: Fault | None = None
    calls: list[Call] = field(default_factory=list)
    struck: bool = False
    lifted: bool = False

    def run(self, work: Callable[[Callable[[bytes], object]], None]) -> tuple[bytes, bool]:
        """Do work in another process, which can say something; return what it said, and whether it was killed."""
        place, there = socket.socketpair()
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                place.close()
                os.close(reading)
                listener = _install()
                socket.send_fds(there, [b"."], [listener])
                os.close(listener)
                work(lambda text: os.write(writing, text + b"\n"))
                code = 0
            finally:
                os._exit(code)
        there.close()
        os.close(writing)
        _, descriptors, _, _ = socket.recv_fds(place, 1, 1)
        place.close()
        try:
            assert descriptors, "the process cannot be supervised"
            message = self._serve(pid, descriptors[0], reading)
        finally:
            for descriptor in (*descriptors, reading):
                os.close(descriptor)
            os.kill(pid, signal.SIGKILL)
            status = os.waitpid(pid, 0)[1]
        assert os.WIFSIGNALED(status) or status == 0, "the work itself failed"
        return message, os.WIFSIGNALED(status)

    def _serve(self, pid: int, listener: int, reading: int) -> bytes:
        text = b""
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        poll.register(reading, select.POLLIN)
        talking = True
        last = time.monotonic()
        while talking:
            for descriptor, happened in poll.poll(1000):
                last = time.monotonic()
                if descriptor == reading:
                    block = os.read(reading, 1 << 16)
                    text += block
                    talking = bool(block)
                elif happened & select.POLLIN:
                    self._answer(pid, listener)
                else:
                    poll.unregister(listener)
            assert time.monotonic() - last < LIMIT, "it hangs"
        return text

    def _answer(self, pid: int, listener: int) -> None:
        request = bytearray(80)
        try:
            fcntl.ioctl(listener, _RECEIVE, request)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):  # the call was interrupted
                return
            raise
        identity, thread, _, number = struct.unpack_from("QIIi", request)
        arguments = struct.unpack_from("6Q", request, 32)
        value, failure, go_on = self._decide(pid, thread, number, arguments)
        try:
            fcntl.ioctl(listener, _ANSWER, struct.pack("QqiI", identity, value, -failure, go_on))
        except OSError as error:
            if error.errno != errno.ENOENT:  # the process is gone
                raise

    def _decide(self, pid: int, thread: int, number: int, arguments: tuple[int, ...]) -> tuple[int, int, int]:
        """Return what a call returns, its error, and whether the kernel is to do it."""
        let = (0, 0, 1)
        call = self._call(thread, number, arguments)
        if call is None:
            return let
        if call.path == _LIFTED:
            self.lifted = True
            return let
        self.calls.append(call)
        fault = self.fault
        if fault is None or len(self.calls) < fault.number or self.lifted:
            return let
        if self.struck:
            full = fault.kind == "full" and "full" in call.kinds
            return (0, errno.ENOSPC, 0) if full else let
        if fault.kind not in call.kinds:  # another call than at the first time: then the next that can fail so
            return let
        self.struck = True
        half = 0
        if fault.kind in ("short", "torn"):
            half = _write_half(pid, thread, call, arguments)
        if fault.kind in ("killed", "torn"):
            os.kill(pid, signal.SIGKILL)
        if fault.kind == "short":
            return (half, 0, 0) if half else let
        return 0, errno.EIO if fault.kind == "EIO" else errno.ENOSPC, 0

    def _call(self, thread: int, number: int, arguments: tuple[int, ...]) -> Call | None:
        name = _NAMES[number]
        if name == "fcntl" and arguments[1] not in _LOCKS:
            return None
        inside = str(self.folder) + "/"
        try:
            if name == "fcntl" and struct.unpack("h", _memory(thread, arguments[2], 2))[0] == fcntl.F_UNLCK:
                return None  # to let a lock go never fails; if it did, the kernel would keep it for the process
            for path in _paths(thread, _CALLS[name][2], arguments):
                if f"{path}/".startswith(inside):
                    below = path[len(inside) :]
                    return Call(name, below, name in ("open", "openat") and _creates(name, arguments))
        except OSError:  # a descriptor that is none, or a thread that is gone
            return None
        return None


_NAMES = {
    entry[_MACHINES.get(platform.machine(), (0,))[0]]: name
    for name, entry in _CALLS.items()
    if platform.machine() in _MACHINES
}


def _creates(name: str, arguments: tuple[int, ...]) -> bool:
    return bool(arguments[2 if name == "openat" else 1] & os.O_CREAT)


def _paths(thread: int, kind: int, arguments: tuple[int, ...]) -> list[str]:
    if kind == _FD:
        return [str(Path(f"/proc/{thread}/fd/{arguments[0] & 0xFFFFFFFF}").readlink())]
    if kind == _PATH:
        return [_path(thread, _AT_FDCWD, arguments[0])]
    if kind == _TWO_PATHS:
        return [_path(thread, _AT_FDCWD, argument) for argument in arguments[:2]]
    if kind == _TWO_AT:
        return [_path(thread, arguments[0], arguments[1]), _path(thread, arguments[2], arguments[3])]
    return [_path(thread, arguments[0], arguments[1])]


def _path(thread: int, folder: int, address: int) -> str:
    text = os.fsdecode(_memory(thread, address, 4096).partition(b"\0")[0])
    if text.startswith("/") or not text:  # without a name it is about a descriptor, and reads nothing
        return text
    at = ctypes.c_int(folder & 0xFFFFFFFF).value
    above = Path(f"/proc/{thread}/cwd" if at == _AT_FDCWD else f"/proc/{thread}/fd/{at}").readlink()
    return os.path.normpath(f"{above}/{text}")


def _memory(thread: int, address: int, length: int) -> bytes:
    with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        try:
            return memory.read(length)
        except OSError:  # it ends within
            memory.seek(address)
            return memory.read(4096 - address % 4096)


def _write_half(pid: int, thread: int, call: Call, arguments: tuple[int, ...]) -> int:
    """Do the first half of a write in the place of a process; return how many bytes that are."""
    half = arguments[2] // 2
    if not half:
        return 0
    content = _memory(thread, arguments[1], half)
    process = os.pidfd_open(pid)
    try:
        target = _libc.syscall(_PIDFD_GETFD, process, arguments[0] & 0xFFFFFFFF, 0)
        if target < 0:
            raise OSError(ctypes.get_errno(), "pidfd_getfd")
    finally:
        os.close(process)
    try:
        return os.write(target, content) if call.name == "write" else os.pwrite(target, content, arguments[3])
    finally:
        os.close(target)


def is_supported() -> bool:
    """Whether this machine lets a process be supervised: Linux 5.9 or later, in most containers too."""
    if platform.system() != "Linux" or platform.machine() not in _MACHINES:
        return False
    try:
        message, _ = Supervisor(Path("/nowhere")).run(lambda say: say(b"here"))
    except (AssertionError, OSError):
        return False
    return message == b"here\n"
