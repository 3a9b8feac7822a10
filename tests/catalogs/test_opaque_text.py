"""Opaque SQL: what is allowed, and how it is written again."""

import pytest

from provenn.catalogs.opaque_functions import FUNCTIONS, TABLE_FUNCTIONS
from provenn.catalogs.opaque_text import LONGEST, read_condition, read_query
from provenn.errors import DefinitionError, ProvennError
from tests.catalogs.opaque_texts import FORGED_CONDITIONS, FORGED_QUERIES

ALLOWED = {
    "SELECT a, count(*) n FROM input_1 GROUP BY a": "SELECT `a`, COUNT(*) AS `n` FROM `input_1` GROUP BY `a`",
    "select A from input_1 -- a comment": "SELECT `A` FROM `input_1`",
    "SELECT a FROM input_1 WHERE d > DATE '2020-01-01'": (
        "SELECT `a` FROM `input_1` WHERE `d` > CAST('2020-01-01' AS DATE)"
    ),
    "WITH t AS (SELECT * FROM input_1) SELECT t.a FROM t": (
        "WITH `t` AS (SELECT * FROM `input_1`) SELECT `t`.`a` FROM `t`"
    ),
    "SELECT datediff(DAY, a, b) FROM input_1": "SELECT DATEDIFF(DAY, `a`, `b`) FROM `input_1`",
    "SELECT sort_array(collect_list(a)) FROM input_1": "SELECT SORT_ARRAY(COLLECT_LIST(`a`)) FROM `input_1`",
    "SELECT a, b FROM input_1 ORDER BY b DESC, 1 LIMIT 3": (
        "SELECT `a`, `b` FROM `input_1` ORDER BY `b` DESC, 1 LIMIT 3"
    ),
    "SELECT transform(s, x -> x + 1) FROM input_1": "SELECT TRANSFORM(`s`, `x` -> `x` + 1) FROM `input_1`",
    "SELECT a FROM input_1 EXCEPT SELECT b FROM input_1": "SELECT `a` FROM `input_1` EXCEPT SELECT `b` FROM `input_1`",
}


@pytest.mark.parametrize("text", ALLOWED)
def test_text_is_written_again_from_its_parsed_form(text):
    assert read_query(text, 1).canonical == ALLOWED[text]
    assert read_query(ALLOWED[text], 1).canonical == ALLOWED[text]


MORE = [
    "SELECT a FROM input_1 LEFT SEMI JOIN input_2 USING (a)",
    "SELECT a FROM input_1 LEFT ANTI JOIN input_2 ON input_1.a <=> input_2.a",
    "SELECT a FROM input_1 FULL OUTER JOIN input_2 USING (a) CROSS JOIN range(3) AS r",
    "SELECT v.p FROM input_1 LATERAL VIEW OUTER posexplode(s) v AS p, q",
    "SELECT grouping(a), sum(DISTINCT b) FILTER (WHERE b > 1) FROM input_1 GROUP BY ROLLUP (a, b) HAVING count(*) > 1",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM input_1",
    "SELECT rank() OVER (PARTITION BY a ORDER BY b NULLS LAST) FROM input_1",
    "SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM input_1",
    "SELECT CASE WHEN a THEN 1 ELSE 2 END, s.f.g, m['k'], arr[0], TRIM(BOTH 'x' FROM t), X'1F', 1.5D, 10L FROM input_1",
    "SELECT CAST(a AS struct<x:int,y:array<string>>), a::int, INTERVAL '1' DAY, extract(YEAR FROM d) FROM input_1",
    "SELECT a FROM VALUES (1, 'x') AS t(a, b) WHERE EXISTS (SELECT 1 FROM input_1 WHERE input_1.a = t.a)",
    "SELECT a FROM (SELECT a FROM input_1 UNION ALL (SELECT b FROM input_2)) AS t(a) WHERE a NOT IN (1, 2)",
    "SELECT if(a LIKE 'x%' ESCAPE '!', left(a, 1), a || 'b') RLIKE '^x' FROM input_1",
]


@pytest.mark.parametrize("text", MORE)
def test_queries_of_many_forms_are_allowed(text):
    read = read_query(text, 2)
    assert read_query(read.canonical, 2) == read


@pytest.mark.parametrize("text", FORGED_QUERIES, ids=lambda text: text[:60])
def test_anything_else_is_refused(text):
    if text.endswith("--"):  # a comment at the end is dropped
        assert read_query(text, 1).canonical == "SELECT `k` FROM `input_1`"
        return
    with pytest.raises(DefinitionError):
        read_query(text, 1)


@pytest.mark.parametrize("text", FORGED_CONDITIONS, ids=lambda text: text[:60])
def test_a_condition_is_one_condition_on_a_row_of_the_parent(text):
    if text == "parent.nothing > 1":  # only the schema of the parent tells
        assert read_condition(text, 1).parent_columns == ("nothing",)
        return
    with pytest.raises(ProvennError):
        read_condition(text, 1)


@pytest.mark.parametrize("value", [None, 5, b"SELECT 1", ["SELECT 1"]])
def test_only_text_is_text(value):
    with pytest.raises(DefinitionError, match="expected SQL"):
        read_query(value, 1)


def test_a_text_has_a_limit():
    with pytest.raises(DefinitionError, match="characters, more than"):
        read_query("SELECT k FROM input_1 WHERE " + "k = 1 OR " * (LONGEST // 9) + "k = 2", 1)


def test_spark_gets_names_that_no_session_has():
    read = read_query("WITH t AS (SELECT a FROM input_1) SELECT t.a FROM t JOIN input_1 u ON t.a = u.a", 1)
    assert read.write_for_spark({1: "view"}, "token") == (
        "WITH `token_t` AS (SELECT `a` FROM `view` AS `input_1`) "
        "SELECT `t`.`a` FROM `token_t` AS `t` JOIN `view` AS `u` ON `t`.`a` = `u`.`a`"
    )
    condition = read_condition("parent.a > 1 AND EXISTS (SELECT 1 FROM input_1 WHERE b = parent.c.d)", 1)
    assert condition.write_for_spark({1: "view"}, "token", {"a": "token_0", "c": "token_1"}) == (
        "`token`.`token_0` > 1 AND EXISTS(SELECT 1 FROM `view` AS `input_1` WHERE `b` = `token`.`token_1`.`d`)"
    )


def test_the_columns_that_a_text_may_read_are_named_in_it():
    assert not read_query("SELECT count(*), a FROM input_1 GROUP BY a", 1).reads_all
    assert read_query("SELECT count(DISTINCT *) FROM input_1", 1).reads_all
    assert read_query("SELECT input_1.* FROM input_1", 1).reads_all
    assert read_query("SELECT a FROM input_1 NATURAL JOIN input_2", 2).reads_all
    assert {"a", "b"} <= read_query("SELECT a FROM input_1 JOIN input_1 t USING (b)", 1).names


def test_no_function_of_the_lists_depends_on_chance_clock_or_session():
    refused = (
        "rand randn uuid shuffle now current_date current_user version java_method reflect first last input_file_name"
    )
    assert not (FUNCTIONS | TABLE_FUNCTIONS) & set(refused.split())
