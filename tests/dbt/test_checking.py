"""What is found in a project: equal models, lost rows, unions, tests that follow, and tests that contradict."""

import pytest

from provenn.dbt.projects import check_manifest
from tests.dbt.manifests import ORDERS, MadeManifest, make_shop


@pytest.fixture
def check(tmp_path):
    """Return a function that checks a manifest."""
    return lambda made, **options: check_manifest(made.write(tmp_path), **options)


def list_implied(findings):
    """Return the implied tests, each with the tests that it follows from."""
    return {implied.test.name: {test.name for test in implied.premises} for implied in findings.implied}


def test_models_with_the_same_rows_are_found_whatever_their_sql(check):
    made = (
        make_shop()
        .model("big", "select id, amount from {orders} where amount >= 100", "orders")
        .model("large", "select id, amount from {orders} where not amount < 100", "orders")
        .model("small", "select id, amount from {orders} where amount < 100", "orders")
    )
    (same,) = check(made).same_rows
    assert (same.models, same.same_columns, same.by_tests) == (("big", "large"), True, False)


def test_models_with_the_same_rows_and_other_values_are_told_apart(check):
    made = (
        make_shop()
        .model("plain", "select id, amount from {orders}", "orders")
        .model("doubled", "select id, amount * 2 as amount from {orders}", "orders")
    )
    (same,) = check(made).same_rows
    assert (same.models, same.same_columns) == (("doubled", "plain"), False)


def test_models_may_have_the_same_rows_only_as_long_as_tests_pass(check):
    made = (
        make_shop()
        .test("accepted_values", "orders", "status", values=["new", "old"])
        .test("not_null", "orders", "status")
        .model("every", "select id from {orders}", "orders")
        .model("known", "select id from {orders} where status in ('new', 'old')", "orders")
    )
    findings = check(made)
    assert [(same.models, same.by_tests) for same in findings.same_rows] == [(("every", "known"), True)]
    assert findings.lost_rows == ()


def test_rows_in_several_copies_are_never_the_same_as_rows_that_occur_once(check):
    made = (
        make_shop()
        .model("once", "select id from {orders}", "orders")
        .model("twice", "select id from {orders} union all select id from {orders}", "orders")
    )
    findings = check(made)
    assert findings.same_rows == ()
    (union,) = findings.unions
    assert (union.model, union.relation, union.is_all) == ("twice", "equal", True)


def test_lost_rows_are_told_with_their_criterion(check):
    made = make_shop().model("big", "select id from {orders} where amount >= 100", "orders")
    (lost,) = check(made).lost_rows
    assert (lost.model, lost.parent) == ("big", "orders")
    assert "`amount` >= 100" in lost.conditions[0]


def test_unions_whose_members_can_never_overlap_are_told_from_those_that_may(check):
    made = (
        make_shop()
        .model(
            "apart",
            "select id from {orders} where amount < 1 union all select id from {orders} where amount > 1",
            "orders",
        )
        .model(
            "mixed",
            "with both_ as (select id from {orders} where amount < 5 union select id from {orders} where amount > 1)"
            " select * from both_",
            "orders",
        )
    )
    assert {union.model: union.relation for union in check(made).unions} == {"apart": "disjoint", "mixed": "unknown"}


def test_a_model_that_can_have_no_rows_is_found(check):
    made = (
        make_shop()
        .model("big", "select * from {orders} where amount >= 100", "orders")
        .model("none", "select * from {big} where amount < 10", "big")
    )
    assert check(made).empty == ("none",)


def test_a_test_follows_from_definitions_and_from_tests_of_parents_and_partners(check):
    made = (
        make_shop()
        .test("accepted_values", "customers", "country", values=["GB", "FR"])
        .test("not_null", "orders", "amount")
        .model("staged", "select id as order_id, customer_id, amount from {orders}", "orders")
        .model("big", "select * from {staged} where amount > 100", "staged")
        .model(
            "joined",
            "select o.id, c.country from {orders} o join {customers} c on o.customer_id = c.id",
            "orders",
            "customers",
        )
        .test("not_null", "staged", "amount")
        .test("not_null", "big", "amount")
        .test("unique", "big", "order_id")
        .test("accepted_values", "joined", "country", values=["GB", "FR", "DE"])
        .test("not_null", "joined", "country")
    )
    implied = list_implied(check(made))
    country = next(name for name in implied if name.startswith("accepted_values_joined"))
    assert implied.pop(country) == {"accepted_values_customers_country_4"}
    assert implied == {
        "not_null_staged_amount": {"not_null_orders_amount"},
        "not_null_big_amount": set(),
        "unique_big_order_id": {"unique_orders_id", "not_null_orders_id"},
    }


def test_of_two_tests_that_follow_from_each_other_one_is_kept(check):
    made = (
        make_shop()
        .model("first", "select id, amount from {orders}", "orders")
        .model("second", "select id, amount from {orders}", "orders")
        .test("not_null", "first", "amount")
        .test("not_null", "second", "amount")
    )
    ((name, premises),) = list_implied(check(made)).items()
    assert premises == {"not_null_first_amount", "not_null_second_amount"} - {name}


