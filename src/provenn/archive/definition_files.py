"""Portable files of definitions, names and facts: export and import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import TextIOBase
from os import PathLike, fspath
from typing import Any, BinaryIO

from provenn.archive.context import Context
from provenn.archive.implications import find_implications
from provenn.archive.notices import make_implication_notices
from provenn.archive.questions import translate_contradictions
from provenn.archive.references import CatalogReference
from provenn.data.leftovers import Hold, open_writing_folder
from provenn.data.pins import hold_outside
from provenn.database.transactions import Database
from provenn.definitions.catalog_store import resolve_catalog
from provenn.durable import publish_new
from provenn.errors import ArgumentsError, FileError, ProvennError, StoreError
from provenn.files.data_folder import DataFolder
from provenn.gate.local_paths import expand_home
from provenn.knowledge import stored_facts
from provenn.people import audit_log
from provenn.transfer.exporting import export_archive
from provenn.transfer.importing import ImportSummary, stage_file, take_over, write_in_batches
from provenn.words.vocabulary import name_facts

__all__ = ["export_definitions", "import_definitions"]

_File = str | PathLike[str] | BinaryIO

_STATES = {"held": "is held", "retracted": "was retracted"}


def export_definitions(database: Database, file: _File, which: Iterable[CatalogReference] | None) -> dict[str, int]:
    """Write a portable file; see `Archive.export_definitions`."""
    with database.reading() as reading:
        only = (
            None
            if which is None
            else {
                resolve_catalog(reading, reference) if isinstance(reference, str) else reference.digest
                for reference in which
            }
        )
        with _open_new_file(file, hold_outside(database)) as opened:
            return export_archive(reading, opened, only, database.folder)


@contextmanager
def _open_new_file(file: _File, hold: Hold) -> Iterator[BinaryIO]:
    """Open a new file, published only when complete."""
    if not isinstance(file, str | PathLike):
        yield _require_binary(file, "write")
        return
    path = expand_home(file)
    target = path.absolute()
    try:
        if path.exists():
            raise FileError(f"{path} already exists", hint="choose another file: existing files are not overwritten")
        with open_writing_folder(DataFolder.of(target.parent), target.name, hold) as name:
            unfinished = target.parent / name / "result"
            with unfinished.open("xb") as opened:
                yield opened
            publish_new(unfinished, target)
    except StoreError as error:  # about the hidden folder
        raise FileError(f"{path} cannot be written: {error.message}", hint=error.hint) from error
    except ProvennError:  # some are an OSError, too
        raise
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}") from error


def import_definitions(context: Context, file: _File, prefix: str) -> ImportSummary:
    """Import the contents of a portable file, with notices about the implications; see `Archive.import_definitions`."""
    with context.database.reading() as reading:
        latest = stored_facts.find_latest_number(reading)
    imported = _import_file(context.database, file, prefix)
    with context.database.reading() as reading:
        new = [fact for fact in stored_facts.find_facts_since(reading, latest) if fact.origin == "declared"]
        notices = make_implication_notices(
            "by the imported facts", find_implications(reading, new), name_facts(reading, new)
        )
        repeated = name_facts(reading, stored_facts.get_facts(reading, imported.repeated))
    context.workshop.notices.tell(notices)
    sentences = (
        f"fact #{fact.id}, {fact.statement}, {_STATES[imported.repeated[fact.id]]} already, for another reason; "
        "the audit keeps the reason in the file"
        for fact in repeated
    )
    return replace(imported, unchanged=(*imported.unchanged, *sentences))


def _import_file(database: Database, file: _File, prefix: str) -> ImportSummary:
    """Import the contents of a portable file.

    Concurrent writers do not wait for long: the file is read and checked without a transaction, and definitions are
    written in short transactions. The import is invisible until the last transaction publishes everything.
    """
    with _open_readable(file) as (opened, name):
        staged = stage_file(database.reading, opened, name, database.folder)
    with write_in_batches(database, staged) as written, database.writing() as writing:
        with translate_contradictions(writing, {}):
            imported = take_over(writing, staged, prefix=prefix, written=written)
        summary = ", ".join(f"{count} {kind}" for kind, count in imported.new.items())
        audit_log.record_action(writing, "import", name, summary)
        return imported


@contextmanager
def _open_readable(file: _File) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file to read, and yield the file with a name for messages."""
    if not isinstance(file, str | PathLike):
        yield _require_binary(file, "read"), "the file"
        return
    try:
        with expand_home(file).open("rb") as opened:
            yield opened, fspath(file)
    except ProvennError:
        raise
    except OSError as error:
        raise FileError(f"{fspath(file)} cannot be read: {error.strerror or error}") from error


def _require_binary(file: BinaryIO, operation: str) -> BinaryIO:
    """Return a file that is open for bytes; refuse every other object."""
    is_text: Any = isinstance(file, TextIOBase)
    if is_text:
        raise ArgumentsError(
            "expected a path or a file of bytes, got a file of text",
            hint='pass a path, or open the file as "wb" or "rb"',
        )
    if not hasattr(file, operation):
        raise TypeError(f"expected a path or a file of bytes, got {file!r:.60}")
    return file
