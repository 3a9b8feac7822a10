"""Portable files of an archive, spoiled: each is imported whole, or refused and nothing of it taken."""

import gzip
import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import provenn
from provenn.errors import ProvennError
from provenn.transfer.portable_files import KINDS
from tests.fuzz.texts import ODD
from tests.fuzz.trying import Tried, try_all

__all__ = ["exported", "importer", "try_files"]


def exported(folder: Path) -> bytes:
    """Return the portable file of an archive."""
    file = BytesIO()
    with provenn.open(folder, progress=False) as archive:
        archive.export_definitions(file)
    return file.getvalue()


def try_files(good: bytes, folder: Path, cases: int) -> Tried:
    """Try to import a good file that was spoiled, in an empty folder."""
    lines = gzip.decompress(good).decode().splitlines()
    changes = st.lists(_CHANGE, min_size=1, max_size=4)
    spoiled = st.one_of(
        changes.map(lambda some: _spoil_bytes(good, some)),
        st.builds(lambda some, counted: _spoil_lines(lines, some, counted=counted), changes, st.booleans()),
        st.binary(max_size=100),
    )
    return try_all(spoiled, importer(folder), cases)


def importer(folder: Path) -> Callable[[bytes], bool]:
    """Return what tells whether a file is good: one that is leaves an archive sound, another leaves it as it was."""
    empty, tried = folder / "empty", folder / "tried"
    provenn.open(empty, progress=False).close()

    def accept(file: bytes) -> bool:
        shutil.rmtree(tried, ignore_errors=True)
        shutil.copytree(empty, tried)
        with provenn.open(tried, progress=False) as archive:
            try:
                archive.import_definitions(BytesIO(file))
            except ProvennError:
                assert archive.matches() == 0
                assert not archive.facts()
                return False
            soundness = archive.check()
            assert not soundness.problems, soundness.problems
        return True

    return accept


_VALUES: tuple[Any, ...] = (None, True, -1, 10**30, 1.5, "", [], {}, [[]], {"a": 1}, "x" * 5000, *ODD)
_CHANGE = st.tuples(
    st.sampled_from(["remove", "double", "replace", "exchange", "deepen"]),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.sampled_from(_VALUES),
)
_Change = tuple[str, int, int, Any]


def _spoil_bytes(good: bytes, changes: list[_Change]) -> bytes:
    data = bytearray(good)
    for change, item, other, _ in changes:
        if not data:
            break
        at = item % len(data)
        match change:
            case "remove":
                del data[at:]
            case "double":
                data += data[at:]
            case "replace":
                data[at] = other % 256
            case "exchange":
                data[at] ^= 1 << other % 8
            case "deepen":
                data[:0] = data[: other % 100]
    return bytes(data)


def _spoil_lines(good: list[str], changes: list[_Change], *, counted: bool) -> bytes:
    """Change lines, or what is in them; then make counts and digest fit again, as somebody who means harm would."""
    lines: list[Any] = [json.loads(line) for line in good[:-1]]
    for change, item, other, value in changes:
        at = 1 + item % (len(lines) - 1)
        match change:
            case "remove" if len(lines) > 2:
                del lines[at]
            case "double":
                lines.insert(at, lines[at])
            case "exchange":
                to = 1 + other % (len(lines) - 1)
                lines[at], lines[to] = lines[to], lines[at]
            case "deepen":
                lines[at] = {KINDS[other % len(KINDS)]: value}
            case _:
                lines[at] = _replaced(lines[at], other, value)
    if counted:
        lines[0]["counts"] = {kind: sum(kind in line for line in lines[1:] if isinstance(line, dict)) for kind in KINDS}
    text = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    return gzip.compress(text + json.dumps({"digest": sha256(text).hexdigest()}).encode() + b"\n", 1)


def _replaced(content: Any, which: int, value: Any) -> Any:
    """Return content with one of its parts, however deep, replaced; or taken out, if that is what the number says."""
    if isinstance(content, dict) and content:
        key = sorted(content)[which % len(content)]
        rest = {name: item for name, item in content.items() if name != key}
        return rest if which % 7 == 3 else rest | {key: _replaced(content[key], which // len(content), value)}
    if isinstance(content, list) and content:
        at = which % len(content)
        return [*content[:at], _replaced(content[at], which // len(content), value), *content[at + 1 :]]
    return value
