"""Selections."""

import pytest

from provenn.catalogs import (
    CombineAttributes,
    ConcatSources,
    ExcludeSources,
    KeepAttributes,
    RenameAttributes,
    SelectSources,
)
from provenn.catalogs.extent import leaf
from provenn.criteria import order_facts, render
from provenn.errors import CriterionError
from provenn.logic import Knowledge, disjoint, equal, statement, subset
from tests.catalogs.samples import base

A = base()
VMAG = f"`{A.digest}:vmag`"


def test_a_selection_is_its_parent_and_the_set_of_its_criterion():
    bright = SelectSources.of(A, "vmag < 6")
    assert bright.facts() == (statement(f'"{bright.digest}" == "{A.digest}" & "{VMAG} < 6.0D"'),)
    assert [atom.label for atom in bright.atoms()] == [f"{VMAG} < 6.0D", f"{VMAG} IS NOT NULL"]
    assert bright.extent == A.extent & leaf(f"{VMAG} < 6.0D")
    assert bright.schema == A.schema


def test_the_wording_is_kept_but_is_not_identity():
    bright = SelectSources.of(A, "6 > VMAG")
    assert bright.notes() == {"text": "6 > VMAG"}
    assert "VMAG" not in str(bright.parameters())


def test_the_criterion_can_be_written_for_spark_under_any_names():
    bright = SelectSources.of(A, "VMAG < 6")
    assert render(bright.criterion, {f"{A.digest}:vmag": "v"}) == "`v` < 6.0D"


def test_a_restored_selection_reads_no_sql_until_it_must(monkeypatch: pytest.MonkeyPatch):
    catalog = SelectSources.of(A, "vmag < 6")
    monkeypatch.setattr("provenn.catalogs.select_sources.parse_criterion", None)
    monkeypatch.setattr("provenn.catalogs.selection.parse_criterion", None)
    again = SelectSources.restored(catalog.parameters(), catalog.notes(), [A])
    assert (again, again.extent, again.facts(), again.atoms()) == (
        catalog,
        catalog.extent,
        catalog.facts(),
        catalog.atoms(),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("vmagg < 6", "no attribute 'vmagg'"),
        ("vmag <", "cannot be parsed"),
        ("vmag", "a condition is needed"),
        ("vmag < 'six'", "vmag"),
        ("rand() < 0.1", "rand"),
        ("", "the expression is empty"),
    ],
)
def test_what_is_no_criterion_is_refused(text: str, problem: str):
    with pytest.raises(CriterionError, match=problem):
        SelectSources.of(A, text)


def test_an_attribute_that_is_dropped_later_still_decides():
    bright = KeepAttributes.of(SelectSources.of(A, "vmag < 6"), ["plx"])
    fainter = KeepAttributes.of(SelectSources.of(A, "vmag < 8"), ["plx"])
    known = Knowledge(
        [
            fact
            for catalog in (bright, fainter)
            for dependency in (*catalog.dependencies, catalog)
            for fact in dependency.facts()
        ]
    )
    known.add(*order_facts([*bright.parent.atoms(), *fainter.parent.atoms()]))
    assert known.entails(subset(bright.digest, fainter.digest))
    with pytest.raises(CriterionError, match="no attribute 'vmag'"):
        SelectSources.of(bright, "vmag < 4")


# --- criteria on attributes that a concatenation puts together ---

NORTH, SOUTH = base("north"), base("south")
SKY = ConcatSources.of(NORTH, SOUTH, overlap="first")


def known_of(*catalogs, facts=()) -> Knowledge:
    atoms = [atom for catalog in catalogs for atom in catalog.atoms()]
    return Knowledge([*(fact for catalog in catalogs for fact in catalog.facts()), *order_facts(atoms), *facts])


def test_a_criterion_on_an_attribute_in_pieces_is_the_first_members_in_it_and_the_second_members_outside():
    bright = SelectSources.of(SKY, "vmag < 6")
    north, south = (f"`{catalog.digest}:vmag` < 6.0D" for catalog in (NORTH, SOUTH))
    expected = f'"{NORTH.digest}" & "{north}" | ("{SOUTH.digest}" & "{south}") - "{NORTH.digest}"'
    assert bright.facts() == (statement(f'"{bright.digest}" == "{SKY.digest}" & ({expected})'),)
    assert set(bright.extent.labels) == {NORTH.digest, SOUTH.digest, north, south}


