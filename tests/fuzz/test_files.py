"""A portable file is imported whole, or refused and nothing of it taken, whatever was done to it."""

from tests.fuzz.files import exported, importer, try_files
from tests.fuzz.trying import random_input


def test_the_file_is_good_before_anything_spoils_it(made, tmp_path):
    assert importer(tmp_path)(exported(made))


@random_input(quick=40, campaign=5_000)
def test_a_spoiled_file_is_imported_whole_or_not_at_all(made, tmp_path, cases):
    tried = try_files(exported(made), tmp_path, cases)
    assert tried.accepted < tried.cases
