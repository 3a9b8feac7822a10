"""Whatever somebody writes as a criterion, Spark is given comparisons, known functions and constants; nothing runs."""

import sys
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from provenn.criteria import parse_criterion, parse_expression, render
from provenn.criteria.calls import _BUILDERS
from provenn.criteria.functions import FUNCTIONS, resolve_alias
from provenn.errors import CriterionError
from tests.criteria.proofs import SCHEMA

ATTACKS = [
    "java_method('java.lang.Runtime', 'getRuntime') = 'x'",
    "reflect('java.lang.System', 'getenv', 'HOME') = 'x'",
    "try_reflect('java.lang.System', 'exit', 0) = 'x'",
    "`reflect`('java.lang.System', 'exit', 0) = 'x'",
    "REFLECT ('java.lang.System', 'exit', 0) = 'x'",
    "system.builtin.reflect('a', 'b') = 'x'",
    "builtin.java_method('a', 'b') = 'x'",
    "input_file_name() = 'x'",
    "input_file_block_start() > 0",
    "current_user() = 'x'",
    "current_user = 'x'",
    "session_user() = 'x'",
    "current_database() = 'x'",
    "current_catalog() = 'x'",
    "version() = 'x'",
    "uuid() = 'x'",
    "rand() < 1",
    "randn(5) < 1",
    "current_timestamp() > at",
    "getvar('x') = 1",
    "secret('scope', 'key') = 'x'",
    "ai_query('x', 'y') = 'x'",
    "http_request('GET', 'http://x') = 'x'",
    "read_files('/etc/passwd') = 'x'",
    "vmag IN (SELECT 1)",
    "vmag = (SELECT max(vmag) FROM stars)",
    "EXISTS (SELECT * FROM csv.`/etc/passwd`)",
    "EXISTS (TABLE stars)",
    "vmag IN (TABLE stars)",
    "vmag < 1 UNION SELECT 1",
    "(VALUES (1)) = 1",
    "(FROM stars) = 1",
    "vmag < 1; DROP TABLE stars",
    "vmag < 1 OR 1 = 1 FROM csv.`/etc/passwd`",
    "from_json(name, 'a INT') IS NULL",
    "from_json(name, 'x STRUCT<a: INT>', map('mode', 'FAILFAST')) IS NULL",
    "schema_of_json(name) = 'x'",
    "from_csv(name, 'a INT').a = 1",
    "from_xml(name, 'a INT', map('rowValidationXSDPath', '/etc/passwd')) IS NULL",
    "xpath(name, '//a') IS NULL",
    "xpath_string(name, '//a') = 'x'",
    "SELECT /*+ BROADCAST(stars) */ 1",
    "@x = 1",
    "@@version = 1",
    ":x = 1",
    ":1 = 1",
    "? = 1",
    "${x} = 1",
    "${env:HOME} = 'x'",
    "'${x}' = name AND {{x}} = 1",
    "session.x = 1",
    "IDENTIFIER('reflect')('a', 'b') = 'x'",
    "IDENTIFIER('vmag') < 1",
    "IDENTIFIER(:x) = 1",
    "EXECUTE IMMEDIATE 'SELECT 1'",
    "TRANSFORM(vmag) USING 'cat' AS (x)",
    "SELECT TRANSFORM(vmag) USING 'cat' AS (x) FROM stars",
    "transform(array(1), x -> x) IS NULL",
    "exists(array(1), x -> x > 0)",
    "aggregate(array(1), 0, (a, x) -> a + x) = 1",
    "filter(array(1), x -> reflect('a', 'b') = 'c') IS NULL",
    "x -> x",
    "`csv`.`/etc/passwd` = 1",
    "`a.b`.`c.d` = 1",
    "stars.vmag.x < 1",
    "vmag.x < 1",
    "ADD JAR '/tmp/x.jar'",
    "CREATE FUNCTION f AS 'x' USING JAR 'x'",
    "SET spark.x = 1",
    "SHOW TABLES",
    "CACHE TABLE x",
    "INSERT OVERWRITE DIRECTORY '/tmp/x' SELECT 1",
    "CALL system.x()",
    "DESCRIBE vmag",
    "EXPLAIN SELECT 1",
    "vmag < 1 WINDOW w AS (ORDER BY vmag)",
    "sum(vmag) OVER () > 1",
    "count(*) FILTER (WHERE vmag < 1) > 0",
    "LATERAL VIEW explode(array(1)) t AS x",
    "CAST(vmag AS reflect) = 1",
    "CAST(name AS STRUCT<a: INT>) IS NULL",
    "CAST(vmag AS INT) FORMAT 'x' = 1",
    "name::int = 1 AND reflect('a', 'b')",
    "raise_error('x')",
    "assert_true(vmag < 1)",
    "decode(reflect('a', 'b'), 'UTF-8') = 'x'",
    "coalesce(vmag, reflect('a', 'b')) = 1",
    "CASE WHEN reflect('a', 'b') = 'x' THEN 1 END = 1",
    "vmag BETWEEN 1 AND java_method('a', 'b')",
    "name LIKE reflect('a', 'b')",
    "name RLIKE java_method('a', 'b')",
    "vmag IN (1, java_method('a', 'b'))",
    "-reflect('a', 'b') < 1",
    "NOT reflect('a', 'b')",
    "name || reflect('a', 'b') = 'x'",
    # letters that look alike
    "r\u0435flect('a', 'b') = 'x'",
    "\uff52\uff45\uff46\uff4c\uff45\uff43\uff54('a', 'b') = 'x'",
    "reflec\u200bt('a', 'b') = 'x'",
    "\u0130f(vmag < 1, 1, 2) = 1",
    "vm\u0430g < 1",
    "vmag \uff1c 1",
    "vmag < 1\x00",
    "\ufeffreflect('a', 'b') = 'x'",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_what_is_more_than_a_condition_on_a_source_is_refused(text):
    for parse in (parse_criterion, parse_expression):
        with pytest.raises(CriterionError):
            parse(text, SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "vmag < 1 /* reflect('a', 'b') */",
        "vmag < 1 -- reflect('a', 'b')",
        "/*+ BROADCAST(stars) */ vmag < 1",
        "vmag < /* ; DROP TABLE stars */ 1",
    ],
)
def test_comments_and_hints_are_not_passed_on(text):
    assert rendered(text) == rendered("vmag < 1")