def test_selecting_from_disjoint_members_or_from_all_together_is_the_same_if_they_are_disjoint():
    apart = ConcatSources.of(
        SelectSources.of(NORTH, "vmag < 6"), SelectSources.of(SOUTH, "vmag < 6"), overlap="disjoint"
    )
    together = SelectSources.of(ConcatSources.of(NORTH, SOUTH, overlap="disjoint"), "vmag < 6")
    same = equal(apart.digest, together.digest)
    catalogs = (*apart.dependencies, apart, *together.dependencies, together)
    assert not known_of(*catalogs).entails(same)
    assert known_of(*catalogs, facts=[disjoint(NORTH.digest, SOUTH.digest)]).entails(same)


def test_criteria_on_pieces_imply_one_another():
    bright, faint = SelectSources.of(SKY, "vmag < 6"), SelectSources.of(SKY, "vmag >= 8")
    fainter = SelectSources.of(SKY, "vmag < 8")
    known = known_of(SKY, bright, faint, fainter)
    assert known.entails(subset(bright.digest, fainter.digest))
    assert known.entails(disjoint(fainter.digest, faint.digest))


def test_attributes_from_the_same_members_are_expanded_together():
    """A criterion that compares two of them has one piece a member, not one a pair of members."""
    catalog = SelectSources.of(SKY, "vmag < plx")
    pieces = [atom for atom in catalog.atoms() if "IS NOT NULL" not in atom.label]
    assert all(atom.label.count(NORTH.digest) in (0, 2) for atom in pieces)
    assert catalog.selection.true.postfix.count(SOUTH.digest) == 1
    assert SelectSources.of(SKY, "vmag < 6 AND plx > 1 OR vmag IS NULL").selection.true.labels.count(SOUTH.digest) == 1


def test_attributes_from_different_concatenations_are_expanded_one_after_the_other():
    east, west = base("east"), base("west")
    colours = RenameAttributes.of(ConcatSources.of(east, west, overlap="first"), {"vmag": "b", "plx": "p"})
    catalog = SelectSources.of(CombineAttributes.of(SKY, colours), "vmag < b")
    compared = [label for label in catalog.extent.labels if label.startswith("`")]
    assert {
        tuple(element.digest in label for element in (NORTH, SOUTH, east, west))
        for label in compared
        if "IS NOT NULL" not in label
    } == {
        (True, False, True, False),
        (True, False, False, True),
        (False, True, True, False),
        (False, True, False, True),
    }
    apart = SelectSources.of(CombineAttributes.of(SKY, colours), "vmag < 6 AND b < 6")
    assert [apart.selection.true.postfix.count(element.digest) for element in (SOUTH, west)] == [1, 1]


def test_a_concatenation_of_concatenations_has_pieces_of_pieces():
    third = base("third")
    nested = ConcatSources.of(SelectSources.of(SKY, "plx > 1"), third, overlap="first")
    catalog = SelectSources.of(nested, "vmag < 6")
    labels = {f"`{element.digest}:vmag` < 6.0D" for element in (NORTH, SOUTH, third)}
    assert labels < set(catalog.extent.labels)
    assert f"`{nested.schema['vmag'].identity}` < 6.0D" not in catalog.extent.labels
    again = SelectSources.restored(catalog.parameters(), catalog.notes(), [nested])
    assert again.extent == catalog.extent


def test_a_night_added_a_hundred_times_can_still_be_selected_from():
    """Each concatenation shares the pieces of the one before."""
    sky = NORTH
    for night in range(100):
        sky = ConcatSources.of(sky, base(f"night {night}"), overlap="first")
    catalog = SelectSources.of(sky, "vmag < 6")
    assert len([atom for atom in catalog.atoms() if atom.cut is not None]) == 101
    assert len(catalog.extent.labels) == 202


def test_other_attributes_of_a_concatenation_need_no_pieces():
    bright, near = SelectSources.of(A, "vmag < 6"), SelectSources.of(A, "plx > 100")
    either = ConcatSources.of(bright, near)
    assert SelectSources.of(either, "vmag < 4").extent == (bright.extent | near.extent) & leaf(f"{VMAG} < 4.0D")
    assert ExcludeSources(either, near).extent == bright.extent - near.extent
