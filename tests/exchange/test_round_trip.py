"""Out and in again: what could be proved of catalogs can still be proved, and nothing else."""

from io import BytesIO, StringIO
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import provenn
from provenn.exchange import export_lineage, import_lineage
from tests.archive.samples import write_parquet
from tests.exchange import pipelines

CRITERIA = ("vmag < 6", "vmag < 3", "plx > 10", "NOT (vmag < 6)", "vmag IS NULL", "vmag < 6 OR spect = 'G2V'")
VERBS = ("select", "restrict", "exclude", "combine", "concat", "sample", "keep", "rename", "derive")


def define(archive: provenn.Archive, verb: str, left: str, right: str, number: int) -> None:
    """Define a catalog from two others, if that can be done."""
    first, other = archive[left], archive[right]
    name = f"c{len(list(archive))}"
    criterion = CRITERIA[number % len(CRITERIA)]
    try:
        match verb:
            case "select":
                first.select(criterion, name=name)
            case "sample":
                first.sample((1 + number % 9) / 10, seed=number % 2, name=name)
            case "keep":
                first.keep("vmag", name=name)
            case "rename":
                first.rename({"vmag": "v"}, name=name)
            case "derive":
                first.derive({f"x{number}": f"vmag + {number}"}, name=name)
            case "concat":
                first.concat(other, order="first", name=name)
            case _:
                getattr(first, verb)(other, name=name)
    except provenn.errors.ProvennError:
        pass


STEPS = st.tuples(st.sampled_from(VERBS), st.integers(0, 99), st.integers(0, 99), st.integers(0, 20))


def moved(archive: provenn.Archive, other: provenn.Archive) -> None:
    text = StringIO()
    export_lineage(archive, text)
    import_lineage(other, BytesIO(text.getvalue().encode()))


def related(archive: provenn.Archive, name: str) -> list[str]:
    return [summary for _, summary in archive.relations(name, sorted(archive))]


@settings(max_examples=4, deadline=None)
@given(st.lists(STEPS, min_size=3, max_size=8))
def test_what_is_proved_of_catalogs_is_the_same_after_a_round_trip(steps):
    check(steps)


@pytest.mark.campaign
@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, min_size=3, max_size=8))
def test_many_round_trips(steps):
    check(steps)


def check(steps: list[tuple[str, int, int, int]]) -> None:
    with TemporaryDirectory() as folder, provenn.open(f"{folder}/a") as archive, provenn.open(f"{folder}/b") as other:
        archive.ingest("stars", write_parquet(f"{folder}/s.parquet"), key="hip", population="star")
        archive.ingest("more", write_parquet(f"{folder}/m.parquet", more=[1] * 6), key="hip", population="star")
        for verb, left, right, number in steps:
            names = sorted(archive)
            define(archive, verb, names[left % len(names)], names[right % len(names)], number)
        moved(archive, other)
        assert sorted(other) == sorted(archive)
        for name in archive:
            assert related(other, name) == related(archive, name)


def test_what_a_function_calculates_is_left_behind_and_the_sources_stay(tmp_path):
    with provenn.open(tmp_path / "a") as archive, provenn.open(tmp_path / "b") as other:
        stars = archive.ingest("stars", write_parquet(tmp_path / "s.parquet"), key="hip", population="star")
        result = archive.calculator("twice", pipelines.twice, inputs=["vmag"], outputs={"double": "double"})
        stars.derive(result, name="doubled").select("double < 6", name="low")
        moved(archive, other)
        assert other.relate("doubled", "stars").summary == "equal"
        assert other.relate("low", "stars").summary == archive.relate("low", "stars").summary == "subset"


@pytest.mark.parametrize("which", ["bright", None])
def test_facts_that_were_declared_stay_at_home(tmp_path, which):
    """They are no lineage: the portable file of an archive has them."""
    with provenn.open(tmp_path / "a") as archive, provenn.open(tmp_path / "b") as other:
        stars = archive.ingest("stars", write_parquet(tmp_path / "s.parquet"), key="hip", population="star")
        stars.select("vmag < 6", name="bright")
        with pytest.warns(provenn.errors.ProvennWarning, match="the same sources"):
            archive.declare("stars <= bright")
        text = StringIO()
        export_lineage(archive, text, which)
        import_lineage(other, BytesIO(text.getvalue().encode()))
        assert other.relate("bright", "stars").summary == "subset"
