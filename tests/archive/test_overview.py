"""The overview of a catalog, and its map of the sky: read without Spark, counted once, and kept."""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import delete, func, select

import provenn
from provenn.archive.sky_cells import find_sources_in_cell
from provenn.archive.spark_place import SparkPlace
from provenn.data.tallies import find_tally
from provenn.database.tables import tallies
from provenn.errors import DefinitionError, FilesChangedError, PictureError, SparkNeededError
from provenn.sky import cone
from provenn.targets import looking

SOURCES = 3000


@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    """Nothing here may start Spark."""

    def refuse(*_):
        raise AssertionError("Spark was started")

    monkeypatch.setattr(SparkPlace, "pipeline", refuse)
    monkeypatch.delenv("PROVENN_ENGINE", raising=False)


@pytest.fixture
def files(tmp_path):
    random = np.random.default_rng(5)
    table = pa.table(
        {
            "id": np.arange(SOURCES),
            "ra": pa.array(random.uniform(0, 360, SOURCES), mask=np.arange(SOURCES) == 7),
            "dec": np.degrees(np.arcsin(random.uniform(-1, 1, SOURCES))),
            "gmag": np.where(np.arange(SOURCES) == 3, np.nan, random.normal(15, 3, SOURCES)),
            "kind": random.choice(["star", "galaxy", None], SOURCES),
        }
    )
    pq.write_table(table, tmp_path / "gaia.parquet")
    return tmp_path / "gaia.parquet"


@pytest.fixture
def archive(tmp_path, files):
    with provenn.open(tmp_path / "survey", who="ada", progress=False) as opened:
        gaia = opened.ingest("gaia", files, key="id", population="star")
        gaia.select("gmag < 15", name="bright")
        gaia.exclude("bright", name="faint")
        gaia.derive(absolute="md5(kind)", name="derived")
        yield opened


def count_tallies(archive):
    with archive.context.database.reading() as reading:
        return reading.connection.scalar(select(func.count()).select_from(tallies))


def number_cells(files, where, order):
    """Return the number of sources in each cell, as DuckDB selects and cdshealpix numbers them."""
    from astropy import units  # noqa: PLC0415 - these take long to import
    from astropy.coordinates import Latitude, Longitude  # noqa: PLC0415
    from cdshealpix.nested import lonlat_to_healpix  # noqa: PLC0415

    query = f"SELECT ra, dec FROM '{files}' WHERE ra IS NOT NULL AND ({where})"  # noqa: S608 - constants of this file
    rows = duckdb.connect().execute(query).fetchnumpy()
    numbers = lonlat_to_healpix(Longitude(rows["ra"] * units.deg), Latitude(rows["dec"] * units.deg), order)
    return dict(zip(*(part.tolist() for part in np.unique(numbers, return_counts=True)), strict=True))


def test_an_overview_has_the_size_ten_rows_and_tallies_of_all_values(archive, files):
    overview = archive["bright"].overview()
    count, lowest, kinds = (
        duckdb.connect()
        .execute(
            f"SELECT count(*), min(gmag), count(*) FILTER (kind IS NULL) FROM '{files}' WHERE gmag < 15"  # noqa: S608 - a constant
        )
        .fetchone()
    )
    assert (overview.size.low, overview.size_words) == (count, "counted")
    assert (overview.values.is_whole, len(overview.values.rows)) == (True, 10)
    tally = {tally.name: tally for tally in overview.values.tallies}
    assert tally["gmag"].low == f"{lowest:.6g}"
    assert tally["kind"].nulls == kinds
    assert archive["gaia"].overview().values.tallies[3].nans == 1


def test_what_was_seen_is_kept_and_not_read_again(archive, monkeypatch):
    first = archive["gaia"].overview(), archive["gaia"].sky()
    assert count_tallies(archive) == 2
    monkeypatch.setattr(looking._Look, "read_result", lambda _: pytest.fail("data were read"))
    assert archive["gaia"].overview() == first[0]
    cells = archive["gaia"].sky().layers[0].cells
    assert np.array_equal(cells.numbers, first[1].layers[0].cells.numbers)
    assert (cells.total, cells.unplaced) == (SOURCES - 1, 1)


