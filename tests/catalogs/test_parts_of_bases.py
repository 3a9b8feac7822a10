"""Parts of base catalogs, which later versions share, and files that were appended: their content alone decides."""

from dataclasses import replace

import pytest

from provenn.catalogs import Base, ConcatSources, list_version_bases, verbs
from provenn.errors import DefinitionError
from tests.catalogs.samples import Rows
from tests.targets import grown_skies
from tests.targets.grown_skies import prints_of

PLACE = "/nowhere/days"


def base_of(folder: dict[str, Rows]) -> Base:
    """The base catalog of files that are nowhere."""
    return grown_skies.base_of(folder, PLACE)


ROW = {"hip": 1, "vmag": 1.0, "plx": 2.0}
FOLDER = {name: {key: {**ROW, "hip": key}} for key, name in enumerate("abc")}
WHOLE = base_of(FOLDER)
KEPT = {name: FOLDER[name] for name in "ab"}
PART = WHOLE.take(prints_of(KEPT), PLACE)


def test_a_part_has_the_attributes_of_the_whole_and_fewer_sources():
    assert PART.schema["vmag"].identity == WHOLE.schema["vmag"].identity
    assert PART.extent & WHOLE.extent == PART.extent != WHOLE.extent
    restored = Base.restored(PART.parameters(), PART.notes(), ())
    assert (restored.digest, restored.extent) == (PART.digest, PART.extent)
    restored.check_consistency()
    assert WHOLE.take(prints_of(FOLDER), PLACE) == WHOLE, "all files are the whole"
    smaller = PART.take(prints_of({"a": FOLDER["a"]}), PLACE)
    assert smaller.part_of == WHOLE.digest
    smaller.check_consistency()


def test_nobody_can_make_other_files_a_part():
    other = base_of({"d": {9: {**ROW, "hip": 9}}})
    for lie in (
        replace(other, part_of=WHOLE.digest, gone=PART.gone),
        replace(PART, gone=()),
        replace(PART, part_of=other.digest),
        replace(PART, gone=(*PART.gone, "blake3:00")),
    ):
        with pytest.raises(DefinitionError, match="not a part of the files"):
            lie.check_consistency()


def test_only_base_catalogs_are_the_files_of_a_version():
    new = base_of({"d": {9: {**ROW, "hip": 9}}})
    version = ConcatSources.of(PART, new, overlap="files")
    assert list_version_bases(version) == (PART, new)
    assert version.required_statement() is not None, "a proof that no source is in two of them"
    assert list_version_bases(verbs.concat(PART, new, overlap="first")) is None
    with pytest.raises(DefinitionError, match="only base catalogs"):
        ConcatSources.of(verbs.select(PART, "vmag < 2"), new, overlap="files")


NEXT = base_of({"d": {9: {**ROW, "hip": 9}}}).continue_base(WHOLE.digest)
LAST = base_of({"e": {10: {**ROW, "hip": 10}}}).continue_base(WHOLE.digest)


def test_joined_files_have_the_attributes_and_sources_of_the_base_catalogs():
    joined = WHOLE.join(NEXT).join(LAST)
    assert {base.schema["vmag"].identity for base in (WHOLE, NEXT, LAST, joined)} == {WHOLE.schema["vmag"].identity}
    assert joined.extent == WHOLE.extent | NEXT.extent | LAST.extent
    assert joined.list_parts() == (WHOLE, NEXT, LAST) == list_version_bases(joined)
    assert joined.find_parts([NEXT.digest]) == (NEXT,)
    restored = Base.restored(joined.parameters(), joined.notes(), ())
    assert (restored.digest, restored.extent) == (joined.digest, joined.extent)
    restored.check_consistency()
    assert joined.find_parts([NEXT.digest])[0].extent == NEXT.extent


def test_a_part_of_appended_files_keeps_their_attributes():
    two = base_of({"d": {9: {**ROW, "hip": 9}}, "e": {10: {**ROW, "hip": 10}}}).continue_base(WHOLE.digest)
    part = two.take(prints_of({"d": {9: {**ROW, "hip": 9}}}), PLACE)
    assert (part.part_of, part.origin) == (two.digest, WHOLE.digest)
    part.check_consistency()
    assert not part.can_join(LAST), "some of its files are gone"


def test_nobody_can_join_other_files():
    joined = WHOLE.join(NEXT)
    (whole, texts), (following, others) = joined.joins
    for lie in (
        replace(joined, joins=((whole, others), (following, texts))),
        replace(joined, joins=((whole, (*texts, *others)),)),
        replace(joined, joins=((whole, texts),)),
        replace(joined, continues=None),
        replace(joined, joins=((LAST.digest, texts), (following, others))),
    ):
        with pytest.raises(DefinitionError, match="not those of the catalogs that it joins"):
            lie.check_consistency()


def test_files_that_are_read_differently_are_not_joined():
    elsewhere = replace(NEXT, files=replace(NEXT.files, location="/elsewhere"))
    assert WHOLE.can_join(NEXT)
    assert not WHOLE.can_join(elsewhere)
    assert not WHOLE.can_join(replace(NEXT, continues=None)), "it has other attributes"
