"""Possible rows on which catalogs would differ, and the closest statements that are proved."""

import pytest

from provenn.criteria import Attribute, parse_criterion, parse_type
from provenn.criteria.domains import encode_double
from provenn.criteria.nodes import Constant
from provenn.criteria.row_values import Uncertain, evaluate_condition
from provenn.criteria.types import DOUBLE


def double_vmag(batch):
    return batch.assign(twice=2 * batch["vmag"])[["twice"]]


def words(relation):
    return [witness.words for witness in relation.witnesses]


def test_a_row_for_each_side_and_for_both(archive, stars):
    stars.select("vmag < 6", name="bright")
    stars.select("plx > 4", name="near")
    relation = archive.relate("bright", "near", why=True)
    assert [(one.inside, one.outside) for one in relation.witnesses] == [
        (("bright",), ("near",)),
        (("near",), ("bright",)),
        (("bright", "near"), ()),
    ]
    assert archive.relate("bright", "near").witnesses == ()
    assert all(line in str(relation) for line in words(relation))
    assert "would be in near and not in bright" in relation._repr_html_()


@pytest.mark.parametrize(
    ("one", "other", "values"),
    [
        ("-vmag > -5", "vmag < 5", {"vmag": "NaN"}),
        ("coalesce(vmag, 1) < 5", "vmag < 5", {"vmag": "NULL"}),
        ("vmag <= 5", "vmag < 5", {"vmag": "5"}),
        ("vmag < 5.000000000000001", "vmag <= 5", None),
        ("hip < 5", "hip + 1 < 6 AND hip < 4", {"hip": "4"}),
    ],
)
def test_the_surprise_is_found(archive, stars, one, other, values):
    left, right = stars.select(one), stars.select(other)
    alone = [row for row in archive.relate(left, right, why=True).witnesses if len(row.inside) == 1]
    assert [dict(row.values) for row in alone] == ([] if values is None else [values])


def test_derived_attributes_are_computed(archive, stars):
    derived = stars.derive(twice="2 * vmag")
    relation = archive.relate(derived.select("twice > 10"), stars.select("vmag > 6"), why=True)
    assert [dict(row.values) for row in relation.witnesses if len(row.inside) == 1] == [{"vmag": "6"}]


def test_facts_exclude_rows(archive, stars):
    stars.select("vmag < 6", name="bright")
    stars.select("plx > 4", name="near")
    archive.declare("bright <= near")
    assert [(one.inside, one.outside) for one in archive.relate("bright", "near", why=True).witnesses] == [
        (("near",), ("bright",))
    ]
    stars.select("vmag < 3", name="brilliant")
    assert archive.prove("brilliant <= near", why=True).verdict == "holds"
    archive.declare("disjoint(near, brilliant) or brilliant <= near")
    assert len(archive.relate("bright", "near", why=True).witnesses) == 1


def test_samples_and_functions_are_silent(archive, stars):
    sample = stars.sample(0.5, seed=1)
    assert archive.relate(sample, stars.select("vmag < 6"), why=True).witnesses == ()
    calculator = archive.calculator("double", double_vmag, inputs=["vmag"], outputs={"twice": "double"})
    assert archive.relate(stars.derive(calculator).select("twice < 5"), stars, why=True).witnesses == ()
    assert archive.relate(stars.select("log10(vmag) > 1"), stars.select("vmag > 10"), why=True).witnesses == ()


def test_the_closest_statements(archive, stars):
    stars.select("vmag < 6 AND plx > 2", name="one")
    stars.select("vmag < 7 AND plx > 3", name="two")
    stars.select("vmag >= 8", name="three")
    assert list(map(str, archive.prove("one == two", why=True).closest)) == [
        'one - "plx <= 3" <= two',
        'two & "vmag < 6" <= one',
    ]
    assert list(map(str, archive.prove("one == three", why=True).closest)) == ["disjoint(one, three)"]
    assert list(map(str, archive.prove("one <= stars and one == stars", why=True).closest)) == ["one <= stars"]
    assert archive.prove("one == two").closest == ()


def test_the_closest_statements_mention_no_catalog_without_a_name(archive, stars):
    """A reader does not know the digest of a catalog that only a fact mentions."""
    stars.select("vmag < 6", name="bright")
    stars.select("plx > 10", name="near")
    rest = stars.sample(0.5, seed=1)
    archive.declare(f"near <= bright | '{rest.digest}'")
    assert archive.prove("near <= bright", why=True).closest == ()
    stars.sample(0.5, seed=1, name="rest")
    assert list(map(str, archive.prove("near <= bright", why=True).closest)) == ["near - rest <= bright"]


@pytest.mark.parametrize("text", ["log10(x) > 1", "x LIKE 'a'", "in_moc(x, y, '3/1')", "sin(x) < 1"])
def test_an_uncertain_value_is_not_used(text):
    schema = {name: Attribute(name, parse_type("string" if "LIKE" in text else "double")) for name in ("x", "y")}
    condition = parse_criterion(text, schema).condition
    values = {name: Constant(schema[name].type, "b" if "LIKE" in text else encode_double(1.0)) for name in ("x", "y")}
    with pytest.raises(Uncertain):
        evaluate_condition(condition, values)
    assert evaluate_condition(parse_criterion(f"{text} OR y IS NOT NULL", schema).condition, values) is True
    with pytest.raises(Uncertain):
        evaluate_condition(condition, {"x": Constant(DOUBLE, 0)} if "LIKE" not in text else {})
