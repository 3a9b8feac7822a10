"""The same criterion has the same values everywhere: in any time zone, language and session, and on any Java.

All that criteria accept is computed twice, in processes of their own, and compared bit for bit. What differs between
two Javas is just what `provenn.criteria.platforms` says.
"""

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from provenn.criteria import Attribute, parse_expression, parse_type
from provenn.criteria.calls import list_functions
from provenn.criteria.platforms import Trait, find_platform_traits
from tests.spark.battery import EXPRESSIONS, TYPES, covered_functions, differing, read_results, write_inputs
from tests.spark.javas import newer_java, older_java, on_java

ROOT = Path(__file__).parent.parent.parent
SCHEMA = {name: Attribute(name, parse_type(kind)) for name, kind in TYPES.items()}
KATHMANDU = "-Duser.timezone=Asia/Kathmandu -Duser.language=tr -Duser.country=TR -Dfile.encoding=ISO-8859-9"


def compute(source: Path, result: Path, environment: dict[str, str], kind: str = "own") -> str:
    """Compute all expressions in a process of its own; return which Java did."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.battery", source, result, kind],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()[0]


def test_every_function_that_criteria_accept_is_compared():
    """A function that is added must be added to the battery as well."""
    assert set(list_functions()) == covered_functions()


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """The folder with inputs, and with what provenn's own Spark makes of them, in UTC, on the newer Java."""
    return compute_own(tmp_path_factory.mktemp("own"), 20_000)


def compute_own(folder: Path, rows: int) -> Path:
    write_inputs(folder / "inputs.parquet", rows)
    java = compute(
        folder / "inputs.parquet", folder / "own", on_java(newer_java()) | {"TZ": "UTC", "LC_ALL": "C.UTF-8"}
    )
    assert java.split(".")[0] == "25"
    return folder


def test_nothing_depends_on_time_zone_language_or_session(own, tmp_path):
    """One Spark is provenn's own, in UTC; the other is Turkish, in Kathmandu, with other settings and no codegen."""
    source = own / "inputs.parquet"
    foreign = {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "JAVA_TOOL_OPTIONS": KATHMANDU}
    compute(source, tmp_path / "foreign", on_java(newer_java()) | foreign, "foreign")
    counts = differing(own / "own", tmp_path / "foreign")
    assert len(counts) == sum(map(len, EXPRESSIONS.values()))
    assert {text: count for text, count in counts.items() if count} == {}
    check_clock(source, own / "own")


def check_clock(source: Path, result: Path) -> None:
    """No text is read by the clock: words, times of day and, for times, zones by name are NULL; the others are not."""
    texts = pq.read_table(source, columns=["moment"])["moment"].to_pylist()
    results = dict(read_results(result))
    for expression in ("to_timestamp(moment)", "to_date(moment)", "CAST(moment AS timestamp_ntz)"):
        read = 0
        for text, missing in zip(texts, results[expression].is_null().to_pylist(), strict=True):
            begins_with_year = re.match(r"\s*[+-]?\d{4,}", text)
            by_name = expression != "to_date(moment)" and re.search(r"(Paris|York|EST|PST)$", text)
            assert missing or (begins_with_year and not by_name), (expression, text)
            read += not missing
        assert read > len(texts) / 3
    days = results["to_date(moment)"].cast("int32").to_pylist()
    assert (date.today() - date(1970, 1, 1)).days not in days  # noqa: DTZ011 - whichever day it is


def compare_javas(own: Path, folder: Path) -> dict[str, int]:
    """Compare all expressions on two Javas; return in how many rows each differs."""
    older = compute(own / "inputs.parquet", folder / "older", on_java(older_java()))
    assert older.split(".")[0] == "17", "another Java than that of the inputs"
    return differing(folder / "older", own / "own")


def check_differences(counts: dict[str, int]) -> None:
    """What differs is known to depend on Java; and what made that necessary does differ."""
    unknown = {
        text: count
        for text, count in counts.items()
        if count and Trait.JAVA not in find_platform_traits(parse_expression(text, SCHEMA).node)
    }
    assert unknown == {}
    for text in ("string(double)", "string(float)", "cbrt(double)", "tanh(angle / 360)", r"rlike(string2, '\\bs')"):
        assert counts[text], f"{text} is the same on both Javas: is it still compared?"


def test_what_differs_between_two_javas_is_known(own, tmp_path):
    check_differences(compare_javas(own, tmp_path))


@pytest.mark.campaign
def test_what_differs_between_two_javas_is_known_on_300_000_values(tmp_path):
    check_differences(compare_javas(compute_own(tmp_path, 300_000), tmp_path))
