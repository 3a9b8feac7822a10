"""Criteria that say the same in other words are the same criterion: canonical texts, pinned."""

import pytest
from hypothesis import strategies as st

from provenn.criteria import Attribute, order_facts, parse_criterion, parse_expression, parse_type, with_names
from tests.criteria.oracle import TYPES, criteria, random_cases
from tests.criteria.proofs import SCHEMA, criterion

IDENTITIES = {attribute.identity: attribute for attribute in SCHEMA.values()}


@pytest.mark.parametrize(
    ("canonical", "texts"),
    [
        ("`star.vmag` < 6.0D", ["vmag < 6", "VMAG<6", "6 > vmag", "not vmag>=6.0", "(vmag) < 6e0", "vmag < 5 + 1"]),
        ("`star.vmag` <= 6.0D", ["vmag <= 6", "NOT (6 < vmag)"]),
        (
            "`star.vmag` >= 5.0D AND `star.vmag` <= 6.0D",
            ["vmag BETWEEN 5 AND 6", "vmag <= 6 and 5 <= vmag", "NOT (vmag NOT BETWEEN 5 AND 6)"],
        ),
        ("`star.n_obs` IN (1, 5)", ["n_obs IN (5, 1, 1)", "n_obs = 1 OR 5 = n_obs", "NOT (n_obs NOT IN (1, 5))"]),
        ("`star.n_obs` NOT IN (1, 5)", ["n_obs NOT IN (1, 5)", "n_obs <> 1 AND n_obs <> 5"]),
        ("`star.n_obs` < 6", ["n_obs < 5.5", "n_obs <= 5", "n_obs < 6L", "n_obs < 5.1D"]),
        ("`star.n_obs` < 3 OR `star.n_obs` = 7", ["n_obs = 7 OR n_obs < 3"]),
        ("`star.vmag` IS NULL", ["vmag IS NULL", "isnull(vmag)", "vmag <=> NULL", "NOT vmag IS NOT NULL"]),
        ("`star.vmag` <> `star.vmag`", ["vmag < 3 AND vmag > 5", "vmag <> vmag"]),
        ("`star.vmag` < 6.0D AND `star.vmag` IS NOT NULL", ["(vmag < 6) IS TRUE"]),
        ("`star.vmag` >= 6.0D OR `star.vmag` IS NULL", ["(vmag < 6) IS NOT TRUE"]),
        ("`star.bv` > 0.5D", ["`B-V` > 0.5", "`b-v` > 1/2"]),
        ("`star.dec` < `star.vmag`", ["dec < vmag", "vmag > dec", "NOT (dec >= vmag)"]),
        ("CAST(`star.n_obs` AS DOUBLE) < `star.vmag`", ["n_obs < vmag"]),
        ("NOT `star.variable`", ["variable = FALSE", "NOT variable", "variable <> TRUE", "!variable"]),
        ("`star.variable` IS NOT TRUE", ["variable IS NOT TRUE", "coalesce(NOT variable, TRUE)"]),
        (
            "`star.dec` > 0.0D AND `star.vmag` < 6.0D",
            ["vmag < 6 AND dec > 0", "dec > 0 AND vmag < 6 AND dec > -1", "NOT (vmag >= 6 OR dec <= 0)"],
        ),
        ("`star.name` LIKE 'HD\\\\_%'", [r"name LIKE 'HD\_%'", r"name like 'HD\\_%'"]),
        ("`star.name` < 'it\\'s'", [r"name < 'it\'s'", 'name < "it\'s"']),
        ("`star.name` <= 'b'", ["name <= 'b'"]),
        ("`star.seen` >= DATE '2020-02-29'", ["seen > '2020-02-28'", "seen >= DATE '2020-02-29'"]),
        ("`star.at` <= TIMESTAMP '2020-01-01 00:00:00'", ["at <= '2020-01-01'"]),
        ("1000.0D / CAST(`star.plx` AS DOUBLE) < 100.0D", ["1000 / plx < 100", "1e3 / plx < 1e2"]),
        ("concat(`star.name`, 'x') = 'ax'", ["name || 'x' = 'ax'", "CONCAT(name, 'x') = 'ax'"]),
        ("TRUE", ["1 = 1", "hip IS NOT NULL", "TRUE OR vmag < 6"]),
        ("NULL", ["NULL", "NULL = 1", "NOT NULL"]),
    ],
)
def test_canonical_text_is_pinned_and_does_not_depend_on_wording(canonical, texts):
    for text in texts:
        assert criterion(text).canonical == canonical


