"""Datasets of others as catalogs: what is claimed, what is not, and what is told of it."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import provenn
from provenn.errors import BaseFilesError, CatalogNameError, LineageError
from provenn.exchange import Imported, import_lineage, reading
from tests.exchange.pipelines import compare, dataset, events_file, job, lineage, same

STARS = "hip bigint, vmag double, spect string"
STAR = {"key": "hip", "population": "star"}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive to copy, which is faster than to make one."""
    folder = tmp_path_factory.mktemp("empty") / "survey"
    provenn.open(folder, who="ada").close()
    return folder


@pytest.fixture
def archive(empty: Path, tmp_path: Path) -> Iterator[provenn.Archive]:
    with provenn.open(copytree(empty, tmp_path / "survey"), who="ada") as opened:
        yield opened


def read(name: str, condition: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return an input that is read whole, or under a condition."""
    return {**dataset(name), "inputFacets": {"subset": {"inputCondition": condition}} if condition else {}}


def written(name: str, *sources: str, whole: tuple[Any, ...] = (), columns: str = STARS) -> dict[str, Any]:
    """Return an output whose key is taken over unchanged from some datasets."""
    message = lineage(whole, hip=[same(source, "hip") for source in sources], vmag=[same(sources[0], "vmag")])
    return dataset(name, columns, columnLineage=message)


def taken(archive: provenn.Archive, *events: dict[str, Any], **options: Any) -> Imported:
    return import_lineage(archive, events_file(*events), **({**STAR, **options}))


def how(done: Imported) -> dict[str, str]:
    return {catalog.dataset.removeprefix("warehouse/"): catalog.how for catalog in done.catalogs}


BRIGHT = job("b", [read("stars", compare("vmag", "LESS_THAN", 6))], [written("bright", "stars")])
FAINT = job("f", [read("stars", compare("vmag", "GREATER_EQUAL_THAN", 6))], [written("faint", "stars")])
BASE = {"dataset": dataset("stars", STARS)}


def test_a_dataset_whose_key_is_taken_over_lies_inside_the_other_and_inside_the_condition(archive):
    done = taken(archive, BASE, BRIGHT, FAINT)
    assert how(done) == {"stars": "base", "bright": "inside", "faint": "inside"}
    assert archive.relate("bright", "stars").summary == "subset"
    assert archive.relate("bright", "faint").summary == "disjoint"
    archive["stars"].select("vmag < 6", name="all bright ones")
    assert archive.relate("bright", "all bright ones").summary == "subset", "nobody says that it has all of them"


def test_it_is_exact_if_who_imports_says_so(archive):
    done = taken(archive, BASE, BRIGHT, exact=True)
    assert how(done)["bright"] == "exact"
    archive["stars"].select("vmag < 6", name="all bright ones")
    assert archive.relate("bright", "all bright ones").summary == "equal"


def test_a_join_on_the_key_is_taken_for_an_inner_one_only_if_who_imports_says_so(archive, tmp_path):
    keys = (same("stars", "hip", "INDIRECT", "JOIN"), same("names", "hip", "INDIRECT", "JOIN"))
    joined = job("j", [read("stars"), read("names")], [written("both", "stars", whole=keys)])
    events = (BASE, {"dataset": dataset("names", "hip int, name string")}, joined)
    taken(archive, *events)
    assert archive.relate("both", "stars").summary == "subset"
    assert archive.relate("both", "names").summary == "unknown", "it may be an outer join"
    with provenn.open(tmp_path / "exact") as exact:
        taken(exact, *events, exact=True)
        assert exact.relate("both", "names").summary == "subset"
        exact["stars"].restrict("names", name="common")
        assert exact.relate("both", "common").summary == "equal"


def test_a_union_lies_inside_what_is_brought_together(archive):
    other = {"dataset": dataset("others", STARS)}
    done = taken(archive, BASE, other, job("u", [read("stars"), read("others")], [written("all", "stars", "others")]))
    assert how(done)["all"] == "inside"
    assert archive.prove("all <= stars | others")
    assert not archive.prove("all <= stars")


@pytest.mark.parametrize(
    ("why", "events"),
    [
        ("2 jobs write it", [BRIGHT, job("other", [read("stars")], [dataset("bright", STARS)])]),
        (
            "only part",
            [job("b", [read("stars")], [{**written("bright", "stars"), "outputFacets": {"subset": {"x": 1}}}])],
        ),
        ("no column lineage", [job("b", [read("stars")], [dataset("bright", STARS)])]),
        ("also reads it", [job("b", [read("stars"), read("bright")], [written("bright", "stars")])]),
        (
            "contradict",
            [
                BRIGHT,
                job(
                    "b", [read("stars")], [dataset("bright", STARS, columnLineage=lineage(hip=[same("stars", "vmag")]))]
                ),
            ],
        ),
        (
            "not taken over unchanged",
            [
                job(
                    "b",
                    [read("stars")],
                    [
                        dataset(
                            "bright",
                            STARS,
                            columnLineage=lineage(hip=[same("stars", "hip", "DIRECT", "AGGREGATION")]),
                        )
                    ],
                )
            ],
        ),
        (
            "not taken over unchanged",
            [
                job(
                    "b",
                    [read("stars")],
                    [dataset("bright", "hip bigint, x bigint", columnLineage=lineage(x=[same("stars", "hip")]))],
                )
            ],
        ),
    ],
)
@pytest.mark.parametrize("exact", [False, True])
def test_what_is_not_understood_is_a_set_of_its_own_and_told(archive, why, events, exact):
    done = taken(archive, BASE, *events, exact=exact)
    (result,) = [catalog for catalog in done.catalogs if catalog.names == ("bright",)]
    assert result.how == "base"
    assert why in result.missing
    assert why in str(done)
    assert archive.relate("bright", "stars").summary == "unknown"


def test_datasets_made_from_each_other_are_sets_of_their_own(archive):
    done = taken(archive, job("one", [read("a")], [written("b", "a")]), job("two", [read("b")], [written("a", "b")]))
    assert {catalog.missing for catalog in done.catalogs} == {"it is made from itself"}


def test_without_a_key_nothing_is_claimed_and_that_is_told(archive):
    done = import_lineage(archive, events_file(BASE, BRIGHT))
    assert set(how(done).values()) == {"base"}
    assert "key is not known" in done.catalogs[0].missing
    assert archive["stars"].population == "warehouse/stars"


def test_a_key_of_which_nobody_says_that_it_identifies_a_row_makes_no_use_of_conditions(archive):
    """Several rows of `visits` may have one star: some bright, some faint."""
    visits = dataset("visits", "star bigint, mag double", columnLineage=lineage(star=[same("stars", "hip")]))
    low, high = (
        job(
            name,
            [read("visits", compare("mag", comparison, 6))],
            [dataset(name, "star bigint", columnLineage=lineage(star=[same("visits", "star")]))],
        )
        for name, comparison in (("low", "LESS_THAN"), ("high", "GREATER_EQUAL_THAN"))
    )
    taken(archive, BASE, job("v", [read("stars")], [visits]), low, high)
    assert archive.relate("low", "stars").summary == "subset"
    assert archive.relate("low", "high").summary == "unknown"


def test_columns_of_a_wide_key_may_come_from_different_rows(archive):
    columns = "night bigint, field bigint"
    message = lineage(night=[same("visits", "night")], field=[same("visits", "field")])
    events = (
        {"dataset": dataset("visits", columns)},
        job("v", [read("visits")], [dataset("w", columns, columnLineage=message)]),
    )
    done = taken(archive, *events, key=("night", "field"), population="visit")
    assert "different rows" in done.catalogs[-1].missing


def test_runs_with_different_conditions_read_a_dataset_whole(archive):
    first = job("b", [read("stars", compare("vmag", "LESS_THAN", 6))], [written("bright", "stars")], run="1")
    second = job("b", [read("stars", compare("vmag", "LESS_THAN", 9))], [written("bright", "stars")], run="2")
    taken(archive, BASE, first, second)
    archive["stars"].select("vmag < 6", name="six")
    assert archive.relate("bright", "stars").summary == "subset"
    assert archive.relate("bright", "six").summary == "unknown"


@pytest.mark.parametrize("between", [compare("vmag", "LESS_THAN", 9), None])
def test_a_run_that_reads_a_dataset_under_several_conditions_reads_it_whole(archive, between):
    items = (compare("vmag", "LESS_THAN", 6), between, compare("vmag", "LESS_THAN", 6))
    events = [job("b", [read("stars", item)], [written("bright", "stars")], run="1", state="RUNNING") for item in items]
    taken(archive, BASE, *events)
    archive["stars"].select("vmag < 6", name="six")
    assert archive.relate("bright", "stars").summary == "subset"
    assert archive.relate("bright", "six").summary == "unknown"


@pytest.mark.parametrize("where", ["dataset", "field"])
def test_a_filter_of_which_nobody_says_the_condition_is_never_exact(archive, where):
    """Spark tells which columns a filter reads, and not what it asks of them."""
    deciding = same("stars", "vmag", "INDIRECT", "FILTER")
    message = {"whole": [deciding]} if where == "dataset" else {"vmag": [same("stars", "vmag"), deciding]}
    few = dataset("few", STARS, columnLineage=lineage(hip=[same("stars", "hip")], **message))
    done = taken(archive, BASE, job("f", [read("stars")], [few]), exact=True)
    assert how(done)["few"] == "inside"
    assert archive.relate("few", "stars").summary == "subset"


def test_a_filter_whose_condition_is_said_may_be_exact(archive):
    few = written("few", "stars", whole=(same("stars", "vmag", "INDIRECT", "FILTER"),))
    done = taken(archive, BASE, job("f", [read("stars", compare("vmag", "LESS_THAN", 6))], [few]), exact=True)
    assert how(done)["few"] == "exact"


def test_of_the_start_and_the_end_of_a_run_the_one_that_says_more_counts(archive):
    start = job("b", [read("stars")], [dataset("bright", STARS)], run="1", state="START")
    end = job("b", [read("stars", compare("vmag", "LESS_THAN", 6))], [written("bright", "stars")], run="1")
    taken(archive, BASE, start, end)
    archive["stars"].select("vmag < 6", name="six")
    assert archive.relate("bright", "six").summary == "subset"


def test_a_failed_run_is_never_exact(archive):
    done = taken(archive, BASE, {**BRIGHT, "run": {"runId": "1"}, "eventType": "FAIL"}, exact=True)
    assert how(done)["bright"] == "inside"


def test_versions_of_a_dataset_are_different_sets(archive):
    done = taken(
        archive, {"dataset": dataset("stars", STARS, version="1")}, {"dataset": dataset("stars", STARS, version="2")}
    )
    assert [catalog.names for catalog in done.catalogs] == [("warehouse/stars@1",), ("warehouse/stars@2",)]
    assert archive.relate("warehouse/stars@1", "warehouse/stars@2").summary == "unknown"


def test_text_is_compared_for_equality_alone(archive):
    """Others may order it in another way."""
    parts = {
        "g": compare("spect", "EQUAL", "G2'V\\"),
        "k": compare("spect", "EQUAL", "K1"),
        "low": compare("spect", "LESS_THAN", "C"),
        "high": compare("spect", "GREATER_THAN", "K"),
    }
    taken(archive, BASE, *(job(name, [read("stars", part)], [written(name, "stars")]) for name, part in parts.items()))
    assert archive.relate("g", "k").summary == "disjoint"
    assert archive.relate("low", "high").summary == "unknown"


def test_what_is_not_understood_of_a_condition_only_makes_it_wider(archive):
    odd = {"type": "location", "locations": ["/a"]}
    for name, operator in (("both", "AND"), ("either", "OR")):
        values = {"type": "binary", "operator": operator, "left": compare("vmag", "LESS_THAN", 6), "right": odd}
        taken(archive, BASE, job(name, [read("stars", values)], [written(name, "stars")]))
    archive["stars"].select("vmag < 6", name="six")
    assert archive.relate("both", "six").summary == "subset"
    assert archive.relate("either", "six").summary == "unknown"


def test_the_data_of_others_cannot_be_computed_and_that_is_told(archive):
    taken(archive, BASE)
    with pytest.raises(BaseFilesError, match="only the lineage of"):
        archive["stars"].definition.files.check()
    with pytest.raises(BaseFilesError, match="imported lineage"):
        archive.ingest("x", "stars", key="hip", population="star", format="external")


def test_reading_the_same_events_again_changes_nothing(archive):
    first, second = (taken(archive, BASE, BRIGHT) for _ in range(2))
    assert second.new == 0
    assert [catalog.digest for catalog in first.catalogs] == [catalog.digest for catalog in second.catalogs]


def test_a_name_that_is_taken_keeps_everything_out(archive):
    taken(archive, {"dataset": dataset("bright", STARS)})
    before = len(archive)
    with pytest.raises(CatalogNameError):
        taken(archive, BASE, BRIGHT)
    assert len(archive) == before
    assert taken(archive, BASE, BRIGHT, prefix="spark:").catalogs[1].names == ("spark:bright",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"job": {"namespace": "n", "name": "j"}}\n{"job"', "event 2 is not JSON"),
        (b"[" * 100_000, "event 1 is not JSON"),
        (b"\xff\xfe", "event 1 is not JSON"),
        (b"[1]", "event 1 cannot be read"),
        (b"{}", "event 1 describes neither"),
        (b'{"job": {"namespace": "n"}}', "event 1 has no job.name"),
        (b'{"job": {"namespace": "n", "name": "j"}, "inputs": 1}', "event 1 has inputs that are not a list"),
        (b'{"dataset": {"namespace": "n", "name": ""}}', "event 1 has no dataset.name"),
        (b'{"dataset": {"namespace": "n", "name": "\\ud800"}}', "event 1 has text with invalid characters"),
        (b'{"dataset": {"namespace": "a\\u0000b", "name": "d"}}', "event 1 has text with invalid characters"),
        (b'{"dataset": {"namespace": "n", "name": "d", "facets": [1]}}', "event 1 cannot be read"),
    ],
)
def test_bad_input_is_told_by_the_number_of_the_event(archive, content, message):
    with pytest.raises(LineageError, match=message):
        import_lineage(archive, BytesIO(content))
    assert len(archive) == 0


def test_limits(archive, monkeypatch):
    monkeypatch.setattr(reading, "MOST_EVENTS", 1)
    with pytest.raises(LineageError, match="more than 1 events"):
        taken(archive, BASE, BASE)
    monkeypatch.setattr(reading, "LARGEST_EVENT", 10)
    with pytest.raises(LineageError, match="event 1 is longer"):
        taken(archive, BASE)
    monkeypatch.setattr(reading, "LARGEST_ARRAY", 5)
    with pytest.raises(LineageError, match="array of events is longer"):
        import_lineage(archive, BytesIO(b"[{}, {}, {}]"))


def test_a_population_needs_a_key(archive):
    with pytest.raises(LineageError, match="needs a key"):
        import_lineage(archive, BytesIO(b""), population="star")


def test_nothing_and_arrays_and_events_in_several_lines_are_read(archive):
    assert import_lineage(archive, BytesIO(b"\n")).events == 0
    assert import_lineage(archive, BytesIO(b'[{"job": {"namespace": "n", "name": "j"}}]')).events == 1
    assert import_lineage(archive, BytesIO(b'{\n"job": {"namespace": "n", "name": "j"}}')).events == 1


def test_a_backslash_is_no_half_character(archive):
    (only,) = import_lineage(
        archive, BytesIO(rb'{"dataset": {"namespace": "n", "name": "a\\u0000\ud83d\ude00"}}')
    ).catalogs
    assert only.names == ("a\\u0000\N{GRINNING FACE}",)


@pytest.mark.parametrize("columns", ["", "Hip bigint, hip bigint", "hip nothing"])
@pytest.mark.parametrize("options", [{}, STAR])
def test_columns_that_are_not_said_or_not_fit_keep_nothing_out(archive, columns, options):
    done = import_lineage(archive, events_file({"dataset": dataset("odd", columns)}, BASE), **options)
    assert how(done) == {"odd": "base", "stars": "base"}


@pytest.mark.parametrize("key", [[["hip"]], [{}], [None], [1], "hip", ["hip", "hip"]])
def test_a_key_without_meaning_says_nothing(archive, key):
    odd = dataset("odd", STARS, provenn_population={"population": "odd", "key": key})
    (only,) = import_lineage(archive, events_file({"dataset": odd})).catalogs
    assert (only.how, only.missing != "") == ("base", True)


@pytest.mark.parametrize("facets", [{"schema": 3}, {"schema": {"fields": [3, {"name": "\n"}]}}, {"columnLineage": 3}])
def test_facets_without_meaning_say_nothing(archive, facets):
    odd = {**dataset("odd"), "facets": facets}
    done = taken(archive, BASE, job("o", [read("stars")], [odd]))
    assert how(done)["odd"] == "base"


@pytest.mark.parametrize(
    "definition",
    [3, {}, {"verb": "select"}, {"verb": "select", "of": [{"namespace": "warehouse", "name": "stars"}]}]
    + [
        {"verb": verb, "of": [{"namespace": "warehouse", "name": "stars"}]}
        for verb in ("drop", "concat", "rename", ["select"], {}, 3)
    ]
    + [
        {"verb": "select", "of": [{"namespace": "warehouse", "name": "stars"}], "options": {"criterion": text}}
        for text in (3, "rand() < 1", "DROP TABLE x", "nothing = 1")
    ],
)
def test_a_definition_without_meaning_claims_nothing_exactly(archive, definition):
    done = taken(archive, BASE, {"dataset": dataset("odd", STARS, provenn_definition=definition)})
    assert how(done)["odd"] in ("base", "inside")
    assert archive.relate("stars", "odd").summary in ("unknown", "superset")


def test_a_definition_of_which_a_part_cannot_be_read_claims_nothing(archive):
    stars, more = ({"namespace": "warehouse", "name": name} for name in ("stars", "more"))
    both = dataset("both", STARS, provenn_definition={"verb": "restrict", "of": [stars, 3, more], "options": {}})
    done = taken(archive, BASE, {"dataset": dataset("more", STARS)}, {"dataset": both})
    assert how(done)["both"] == "base"