def test_a_test_that_only_warns_is_no_premise(check):
    made = (
        make_shop()
        .test("not_null", "orders", "amount", SEVERITY="warn")
        .model("staged", "select * from {orders}", "orders")
        .test("not_null", "staged", "amount")
    )
    assert list_implied(check(made)) == {"not_null_orders_amount": {"not_null_staged_amount"}}


@pytest.mark.parametrize(
    "config",
    [{"ERROR_IF": "> 10"}, {"FAIL_CALC": "sum(amount)"}, {"WHERE": "amount > 5"}],
    ids=lambda config: next(iter(config)),
)
def test_a_test_with_a_threshold_or_a_condition_of_its_own_is_not_taken_for_more(check, config):
    made = (
        make_shop()
        .test("not_null", "orders", "amount", **config)
        .model("staged", "select * from {orders}", "orders")
        .test("not_null", "staged", "amount")
    )
    findings = check(made)
    assert list_implied(findings) == {}
    assert [part.name for part in findings.unread] == ["not_null_orders_amount"]


def test_tests_that_leave_no_rows_contradict_each_other(check):
    made = (
        make_shop()
        .test("accepted_values", "orders", "status", values=["new"])
        .model("staged", "select * from {orders}", "orders")
        .test("accepted_values", "staged", "status", values=["old"])
        .test("not_null", "staged", "status")
        .test("not_null", "staged", "amount")
    )
    (conflict,) = check(made).contradictions
    assert conflict.table == "orders"
    assert len(conflict.tests) == 3
    assert "not_null_staged_amount" not in conflict.tests


def test_a_test_that_contradicts_the_definition_is_found(check):
    made = (
        make_shop()
        .model("old", "select * from {orders} where status = 'old'", "orders")
        .test("accepted_values", "old", "status", values=["new"])
    )
    (conflict,) = check(made).contradictions
    assert conflict.table == "old"


def test_a_test_by_a_query_follows_if_its_query_can_have_no_rows(check):
    made = (
        make_shop()
        .model("big", "select * from {orders} where amount > 100", "orders")
        .query_test("big_is_big", "select * from {big} where amount < 50", "big")
        .query_test("big_is_not_huge", "select * from {big} where amount > 500", "big")
    )
    assert list_implied(check(made)) == {"big_is_big": set()}


def test_an_incremental_model_is_known_by_its_query_only_after_a_full_refresh(check):
    columns = {name: {"name": name, "data_type": kind} for name, kind in ORDERS.items()}
    made = make_shop().model(
        "kept",
        "select * from {orders} where amount > 100",
        "orders",
        config={"materialized": "incremental"},
        columns=columns,
    )
    made.test("not_null", "kept", "amount")
    assert list_implied(check(made)) == {}
    assert "incremental" in check(made).unread[0].reason
    assert list_implied(check(made, full_refresh=True)) == {"not_null_kept_amount": set()}


def test_a_model_with_a_limit_is_some_of_its_rows(check):
    made = (
        make_shop()
        .model("every", "select * from {orders}", "orders")
        .model("some", "select * from {orders} order by amount limit 10", "orders")
    )
    findings = check(made)
    assert findings.same_rows == ()
    assert [(lost.model, lost.parent) for lost in findings.lost_rows] == [("some", "orders")]


def test_rows_of_a_source_without_a_key_are_told_apart(check):
    made = (
        MadeManifest()
        .source("events", {"kind": "varchar", "seconds": "integer"}, keyed=False)
        .model("staged", "select * from {events}", "events")
        .model("long", "select * from {staged} where seconds > 10", "staged")
        .test("unique", "long", "kind")
        .test("not_null", "long", "seconds")
    )
    findings = check(made)
    assert list_implied(findings) == {"not_null_long_seconds": set()}
    assert [(lost.model, lost.parent) for lost in findings.lost_rows] == [("long", "staged")]


def test_a_model_that_cannot_be_read_is_left_out_with_the_reason(check):
    made = (
        make_shop()
        .model("bad", "select * from {orders} where where", "orders")
        .model("after", "select * from {bad}", "bad")
        .model("good", "select * from {orders}", "orders")
    )
    reasons = {part.name: part.reason for part in check(made).unread}
    assert set(reasons) == {"bad", "after"}
    assert reasons["after"] == "it is made from bad, which was left out"


def test_the_proof_of_a_test_is_told_if_it_is_asked_for(check):
    made = (
        make_shop()
        .model("big", "select * from {orders} where amount > 100", "orders")
        .test("not_null", "big", "amount")
    )
    ((_, lines),) = check(made, why=True).proofs
    assert any("amount IS NOT NULL" in line for line in lines)


def test_what_is_not_understood_is_told_in_a_line_and_claims_nothing(check):
    made = (
        make_shop()
        .model("chance", "select * from {orders} where random() < 0.5", "orders")
        .model("every_pair", "select o.id, c.id as c from {orders} o cross join {customers} c", "orders", "customers")
        .model("number", "select id, median(amount) over () as n from {orders}", "orders")
        .test("unique", "every_pair", "id")
        .test("not_null", "number", "n")
    )
    findings = check(made)
    assert {part.name for part in findings.unread} == {"chance", "every_pair", "number"}
    assert not any("\n" in part.reason for part in findings.unread)
    assert "unique_every_pair_id" not in list_implied(findings)
    assert findings.same_rows == findings.lost_rows == ()
