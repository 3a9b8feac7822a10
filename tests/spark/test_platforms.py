"""The same criterion has the same values everywhere: in any time zone, language and session, and on any Java.

All that criteria accept is computed twice, on Sparks that differ, and compared bit for bit. What differs between
two Javas is just what `provenn.criteria.platforms` says. And no archive serves on one Java what another has computed.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provenn.criteria import Attribute, parse_expression, parse_type
from provenn.criteria.calls import list_functions
from provenn.criteria.platforms import Trait, find_platform_traits
from provenn.spark.engine import Engine
from provenn.spark.java import Java
from tests.spark.battery import EXPRESSIONS, TYPES, covered_functions, differing, read_results, write_inputs
from tests.spark.java_process import ANSWERS, Ask, java_process
from tests.spark.javas import newer_java, older_java, on_java

ROOT = Path(__file__).parent.parent.parent
SCHEMA = {name: Attribute(name, parse_type(kind)) for name, kind in TYPES.items()}
UTC = ("UTC", "Etc/UTC", "GMT")
"""What Java calls the time zone of machines in UTC."""
KATHMANDU = "-Duser.timezone=Asia/Kathmandu -Duser.language=tr -Duser.country=TR -Dfile.encoding=ISO-8859-9"


@contextmanager
def ask_java(engine: Engine, version: str, java: Java) -> Iterator[Ask]:
    """Yield a function that asks a Java in UTC: that of this process, if it has the version, or one of its own."""
    system = engine.session._jvm.java
    zone = str(system.util.TimeZone.getDefault().getID())
    if str(system.lang.System.getProperty("java.version")).split(".")[0] == version and zone in UTC:
        yield lambda question, *arguments: ANSWERS[question](engine, *map(str, arguments))
    else:
        with java_process(java, TZ="UTC", LC_ALL="C.UTF-8") as ask:
            yield ask


@pytest.fixture(scope="module")
def newer(engine) -> Iterator[Ask]:
    """The newer Java."""
    with ask_java(engine, "25", newer_java()) as ask:
        yield ask


@pytest.fixture(scope="module")
def older(engine) -> Iterator[Ask]:
    """The older Java."""
    with ask_java(engine, "17", older_java()) as ask:
        yield ask


def test_every_function_that_criteria_accept_is_compared():
    """A function that is added must be added to the battery as well."""
    assert set(list_functions()) == covered_functions()


@pytest.fixture(scope="module")
def own(newer, tmp_path_factory):
    """The folder with inputs, and with what provenn's own Spark makes of them, in UTC, on the newer Java."""
    return compute_own(newer, tmp_path_factory.mktemp("own"), 5_000)


def compute_own(newer: Ask, folder: Path, rows: int) -> Path:
    write_inputs(folder / "inputs.parquet", rows)
    assert newer("battery", folder / "inputs.parquet", folder / "own").split(".")[0] == "25"
    return folder


def test_nothing_depends_on_time_zone_language_or_session(own, tmp_path):
    """One Spark is provenn's own, in UTC; the other is Turkish, in Kathmandu, with other settings and no codegen."""
    compare_places(own, tmp_path)


@pytest.mark.campaign
def test_nothing_depends_on_time_zone_language_or_session_on_20_000_values(newer, tmp_path):
    compare_places(compute_own(newer, tmp_path, 20_000), tmp_path)


def compare_places(own: Path, folder: Path) -> None:
    """Compare all expressions in UTC with those in Kathmandu."""
    source = own / "inputs.parquet"
    foreign = {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "JAVA_TOOL_OPTIONS": KATHMANDU}
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.battery", source, folder / "foreign"],
        env=on_java(newer_java()) | foreign,
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    counts = differing(own / "own", folder / "foreign")
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


def compare_javas(own: Path, older: Ask, folder: Path) -> dict[str, int]:
    """Compare all expressions on two Javas; return in how many rows each differs."""
    version = older("battery", own / "inputs.parquet", folder / "older")
    assert version.split(".")[0] == "17", "another Java than that of the inputs"
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


def test_what_differs_between_two_javas_is_known(own, older, tmp_path):
    check_differences(compare_javas(own, older, tmp_path))


@pytest.mark.campaign
def test_what_differs_between_two_javas_is_known_on_300_000_values(newer, older, tmp_path):
    check_differences(compare_javas(compute_own(newer, tmp_path, 300_000), older, tmp_path))


def test_no_stored_answer_of_one_java_is_served_on_another(newer, older, tmp_path):
    """What a calculator made of text, and how many sources text selects, both made from a float's digits."""
    data = tmp_path / "stars.parquet"
    flux = np.random.default_rng(7).integers(-(2**31), 2**31, 4000, dtype=np.int64).astype(np.int32).view(np.float32)
    pq.write_table(pa.table({"id": np.arange(len(flux)), "flux": pa.array(flux)}), data)
    shared, own = tmp_path / "shared", tmp_path / "alone"
    first = older("target", data, shared)
    alone, other, newest = (newer("target", data, place) for place in (own, shared, shared))
    again = older("target", data, shared)
    assert first["words"] != alone["words"], "the two Javas write numbers in the same way: what is compared?"
    assert "fragment #1 was computed on Java 17, but this is Java 25" in other["plan"]
    assert {**other, "plan": ""} == {**alone, "plan": ""}, "computed anew"
    assert "read from fragment #1" in again["plan"]
    assert {**again, "plan": ""} == {**first, "plan": ""}, "the answers of the first Java are still there"
    assert "read from fragment #2" in newest["plan"]
    assert {**newest, "plan": ""} == {**alone, "plan": ""}