def test_canonical_text_is_over_identities_whatever_the_names():
    renamed = {"v": SCHEMA["vmag"]}
    assert parse_criterion("v < 6", renamed) == criterion("vmag < 6")
    assert parse_criterion("v < 6", renamed).text == "v < 6"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("6 > VMAG", "VMAG < 6"),
        ("vmag between 5 and 6.50", "vmag >= 5 AND vmag <= 6.5"),
        ("`B-V` > 0.5 and not variable", "NOT variable AND `B-V` > 0.5"),
        ("1000/plx < 100", "1000 / plx < 100"),
        ("n_obs * 0.5D < 3", "0.5D * n_obs < 3"),
        ("price < 1.5", "price < 1.50"),
    ],
)
def test_text_for_people_keeps_their_names_and_numbers(text, shown):
    assert criterion(text).text == shown
    assert criterion(shown) == criterion(text)


@random_cases(50, 3_000)
def test_canonical_text_is_read_back_as_the_same_criterion(data):
    columns = [(name, data.draw(st.sampled_from(TYPES))) for name in "xy"]
    tree = data.draw(criteria(*columns, between_columns=True))
    schema = {name: Attribute(name, parse_type(kind), data.draw(st.booleans())) for name, kind in columns}
    first = parse_criterion(tree.sql(), schema)
    again = parse_criterion(first.canonical, schema)
    assert again == first
    assert (again.true, again.false, again.atoms) == (first.true, first.false, first.atoms)


@random_cases(25, 3_000)
def test_every_label_is_a_criterion_whose_true_set_it_names(data):
    columns = [(name, data.draw(st.sampled_from(TYPES))) for name in "xy"]
    tree = data.draw(criteria(*columns, between_columns=True))
    schema = {name: Attribute(name, parse_type(kind)) for name, kind in columns}
    for atom in parse_criterion(tree.sql(), schema).atoms:
        assert parse_criterion(atom.label, schema).true.label == atom.label


@pytest.mark.parametrize("text", ["to_timestamp(seen) < seen", "CAST(n_obs AS BIGINT) + big = n_obs + big"])
def test_a_cast_that_is_written_is_the_one_that_spark_makes_by_itself(text):
    schema = SCHEMA | {"seen": Attribute("star.seen", parse_type("timestamp_ntz"))}
    parsed = parse_criterion(text, schema)
    again = parse_criterion(parsed.canonical, {attribute.identity: attribute for attribute in schema.values()})
    assert (again, again.true) == (parsed, parsed.true)


def test_expressions_are_read_back_too():
    for text in (
        "1000 / plx",
        "-(-n_obs)",
        "-0.0D",
        "CASE WHEN vmag < 6 THEN name ELSE 'faint' END",
        "vmag < 6",
        "coalesce(n_obs, 1.5) - (price - 2) * 3",
        "(n_obs & 4) | 1",
        "CAST(NULL AS DECIMAL(7,2))",
    ):
        first = parse_expression(text, SCHEMA)
        assert parse_expression(first.canonical, IDENTITIES) == first


def test_names_are_put_in_for_identities_but_not_inside_strings():
    names = {"star.name": "name", "star.bv": "B-V"}
    assert with_names("`star.name` = '`star.name`'", names) == "name = '`star.name`'"
    assert with_names("`star.bv` < `other`", names) == "`B-V` < `other`"


def test_facts_go_from_the_top_down_and_each_begins_with_a_new_label():
    parts = [criterion(f"vmag < {n}") for n in (3, 1, 2)] + [criterion("log10(1000 / plx) < 1"), criterion("plx < 5")]
    facts = order_facts(atom for part in parts for atom in part.atoms)
    log = "log10(1000.0D / CAST(`star.plx` AS DOUBLE))"
    assert [str(fact) for fact in facts] == [
        '"`star.plx` < 5.0F" <= "`star.plx` IS NOT NULL"',
        '"`star.vmag` < 3.0D" <= "`star.vmag` IS NOT NULL"',
        '"`star.vmag` < 2.0D" <= "`star.vmag` < 3.0D"',
        '"`star.vmag` < 1.0D" <= "`star.vmag` < 2.0D"',
        f'"{log} IS NOT NULL" <= "`star.plx` IS NOT NULL"',
        f'"{log} < 1.0D" <= "{log} IS NOT NULL"',
    ]


@random_cases(25, 2_000)
def test_no_fact_begins_with_a_label_that_an_earlier_one_mentions(data):
    columns = [(name, data.draw(st.sampled_from(TYPES))) for name in "xy"]
    schema = {name: Attribute(name, parse_type(kind)) for name, kind in columns}
    trees = data.draw(st.lists(criteria(*columns, between_columns=True), min_size=1, max_size=3))
    facts = order_facts(atom for tree in trees for atom in parse_criterion(tree.sql(), schema).atoms)
    mentioned: set[str] = set()
    for fact in facts:
        assert fact.left.label
        assert fact.left.label not in mentioned
        mentioned.update(fact.labels)
