"""Stored indices of populations: files that only save time, and are made again from the database if in doubt.

A file belongs to one archive (by its epoch), one version of provenn and one person: other people of the machine cannot
read it, and a file that others could write is not used. It holds arrays, each with a checksum, and nothing in it is
executed. A file that is missing, damaged, of another archive or of another version is no index. A file is replaced as a
whole, so that readers see the old or the new one.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from provenn._version import __version__
from provenn.digests import content_digest
from provenn.durable import make_folders, write_durably
from provenn.knowledge.extent_index import ExtentIndex, IndexedState
from provenn.knowledge.extent_labels import ExtentLabels
from provenn.logic.knowledge.graph import SetGraph
from provenn.logic.knowledge.set_index import SetIndex
from provenn.logic.knowledge.signatures import BLOCK_OBJECTS, Signatures
from provenn.logic.knowledge.valued_objects import ValuedObjects

__all__ = ["INDICES", "IndexFiles"]

INDICES = "indices"
"""The folder of the files in the data folder of an archive."""

_MAGIC = b"provenn index 1\n"
_LENGTH = 8  # bytes that hold the length of the header


class IndexFiles:
    """The stored indices of an archive.

    Parameters
    ----------
    folder
        The folder of the files; it need not exist.
    epoch
        What distinguishes the archive from others.
    read_only
        Whether nothing is stored.
    """

    def __init__(self, folder: Path, epoch: str, *, read_only: bool = False) -> None:
        self._folder = folder
        self._read_only = read_only
        self._identity = {"version": __version__, "epoch": epoch}

    def _find_path(self, population: str) -> Path:
        name = content_digest("index of a population", [population, self._identity["epoch"]])[:32]
        return self._folder / f"{name}-{os.getuid()}"

    def load(self, population: str) -> ExtentIndex | None:
        """Return the stored index of a population, or None if there is none to rely on."""
        try:
            with self._find_path(population).open("rb") as file:
                if not _is_own(file.fileno()):
                    return None
                content = memoryview(file.read())
            header, arrays = _unpack(content)
            if header["identity"] != self._identity or header["population"] != population:
                return None
            return _restore(header, arrays)
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return None

    def save(self, index: ExtentIndex) -> None:
        """Store an index if the folder can be written; whether or not it can changes no answer."""
        index.new_catalogs, index.stored_objects = 0, index.sets.signatures.objects
        if self._read_only:
            return
        digests, literals, others = index.labels.to_arrays()
        graph, signatures = index.sets.graph, index.sets.signatures
        signatures.refresh()
        arrays: dict[str, NDArray[Any]] = {
            "digests": digests,
            "literals": literals.astype(np.int32),
            "left": np.array(graph.left, np.int32),
            "right": np.array(graph.right, np.int32),
            "constraints": np.array(list(index.sets.constraints), np.int32),
        }
        for number, block in enumerate(signatures.blocks):
            arrays[f"block {number}"] = block[: signatures.nodes]
        newest = index.state.newest
        header = {
            "identity": self._identity,
            "population": index.population,
            "catalogs": index.state.catalogs,
            "newest": None if newest is None else newest.astimezone(UTC).isoformat(),
            "objects": signatures.objects,
            "labels": others,
            "bases": list(index.bases),
            "definers": index.definers,
            "rows": index.sets.valued.rows,
            "certain": f"{index.sets.valued.certain:x}",
            "known": list(index.sets.valued.known),
        }
        with suppress(OSError):
            make_folders(self._folder)
            write_durably(self._find_path(index.population), _pack(header, arrays), mode=0o600)


def _is_own(descriptor: int) -> bool:
    """Return whether a file belongs to this person, and no other person can write it."""
    status = os.fstat(descriptor)
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _restore(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ExtentIndex:
    """Return the index in a file; KeyError, ValueError or TypeError if the file holds no index."""
    left, right = arrays["left"], arrays["right"]
    nodes = np.arange(len(left))
    if (left[1:] >> 1 >= nodes[1:]).any() or (right >> 1 > np.maximum(nodes - 1, 0)).any() or (left < 0).any():
        raise ValueError("a set is made from a later one")
    for name in ("literals", "constraints"):
        if ((arrays[name] < 0) | (arrays[name] >= 2 * len(left))).any():
            raise ValueError(f"{name} name sets that do not exist")
    graph = SetGraph.of(left.tolist(), right.tolist())
    objects = int(header["objects"])
    blocks = [arrays[f"block {number}"] for number in range(-(-objects // BLOCK_OBJECTS))]
    if any(block.shape != (len(left), BLOCK_OBJECTS // 64) for block in blocks):
        raise ValueError("signatures do not fit the sets")
    labels = ExtentLabels(arrays["digests"], arrays["literals"].astype(np.int64), dict(header["labels"]))
    rows = {int(place): dict(row) for place, row in header["rows"].items()}
    valued = partial(ValuedObjects, rows=rows, certain=int(header["certain"], 16), known=header["known"])
    sets = SetIndex(labels, graph, Signatures(graph, blocks, objects), arrays["constraints"].tolist(), valued)
    newest = None if header["newest"] is None else datetime.fromisoformat(header["newest"])
    state = IndexedState(int(header["catalogs"]), newest)
    if state.catalogs != len(arrays["digests"]):
        raise ValueError("catalogs are missing")
    return ExtentIndex(
        header["population"],
        labels=labels,
        sets=sets,
        bases=header["bases"],
        definers=dict(header["definers"]),
        state=state,
    )


def _pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the content of a file."""
    contents = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    listing = [
        (name, array.dtype.str, array.shape, crc32(array.data) if array.size else 0) for name, array in contents.items()
    ]
    text = json.dumps({**header, "arrays": listing}).encode()
    start = _MAGIC + len(text).to_bytes(_LENGTH, "little") + crc32(text).to_bytes(_LENGTH, "little") + text
    return b"".join((start, *(array.tobytes() for array in contents.values())))


def _unpack(content: memoryview) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file; ValueError if the file is damaged."""
    place = len(_MAGIC) + 2 * _LENGTH
    length, checksum = np.frombuffer(content[len(_MAGIC) : place], np.uint64).tolist()
    text = bytes(content[place : place + length])
    if bytes(content[: len(_MAGIC)]) != _MAGIC or crc32(text) != checksum:
        raise ValueError("the file is damaged")
    header = json.loads(text)
    place += length
    arrays = {}
    for name, kind, shape, checksum in header["arrays"]:
        dtype = np.dtype(kind)
        size = dtype.itemsize * int(np.prod(shape))
        part = content[place : place + size]
        if len(part) != size or (size and crc32(part) != checksum):
            raise ValueError("the file is damaged")
        arrays[name] = np.frombuffer(part, dtype).reshape(shape).copy()
        place += size
    return header, arrays