def test_what_is_between_quotes_stays_there():
    for inside in ("' OR reflect('a') = '", "${x}", "`; DROP TABLE x; --", "\\' OR 1 = 1 --", "\\\\", "\n/* x */"):
        quoted = inside.replace("\\", "\\\\").replace("'", "\\'")
        tree = parse_one(rendered(f"name = '{quoted}'"), dialect="spark")
        assert [item.name for item in tree.find_all(exp.Literal)] == [inside]
        assert not list(tree.find_all(exp.Anonymous))


@pytest.mark.parametrize(
    "text",
    [
        "(",
        "[",
        "NOT ",
        "-",
        "- ",
        "vmag < 1 OR ",
        "1 + ",
        "abs(",
        "CASE WHEN ",
        "'x",
        "`",
        "/*",
        "vmag",
        ".",
        "9",
        "1e9",
        "vmag IN (1, 2) AND ",
        "name RLIKE '(a*)*' OR ",
        "name LIKE '%' || ",
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.parametrize("length", [10_000, pytest.param(50_000, marks=pytest.mark.campaign)])
def test_a_long_text_is_answered_or_refused_by_work_that_grows_with_its_length(text, length):
    assert calls(text, 2 * length) < 2.5 * calls(text, length) + 10_000


def calls(text: str, length: int) -> int:
    """Return how many functions are called to read a text that is repeated up to some length."""
    text *= length // len(text)
    number = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal number
        number += event == "call"

    sys.setprofile(count)
    try:
        with suppress(CriterionError):
            parse_criterion(text, SCHEMA)
    finally:
        sys.setprofile(None)
    return number


# --- what Spark is given ---

KNOWN = {*FUNCTIONS, *_BUILDERS}
"""Functions that may be called."""

SYNTAX = (exp.And, exp.Or, exp.Case, exp.If, exp.Cast, exp.TryCast, exp.RegexpLike)
"""What is written otherwise than a call, and is a function to sqlglot."""

TRY = {
    "try_add",
    "try_subtract",
    "try_multiply",
    "try_divide",
    "try_mod",
    "try_element_at",
    "nullif",
    "if",
    "try_to_date",
}


def rendered(text):
    return render(parse_criterion(text, SCHEMA), {attribute.identity: name for name, attribute in SCHEMA.items()})


NUMBERS = ["vmag", "dec", "n_obs", "hip", "1", "2.5", "1e3", "NULL", "-7"]
STRINGS = ["name", "'x'", "'it\\'s'", "'${x}'", "NULL"]


def numbers():
    item = st.sampled_from(NUMBERS)

    def deeper(inner):
        unary = st.sampled_from(["abs({})", "sqrt({})", "floor({})", "round({}, 2)", "-({})", "CAST({} AS DOUBLE)"])
        operators = st.sampled_from(["({} + {})", "({} * {})", "({} / {})", "({} % {})"])
        binary = operators | st.sampled_from(["greatest({}, {})", "nullif({}, {})", "coalesce({}, {})", "pow({}, {})"])
        return st.builds(str.format, unary, inner) | st.builds(str.format, binary, inner, inner)

    return st.recursive(item, deeper, max_leaves=6)


def strings():
    item = st.sampled_from(STRINGS)
    unary = st.sampled_from(["lower({})", "trim({})", "substring({}, 1, 2)", "md5({})", "concat({}, 'y')"])
    return st.recursive(item, lambda inner: st.builds(str.format, unary, inner), max_leaves=3)


def conditions():
    compared = st.builds(
        "{} {} {}".format, numbers(), st.sampled_from(["<", "<=", "=", "<>", ">=", ">", "<=>"]), numbers()
    )
    tests = st.sampled_from(["LIKE 'a%'", "RLIKE 'a+'", "IS NULL", "= 'x'", "IN ('a', 'b')"])

    def nested(inner):
        joined = st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR"]), inner)
        return joined | st.builds("(NOT {})".format, inner)

    return st.recursive(compared | st.builds("{} {}".format, strings(), tests), nested, max_leaves=5)


@settings(max_examples=150, deadline=None)
@given(conditions())
def test_what_spark_is_given_calls_allowed_functions_on_attributes_alone(text):
    try:
        written = rendered(text)
    except CriterionError:
        return
    for node in parse_one(written, dialect="spark").walk():
        assert not isinstance(node, exp.Query | exp.Table | exp.Command | exp.Lambda | exp.Parameter | exp.Placeholder)
        assert not isinstance(node, exp.Hint | exp.Window | exp.Dot | exp.Bracket), written
        if isinstance(node, exp.Column):
            assert node.name in SCHEMA
            assert not node.table
        elif isinstance(node, exp.Anonymous):
            name = resolve_alias(node.name)
            assert name in KNOWN or name in TRY, written
        elif isinstance(node, exp.Collate):
            assert node.expression.name in {"UNICODE", "UTF8_BINARY"}, written
        elif isinstance(node, exp.Func) and not isinstance(node, SYNTAX):
            names = {resolve_alias(item.partition("(")[0]) for item in (*node.sql_names(), node.sql("spark"))}
            assert names & (KNOWN | TRY), (type(node), written)
