"""What is stored is not computed again: counted by calculators that write down for which sources they are called."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from tests.targets import calls
from tests.targets.sixty_stars import NUMBER

SOURCES, TILES, TILE = 5_000, 6, 1_000


@pytest.fixture(scope="module")
def archive(engine, tmp_path_factory) -> Iterator[provenn.Archive]:
    """An archive of 5 000 stars on the Spark of all tests, which starts one worker for each of two parts."""
    folder = tmp_path_factory.mktemp("stored_once")
    ids = range(SOURCES)
    columns = {"id": ids, "x": [None if n % 97 == 7 else n / 2 for n in ids], "mag": [n / 100 for n in ids]}
    parquet.write_table(pa.table({name: list(values) for name, values in columns.items()}), folder / "stars.parquet")
    master = engine.session.sparkContext.master
    with provenn.open(folder / "survey", spark=master, progress=False, who="ada") as opened:
        opened.ingest("stars", folder / "stars.parquet", key="id", population="star")
        yield opened


class Fitted:
    """A registered calculator with two outputs, `value` and `error`, that writes down for which sources it is called.

    Parameters
    ----------
    archive
        The archive that registers it.
    log
        The folder it writes to.
    factor
        Its parameter: another factor, another identity of its outputs.
    names
        What its outputs are called; new names by default.
    inputs
        What it is calculated from: the key, and what is multiplied.
    """

    def __init__(
        self,
        archive: provenn.Archive,
        log: Path,
        factor: float = 2.0,
        names: tuple[str, str] | None = None,
        inputs: Sequence[str] = ("id", "x"),
    ) -> None:
        self.archive = archive
        self.log = log
        number = next(NUMBER)
        self.value, self.error = names or (f"z{number}", f"ez{number}")
        self.calculator = archive.calculator(
            f"fitted{number}",
            calls.fitted,
            inputs=inputs,
            outputs={self.value: "double", self.error: "double"},
            parameters={"value": self.value, "error": self.error, "log": str(log), "factor": factor},
        )
        self._seen = calls.called(log)

    def calls(self) -> int:
        """Return for how many sources the calculator was called since this was asked last."""
        return self.new_calls().total()

    def new_calls(self) -> Counter[int]:
        """Return for which sources the calculator was called since this was asked last, and how often."""
        now = calls.called(self.log)
        new = now - self._seen
        self._seen = now
        return new


@pytest.fixture
def fitted(archive, tmp_path_factory) -> Fitted:
    return Fitted(archive, tmp_path_factory.mktemp("log"))


def column(table: pa.Table, name: str) -> dict[int, float | None]:
    """The values of a column by source, each source once."""
    values = dict(zip(table.column("id").to_pylist(), table.column(name).to_pylist(), strict=True))
    assert len(values) == table.num_rows
    return values


# --- calculators with several outputs ---


def test_one_call_serves_all_outputs_of_a_calculator(archive, fitted):
    """For z of 5 000 sources, then ez of the same, then both: 5 000 calls, not 15 000."""
    z = archive.target("stars", [fitted.value]).to_arrow()
    assert fitted.calls() == SOURCES
    ez = archive.target("stars", [fitted.error]).to_arrow()
    assert fitted.calls() == 0
    both = archive.target("stars", [fitted.value, fitted.error]).to_arrow()
    assert fitted.calls() == 0
    assert column(both, fitted.value) == column(z, fitted.value)
    assert column(both, fitted.error) == column(ez, fitted.error)
    assert column(both, fitted.error)[10] == 7.0


def test_fragments_that_hold_outputs_separately_serve_together(archive, fitted):
    """One fragment with z of the sources below 30, one with ez of those from 20: both are known from 20 to 30."""
    derived = archive["stars"].derive(fitted.calculator)
    store_only(derived.select("mag < 30"), fitted.value)
    store_only(derived.select("mag >= 20"), fitted.error)
    fitted.calls()
    both = archive.target("stars", [fitted.value, fitted.error], where="mag >= 20 AND mag < 30").to_arrow()
    assert fitted.calls() == 0
    assert column(both, fitted.value)[2500] == 2500.0
    assert column(both, fitted.error)[2500] == 1252.0
    every = archive.target("stars", [fitted.value, fitted.error]).to_arrow()
    assert fitted.calls() == 4_000, "exactly the sources that lack an output: one call gives both"
    assert column(every, fitted.value)[4_000] == 4_000.0
    assert column(every, fitted.error)[100] == 52.0


def store_only(catalog: provenn.Catalog, attribute: str) -> None:
    """Keep one output alone, as earlier versions of provenn did."""
    from provenn.spark.fragment_files import store_fragment  # noqa: PLC0415 - only here
    from tests.spark.plain_plan import prepare_plain  # noqa: PLC0415 - only here

    one, shop = catalog.definition, catalog.archive.context.workshop
    pipeline = shop.pipeline()
    frame = prepare_plain(pipeline, one, "an earlier fragment").frame
    identities = [one.schema[attribute].identity]
    store_fragment(pipeline.engine, pipeline.database, pipeline.folder, one, frame, identities=identities)


# --- concatenations whose members define the attribute differently ---


def test_stored_members_of_a_concatenation_are_not_computed_again(archive, tmp_path_factory):
    """Two members with z by two calculators, 2 000 sources together, both stored."""
    number = next(NUMBER)
    names = (f"z{number}", f"ez{number}")
    one, two = (Fitted(archive, tmp_path_factory.mktemp("log"), factor, names) for factor in (2.0, 3.0))
    stars = archive["stars"]
    left = stars.select("mag < 10").derive(one.calculator)
    right = stars.select("mag >= 10 AND mag < 20").derive(two.calculator)
    left.store()
    right.store()
    assert one.calls() + two.calls() == 2_000
    both = left.concat(right, order="first")
    found = column(both.to_arrow(), names[0])
    assert one.calls() + two.calls() == 0
    assert (found[500], found[1_500]) == (500.0, 2_250.0)


def test_tiles_are_computed_once_however_they_are_put_together(archive, tmp_path_factory):
    """Six files of 1 000 sources, each with a z of its own: 6 000 calls for all, and none after that."""
    log, folder = tmp_path_factory.mktemp("log"), tmp_path_factory.mktemp("tiles")
    fitted = Fitted(archive, log)
    tiles = [_tile(archive, folder, fitted, number) for number in range(TILES)]
    first = tiles[0].concat(*tiles[1:-1], order="first")
    first.to_arrow()
    assert fitted.calls() == (TILES - 1) * TILE
    mosaic = first.concat(tiles[-1], order="first")
    values = column(mosaic.to_arrow(), fitted.value)
    assert fitted.calls() == TILE, "only the tile that is new"
    assert len(values) == TILES * TILE
    assert values[5_100] == 5_100.0
    for catalog in (tiles[3], tiles[-1], tiles[2].concat(tiles[-1], order="first"), first):
        catalog.to_arrow()
        assert fitted.calls() == 0


# --- calculations on concatenations ---


def test_stored_days_serve_what_is_calculated_of_all_days(archive, fitted, tmp_path_factory):
    """Two days of 1 000 sources, both stored: the same calculator on both together is called for none."""
    folder = tmp_path_factory.mktemp("days")
    days = [_day(archive, folder, number) for number in range(3)]
    for day in days[:2]:
        day.derive(fitted.calculator).store()
    assert fitted.calls() == 2 * TILE
    both = days[0].concat(days[1], order="first").derive(fitted.calculator)
    values = column(both.to_arrow(), fitted.value)
    assert fitted.calls() == 0
    assert (len(values), values[100], values[1_100]) == (2 * TILE, 100.0, 1_100.0)
    three = days[0].concat(*days[1:], order="first")
    found = archive.target(three, [fitted.error], where="x > 1400").to_arrow()
    assert fitted.calls() == 199, "the sources of the third day that are asked for"
    assert column(found, fitted.error)[2_900] == 1_452.0
    three.derive(fitted.calculator).to_arrow()
    assert fitted.calls() == 801
    two = days[2].concat(days[0], order="first").derive(fitted.calculator).select("x < 200")
    two.to_arrow()
    days[2].derive(fitted.calculator).to_arrow()
    assert fitted.calls() == 0, "what was calculated of all days serves each"


def test_stored_results_on_the_way_serve_what_is_calculated_of_all_days(archive, fitted, tmp_path_factory):
    """Z of each day is stored; of all days, sources are selected by 2 z + 1, and another z is calculated of that."""
    folder, number = tmp_path_factory.mktemp("days"), next(NUMBER)
    days = [_day(archive, folder, number) for number in range(2)]
    for day in days:
        day.derive(fitted.calculator).store()
    fitted.calls()
    further = Fitted(archive, tmp_path_factory.mktemp("log"), inputs=["id", f"w{number}"])
    all_days = days[0].concat(days[1], order="first").derive(fitted.calculator)
    chosen = all_days.derive({f"w{number}": f"2 * {fitted.value} + 1"}).select(f"w{number} > 2001")
    values = column(chosen.derive(further.calculator).to_arrow(), further.value)
    assert (fitted.calls(), further.calls()) == (0, 999)
    assert values[1_500] == 6_002.0


def _day(archive: provenn.Archive, folder: Path, number: int) -> provenn.Catalog:
    ids = list(range(number * TILE, (number + 1) * TILE))
    parquet.write_table(pa.table({"id": ids, "x": [n / 2 for n in ids]}), folder / f"{number}.parquet")
    return archive.ingest(f"day{next(NUMBER)}", folder / f"{number}.parquet", key="id", population="star")


def _tile(archive: provenn.Archive, folder: Path, fitted: Fitted, number: int) -> provenn.Catalog:
    return _day(archive, folder, number).derive(fitted.calculator)