def test_a_kept_tally_is_not_shown_when_the_files_have_changed(archive, files):
    archive["gaia"].sky()
    assert archive["gaia"].overview().values is not None
    pq.write_table(pa.table({"id": [1], "ra": [1.0], "dec": [1.0], "gmag": [1.0], "kind": ["star"]}), files)
    overview = archive["gaia"].overview()
    assert overview.values is None
    assert "changed" in overview.refusal
    with pytest.raises(FilesChangedError):
        archive["gaia"].sky()


def test_a_catalog_that_is_known_to_be_empty_has_no_rows_whatever_was_kept_of_its_changed_files(archive, files):
    none = archive["gaia"].select("gmag < 0 AND gmag + ra > 1000", name="none")
    assert none.overview().values.is_whole
    assert count_tallies(archive) == 1
    assert none.count() == 0
    pq.write_table(pa.table({"id": [1], "ra": [1.0], "dec": [1.0], "gmag": [1.0], "kind": ["star"]}), files)
    seen = archive["none"].overview()
    with archive.context.database.writing() as writing:
        writing.connection.execute(delete(tallies))
    assert seen == archive["none"].overview()
    assert (seen.values.rows, seen.refusal) == ((), "")


def test_a_tally_that_was_altered_is_ignored(archive):
    archive["gaia"].overview()
    with archive.context.database.writing() as writing:
        writing.connection.execute(tallies.update().values(content=tallies.c.content + "A"))
    assert archive["gaia"].overview().values.rows_read == SOURCES


def test_what_rests_on_a_declared_fact_says_so_and_is_not_kept(archive):
    with pytest.warns(provenn.errors.ProvennWarning):
        archive.declare("empty(bright)", reason="a mistake")
    with pytest.warns(provenn.errors.ProvennWarning):
        overview = archive["bright"].overview()
    assert overview.values.rows == ()
    assert overview.size_words == "by a declared fact", "nothing was counted"
    assert "#1" in overview.rests_on[0]
    assert count_tallies(archive) == 0
    archive.retract(1, reason="it was one")
    assert len(archive["bright"].overview().values.rows) == 10


def test_attributes_that_only_spark_can_compute_are_left_out_and_named(archive):
    values = archive["derived"].overview().values
    assert values.left_out == ("absolute",)
    assert "gmag" in values.columns
    sample = archive["gaia"].sample(0.5, name="half").overview()
    assert (sample.values, sample.size.high) == (None, SOURCES)
    assert "takes a sample" in sample.refusal
    with pytest.raises(SparkNeededError, match="takes a sample"):
        archive["half"].sky(engine="look")


def test_a_large_catalog_is_seen_by_its_first_rows(tmp_path, archive):
    pq.write_table(pa.table({"id": np.arange(30_000), "x": np.arange(30_000) / 7}), tmp_path / "many.parquet")
    overview = archive.ingest("many", tmp_path / "many.parquet", key="id", population="number").overview()
    assert (overview.values.rows_read, overview.values.is_whole) == (10_000, False)
    assert overview.size.low == 30_000
    some = archive["many"].select("x < 4000").overview()
    assert some.size_words == "bounded and estimated"


def test_another_viewer_learns_nothing_of_private_looks(archive):
    private = archive["gaia"].select("gmag < 12")
    private.named("mine", visibility="private")
    private.overview()
    archive["gaia"].overview()
    bob = archive.as_seen_by("bob")
    same = bob["gaia"].select("gmag < 12")
    assert same == private
    assert bob.context.read(find_tally, same.digest, "overview") is None
    assert bob.context.read(find_tally, archive["gaia"].digest, "overview")["rows_read"] == SOURCES


