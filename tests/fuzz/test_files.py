"""A portable file is imported whole, or refused and nothing of it taken, whatever was done to it."""

import gzip
import json
from hashlib import sha256

from tests.fuzz.files import exported, importer, try_files
from tests.fuzz.trying import random_input


def test_the_file_is_good_before_anything_spoils_it(made, tmp_path):
    assert importer(tmp_path)(exported(made))


@random_input(quick=25, campaign=5_000)
def test_a_spoiled_file_is_imported_whole_or_not_at_all(made, tmp_path, cases):
    tried = try_files(exported(made), tmp_path, cases)
    assert tried.accepted < tried.cases


def test_a_name_that_is_gone_without_having_been_deleted_leaves_the_archive_sound(made, tmp_path):
    """Found: its history was taken over as it was, and then `check` found the name missing."""
    lines = [json.loads(line) for line in gzip.decompress(exported(made)).splitlines()[:-1]]
    next(line for line in lines if "name" in line)["name"]["catalog"] = None
    text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    assert importer(tmp_path)(gzip.compress(text + json.dumps({"digest": sha256(text).hexdigest()}).encode() + b"\n"))
