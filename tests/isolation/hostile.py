"""A calculator that looks for a secret wherever a Python worker can look, and reports where it found it.

It gets the secret backwards, so that neither the definition of the catalog nor what Spark sends to a worker has it.
"""

import contextlib
import gc
import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pandas as pd

IMPORTED_BY = os.getpid()
_CHUNK = 1 << 22


@cache
def _report(secret: str, folder: str, memory: bool) -> str:
    return json.dumps(
        {
            "pid": os.getpid(),
            "imported_by": IMPORTED_BY,
            "user": os.getuid(),
            "places": sorted({*_places(secret, folder, memory)}),
            "environment": dict(os.environ),
            "descriptors": _descriptors(),
            "status": _status(),
            "terminal": _has_terminal(),
            "folder_mode": oct(Path(os.environ.get("TMPDIR", "/")).stat().st_mode & 0o777),
        }
    )


def report(batch: pd.DataFrame, backwards: str, folder: str = "", memory: bool = False) -> pd.DataFrame:
    """Return for every source the same report, as JSON: places of the secret, and what else can be seen."""
    return pd.DataFrame({"report": [_report(backwards[::-1], folder, memory)] * len(batch)})


def leave_message(batch: pd.DataFrame, path: str) -> pd.DataFrame:
    """Send the driver a pickle that runs code, as the update of an accumulator."""
    from pyspark import accumulators  # noqa: PLC0415 - of the worker

    class Message:
        def __reduce__(self) -> tuple:
            return exec, (f"import os; open({path!r}, 'w').write(str(os.getpid()))",)

    class Update:
        _value = Message()

    accumulators._accumulatorRegistry[123_456] = Update()
    return pd.DataFrame({"done": [True] * len(batch)})


def _places(secret: str, folder: str, memory: bool) -> Iterator[str]:
    sought = secret.encode()
    for name, value in os.environ.items():
        if secret in value:
            yield f"the variable {name}"
    for item in gc.get_objects():
        if isinstance(item, dict) and any(
            isinstance(value, str) and "://" in value and secret in value for value in item.values()
        ):
            yield "an object of the worker"
    for process in Path("/proc").glob("[0-9]*"):
        for kind in ("environ", "cmdline"):
            with contextlib.suppress(OSError):
                if sought in (process / kind).read_bytes():
                    yield f"{kind} of {_name(process)}"
        with contextlib.suppress(OSError):
            for descriptor in (process / "fd").iterdir():
                yield from _in_descriptor(sought, descriptor, process)
    if memory:
        for pid, name in _ancestors():
            if _in_memory(sought, pid):
                yield f"the memory of {name}"
    for file in [Path(folder), *Path(folder).rglob("*")] if folder else []:
        with contextlib.suppress(OSError):
            if file.is_file() and sought in file.read_bytes():
                yield f"the file {file.name}"
    yield from _opened_archives()
    with contextlib.suppress(Exception):
        from py4j.clientserver import ClientServer, JavaParameters  # noqa: PLC0415

        token, port = os.environ["PYSPARK_GATEWAY_SECRET"], int(os.environ["PYSPARK_GATEWAY_PORT"])
        ClientServer(java_parameters=JavaParameters(port=port, auth_token=token)).jvm.System.getenv()
        yield "the gateway to Java"


def _in_descriptor(sought: bytes, descriptor: Path, process: Path) -> Iterator[str]:
    with contextlib.suppress(OSError):
        target = descriptor.readlink()
        if target.is_file() and target.stat().st_size < _CHUNK and sought in descriptor.read_bytes():
            yield f"the file {target.name} that {_name(process)} has open"


def _opened_archives() -> Iterator[str]:
    import provenn  # noqa: PLC0415

    for address in {value for value in os.environ.values() if "postgres" in value}:
        with contextlib.suppress(Exception), provenn.open(database=address, create=False):
            yield "an archive that the worker opened"


def _ancestors() -> Iterator[tuple[int, str]]:
    pid = os.getppid()
    while pid > 1:
        process = Path(f"/proc/{pid}")
        yield pid, _name(process)
        pid = int((process / "stat").read_text().rpartition(")")[2].split()[1])


def _name(process: Path) -> str:
    with contextlib.suppress(OSError):
        return (process / "comm").read_text().strip()
    return "a process"


def _in_memory(sought: bytes, pid: int) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/mem", "rb", 0) as memory:  # noqa: PTH123
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            first, last = (int(number, 16) for number in line.split()[0].split("-"))
            if not re.match(r"\S+ rw", line):
                continue
            for start in range(first, last, _CHUNK):
                with contextlib.suppress(OSError, ValueError, OverflowError):
                    memory.seek(start)
                    if sought in memory.read(min(_CHUNK, last - start)):
                        return True
    return False


def _descriptors() -> list[str]:
    results = []
    for descriptor in sorted(map(int, os.listdir("/proc/self/fd"))):  # noqa: PTH208
        with contextlib.suppress(OSError):
            results.append(f"{descriptor} {Path(f'/proc/self/fd/{descriptor}').readlink()}")
    return results


def _status() -> dict[str, str]:
    lines = (line.partition(":") for line in Path("/proc/self/status").read_text().splitlines())
    return {name: value.strip() for name, _, value in lines if name in ("CapEff", "CapBnd", "NoNewPrivs", "Uid", "Gid")}


def _has_terminal() -> bool:
    with contextlib.suppress(OSError), open("/dev/tty", "rb"):  # noqa: PTH123
        return True
    return False