def test_a_kept_tally_names_no_fragments_that_the_viewer_does_not_see(archive, monkeypatch):
    """Ada's look is no secret; a fragment of a project of hers is one."""
    with monkeypatch.context() as patch:
        patch.setattr("provenn.archive.overview._find_fragments", lambda _context, _catalog: (7,))
        assert archive["bright"].overview().values.fragments == (7,)
    bob = archive.as_seen_by("bob")
    assert bob.context.read(find_tally, bob["bright"].digest, "overview")["fragments"] == [7]
    assert bob["bright"].overview().values.fragments == ()


@pytest.mark.parametrize(("name", "where"), [("gaia", "TRUE"), ("bright", "gmag < 15"), ("faint", "NOT gmag < 15")])
def test_cells_have_as_many_sources_as_cdshealpix_counts(archive, files, name, where):
    cells = archive[name].sky().layers[0].cells
    for order in (0, 3, 6, cells.order):
        counted = cells.at_order(order)
        assert dict(zip(counted.numbers.tolist(), counted.counts.tolist(), strict=True)) == number_cells(
            files, where, order
        )


def test_the_sources_of_a_cell_are_those_that_were_counted(archive):
    catalog = archive["bright"]
    cells = catalog.sky().layers[0].cells.at_order(2)
    for number, count in zip(cells.numbers[:20].tolist(), cells.counts[:20].tolist(), strict=True):
        found, table = find_sources_in_cell(archive.context, catalog.definition, "bright", 2, number, most=5)
        assert (found, table.num_rows) == (count, min(count, 5))


def test_pictures_are_made_of_sets_and_of_what_a_target_will_compute(archive):
    target = archive.target("gaia", ["ra", "dec"], where="gmag < 15")
    together = archive["gaia"].sky("bright", target)
    assert [layer.name for layer in together.layers] == ["gaia", "bright", "gaia where gmag < 15"]
    bright, asked = (layer.cells for layer in together.layers[1:])
    assert np.array_equal(bright.numbers, asked.numbers)
    assert archive["faint"].sky().layers[0].cells.total + bright.total == SOURCES - 1
    assert "Sky map of gaia, bright" in together._repr_svg_()


def test_regions_of_the_selection_are_drawn(archive):
    near = archive["gaia"].select(cone(40, 20, 10), name="near").sky(engine="look")
    assert [words for words, _ in near.layers[0].regions] == ["in_cone(40, 20, 10)"]
    assert near.view.radius < 12
    assert "in_cone(40, 20, 10)" in near.svg()
    box = archive["gaia"].select("ra > 40 AND ra < 60 AND dec > 10 AND dec < 30")
    assert box.sky().view.radius < 20
    assert box.sky().whole_sky().view.radius is None
    assert box.sky().zoomed(50, 20, 2).order > box.sky().order


def test_a_map_needs_positions_and_shows_at_most_four_catalogs(archive, tmp_path):
    pq.write_table(pa.table({"id": [1]}), tmp_path / "no.parquet")
    with pytest.raises(DefinitionError, match="position"):
        archive.ingest("no", tmp_path / "no.parquet", key="id", population="thing").sky()
    with pytest.raises(PictureError, match="at most 4"):
        archive["gaia"].sky("bright", "bright", "bright", "bright")


def test_units_of_positions_are_understood(archive, tmp_path):
    values = {"id": pa.array([1]), "ra": pa.array([1.0]), "dec": pa.array([0.5])}
    fields = [
        pa.field(name, array.type, metadata={"unit": "rad"} if name != "id" else {}) for name, array in values.items()
    ]
    pq.write_table(pa.Table.from_arrays(list(values.values()), schema=pa.schema(fields)), tmp_path / "radians.parquet")
    catalog = archive.ingest("radians", tmp_path / "radians.parquet", key="id", population="thing")
    view = catalog.sky().view
    assert (view.ra, view.dec) == pytest.approx((np.degrees(1.0), np.degrees(0.5)), abs=0.1)


def test_a_map_is_written_as_a_file(archive, tmp_path):
    archive["gaia"].sky().write(tmp_path / "sky.svg")
    assert (tmp_path / "sky.svg").read_text().startswith("<svg")
