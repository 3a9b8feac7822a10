"""Which files of a folder belong to which base catalogs of the version before."""

from collections import Counter
from random import Random

import pytest

from provenn.archive.shared_files import share_files
from provenn.catalogs import Base
from provenn.errors import DefinitionError
from tests.targets.grown_skies import base_of, random_row

PLACE = "/nowhere/nights"


def make_base(*names: str) -> Base:
    """A base catalog of files whose content is told by the first letter of their names; e is empty."""
    rng = Random(0)
    rows = {letter: {key: random_row(rng, key)} for key, letter in enumerate("abc")} | {"e": {}}
    return base_of({name: rows[name[0]] for name in names}, PLACE)


def share(bases: list[Base], *names: str) -> tuple[list[list[str]], list[str], int]:
    shared = share_files(bases, dict(make_base(*names).files.fingerprints), PLACE)
    for part in shared.kept.values():
        part.check_consistency()
    return (
        [[name for name, _ in part.files.fingerprints] for part in shared.kept.values()],
        sorted(shared.new),
        shared.went,
    )


def test_a_file_belongs_to_the_catalog_that_has_it_under_any_name():
    one, two = make_base("a1", "b1"), make_base("c1")
    assert share([one, two], "a1", "b1", "c1") == ([["a1", "b1"], ["c1"]], [], 0)
    assert share([one, two], "a2", "c1") == ([["a2"], ["c1"]], [], 1)
    assert share([one], "c1") == ([], ["c1"], 2)


def test_a_copy_is_a_new_file():
    """It holds the same keys: if it counted as the file itself, nobody would compare them."""
    assert share([make_base("a1", "b1")], "a0", "a1", "b1") == ([["a1", "b1"]], ["a0"], 0)
    assert share([make_base("a1")], "a2", "a3") == ([["a2"]], ["a3"], 0)


def test_files_without_rows_are_counted():
    """All of them have the same fingerprint."""
    one, two = make_base("a1", "e1"), make_base("e2")
    assert share([one, two], "a1", "e1", "e2", "e3") == ([["a1", "e1"], ["e2"]], ["e3"], 0)
    both = make_base("a1", "e1", "e2")
    (part,) = share_files([both], dict(make_base("a1", "e1").files.fingerprints), PLACE).kept.values()
    assert (part.part_of, Counter(part.gone).total()) == (both.digest, 1), "a part of it, with its values"


def test_no_part_can_claim_files_that_its_whole_lacks():
    part = make_base("a1", "b1").take(dict(make_base("a1", "c1").files.fingerprints), PLACE)
    with pytest.raises(DefinitionError, match="not a part of the files"):
        part.check_consistency()
