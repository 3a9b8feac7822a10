"""A portable file is imported whole, or refused and nothing of it taken, whatever was done to it."""

import gzip
import json
from hashlib import sha256

import pytest

from tests.fuzz.files import exported, importer, try_files
from tests.fuzz.trying import random_input

pytestmark = pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")  # what is imported empties a catalog


def test_the_file_is_good_before_anything_spoils_it(made, tmp_path):
    assert importer(tmp_path)(exported(made))


@random_input(quick=25, campaign=5_000)
def test_a_spoiled_file_is_imported_whole_or_not_at_all(made, tmp_path, cases):
    tried = try_files(exported(made), tmp_path, cases)
    assert tried.accepted < tried.cases


def test_a_name_that_is_gone_without_having_been_deleted_leaves_the_archive_sound(made, tmp_path):
    """Found: its history was taken over as it was, and then `check` found the name missing."""

    def gone(lines):
        next(line for line in lines if "name" in line)["name"]["catalog"] = None

    assert importer(tmp_path)(_changed(exported(made), gone))


@pytest.mark.parametrize("note", [None, 5, {}, {"a": 5}, ["a"]])
def test_notes_of_another_kind_are_refused(made, tmp_path, note):
    """Found: they are in no digest, were taken over, and broke what looks for words in them."""

    def noted(lines):
        kind, key = ("SelectSources", "text") if note == {} else ("DeriveAttributes", "texts")
        definitions = (line["definition"] for line in lines if "definition" in line)
        next(definition for definition in definitions if definition["kind"] == kind and key in definition["notes"])[
            "notes"
        ][key] = note

    assert not importer(tmp_path)(_changed(exported(made), noted))


def _changed(file, change):
    """Return a file with other lines, and the digest of these."""
    lines = [json.loads(line) for line in gzip.decompress(file).splitlines()[:-1]]
    change(lines)
    text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return gzip.compress(text + json.dumps({"digest": sha256(text).hexdigest()}).encode() + b"\n")
