"""Layers in HATS: new attributes of a core's sources, written and ingested beside the core."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from astropy.coordinates import SkyCoord
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from sqlalchemy import func, update
from typer.testing import CliRunner

import provenn
from provenn.cli import app
from provenn.database.tables import file_bounds
from provenn.errors import (
    BaseFilesError,
    CatalogNameError,
    FormatError,
    KeyColumnsError,
    KeyValuesError,
    StoreError,
    UnknownCatalogError,
)
from provenn.files.column_bounds import PARTS
from provenn.sky import cone
from provenn.targets.keeping import find_parts_to_keep
from provenn.targets.steps import Scan, walk_steps
from tests.hats.real_lsdb import run_lsdb
from tests.hats.skies import write_sky


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("layers")


@pytest.fixture(scope="module")
def archive(place):
    write_sky(place / "sky.parquet", 2000, 5)
    with provenn.open(place / "survey") as opened:
        sky = opened.ingest("sky", place / "sky.parquet", key="id", population="star")
        sky.write(place / "core", format="hats", pixel_rows=200)
        derived = sky.derive(z="id / 2", name="redshifts")
        derived.write(place / "redshift", format="hats", layer=place / "core")
        sky.derive(w="id + 1").keep("w").write(place / "weights", format="hats", layer=place / "core")
        yield opened


@pytest.fixture(scope="module")
def whole(archive, place):
    """Core and layers, ingested together."""
    return archive.ingest(
        "all", place / "core", key="id", population="again", layers=[place / "redshift", place / "weights"]
    )


def read_parts(folder: Path) -> dict[str, pa.Table]:
    parts = (folder / "dataset").rglob("Npix=*.parquet")
    return {str(path.relative_to(folder)): parquet.ParquetFile(path).read() for path in parts}


def list_scans(catalog) -> list[Scan]:
    return [step for step in walk_steps(catalog.plan().after) if isinstance(step, Scan)]


# -- writing -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("archive")
def test_a_layer_holds_only_new_attributes_in_the_parts_and_the_order_of_the_core(place):
    core, layer = read_parts(place / "core"), read_parts(place / "redshift")
    assert core.keys() == layer.keys()
    assert len(core) > 12
    for name, part in layer.items():
        assert part.column_names == ["_healpix_29", "id", "ra", "dec", "z"]
        assert part.drop_columns("z").equals(core[name].select(["_healpix_29", "id", "ra", "dec"]))
        assert part["z"].to_pylist() == [number * 0.5 for number in core[name]["id"].to_pylist()]


@pytest.mark.usefixtures("archive")
def test_lsdb_loads_a_layer_as_an_extension_of_the_core(place):
    answers = run_lsdb(
        valid=("valid", {"path": str(place / "redshift")}),
        rows=("extended", {"core": str(place / "core"), "layer": str(place / "redshift" / "extension.properties")}),
    )
    assert answers["valid"] is True
    names, rows = answers["rows"]
    assert names == ["id", "ra", "dec", "mag", "name", "z"]
    sky = parquet.read_table(place / "sky.parquet").sort_by("id")
    expected = zip(sky["id"].to_pylist(), sky["mag"].to_pylist(), strict=True)
    assert rows == [[number, mag if mag is None else pytest.approx(mag), number * 0.5] for number, mag in expected]


def test_a_layer_of_a_core_that_lsdb_wrote_is_aligned_as_well(archive, place):
    source = str(place / "sky.parquet")
    run_lsdb(written=("write", {"table": source, "path": str(place / "of lsdb"), "rows": 300}))
    archive["redshifts"].write(place / "beside lsdb", format="hats", layer=place / "of lsdb")
    read = archive.ingest("lsdb", place / "of lsdb", key="id", population="x", layers=place / "beside lsdb")
    assert read.keep("z").to_pandas().sort_values("id")["z"].tolist() == [number * 0.5 for number in range(2000)]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda sky: sky.derive(z="1.0").select("id > 5"), "6 of 2,000 sources of the core .* are missing"),
        (lambda sky: sky, "has all these attributes: id, ra, dec, mag, name"),
        (lambda sky: sky.derive(z="1.0").rename(id="number"), "has no column number, the key of the sources"),
    ],
)
def test_a_catalog_that_is_no_layer_of_the_core_is_refused(archive, place, change, problem):
    with pytest.raises(FormatError, match=problem):
        change(archive["sky"]).write(place / "refused", format="hats", layer=place / "core")
    assert not (place / "refused").exists()


def test_sources_that_the_core_lacks_are_refused(archive, place):
    bright = archive["sky"].select("id < 1000")
    bright.write(place / "half", format="hats")
    with pytest.raises(FormatError, match="1,000 sources are not in the core"):
        archive["redshifts"].write(place / "refused", format="hats", layer=place / "half")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"layer": "core", "margin": 5}, "core of a layer determines"),
        ({"layer": "core", "pixel_rows": 5}, "core of a layer determines"),
        ({"layer": "sky.parquet"}, "is not a folder in HATS"),
        ({"layer": "nowhere"}, "is not a folder in HATS"),
        ({"layer": "core", "format": "parquet"}, "only folders in HATS"),
    ],
)
def test_options_that_do_not_fit_a_layer_are_refused(archive, place, options, problem):
    given = {"format": "hats", **options, "layer": place / options["layer"]}
    with pytest.raises(FormatError, match=problem):
        archive["redshifts"].write(place / "refused", **given)


@pytest.mark.parametrize("target", ["copy", "copy/core", "copy/link"])
def test_a_layer_does_not_replace_its_core(archive, place, tmp_path, target):
    """With `overwrite`, the core would be lost: the layer lacks its attributes."""
    shutil.copytree(place / "core", tmp_path / "copy" / "core")
    (tmp_path / "copy" / "link").symlink_to("core")
    with pytest.raises(StoreError, match="the core of this layer lies in"):
        archive["redshifts"].write(tmp_path / target, format="hats", layer=tmp_path / "copy" / "core", overwrite=True)
    assert (tmp_path / "copy" / "core" / "hats.properties").exists()


def test_a_core_with_a_key_of_another_type_is_refused(tmp_path):
    table = pa.table({"id": ["1", "2"], "ra": [1.0, 2.0], "dec": [1.0, 2.0], "z": [0.5, 0.6]})
    parquet.write_table(table, tmp_path / "text.parquet")
    parquet.write_table(table.set_column(0, "id", pa.array([1, 2])), tmp_path / "number.parquet")
    with provenn.open(tmp_path / "survey") as archive:
        text = archive.ingest("text", tmp_path / "text.parquet", key="id", population="text")
        number = archive.ingest("number", tmp_path / "number.parquet", key="id", population="number")
        text.keep("ra", "dec").write(tmp_path / "core", format="hats")
        with pytest.raises(FormatError, match=r"the key id is a bigint, and in the core .* a string"):
            number.write(tmp_path / "layer", format="hats", layer=tmp_path / "core")


# -- reading -----------------------------------------------------------------------------------------------------------


def test_core_and_layers_are_known_to_hold_the_same_sources(archive, whole):
    assert whole.attributes == ("_healpix_29", "id", "ra", "dec", "mag", "name", "z", "w")
    assert archive.relate("all", "all core").summary == "equal"
    assert archive.relate("all layer redshift", "all layer weights").summary == "equal"
    explanation = archive.prove("'all core' == 'all layer redshift'")
    assert explanation.verdict == "holds"
    assert "2,000 keys compared" in str([fact.reason for fact in archive.facts("all core")])


def test_attributes_of_a_layer_are_read_from_the_layer_alone(whole, place):
    (scan,) = list_scans(whole.keep("z"))
    assert scan.base.files.location.startswith(str(place / "redshift"))
    (scan,) = list_scans(whole.keep("mag"))
    assert scan.base.files.location.startswith(str(place / "core"))
    assert len(list_scans(whole.keep("mag", "z", "w"))) == 3


def test_rows_of_core_and_layers_belong_together(whole, place):
    sky = parquet.read_table(place / "sky.parquet").sort_by("id")
    rows = whole.to_arrow().sort_by("id")
    assert rows["mag"].to_pylist() == sky["mag"].to_pylist()
    assert rows["z"].to_pylist() == [number * 0.5 for number in range(2000)]
    assert rows["w"].to_pylist() == [number + 1 for number in range(2000)]
    near = whole.select(cone(45, 0, 2))
    expected = sorted(
        archive_row["id"] for archive_row in whole.keep("ra", "dec").select(cone(45, 0, 2)).to_arrow().to_pylist()
    )
    assert sorted(near.keep("z").to_arrow()["id"].to_pylist()) == expected


def list_read_files(catalog) -> dict[str, int]:
    """Return the number of files that a plan reads, by folder."""
    return {
        Path(scan.base.files.location.partition("/dataset")[0]).name: scan.file_count for scan in list_scans(catalog)
    }


@pytest.mark.parametrize("names", [("mag", "z"), ("z",), ("z", "w"), ("mag", "z", "w")])
def test_a_region_reads_only_the_parts_of_core_and_layers_that_it_touches(whole, names):
    near = whole.select(cone(45, 0, 2)).keep(*names)
    read = list_read_files(near)
    assert read["core"] < len(whole.plan().after.members[0].base.files.fingerprints)
    assert set(read.values()) == {read["core"]}
    assert {"irrelevant_files", "shared_parts"} <= {applied.rule for applied in near.plan().applied}


@given(st.tuples(st.floats(0, 359.9), st.floats(-90, 90), st.floats(0.01, 30)), st.booleans())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_source_is_lost_with_the_parts_that_are_not_read(whole, place, circle, inside):
    ra, dec, radius = circle
    inner = whole.select(cone(ra, dec, radius))
    sky = parquet.read_table(place / "sky.parquet").to_pandas()
    positions = SkyCoord(sky["ra"].to_numpy(), sky["dec"].to_numpy(), unit="deg")
    is_near = positions.separation(SkyCoord(ra, dec, unit="deg")).deg <= radius
    expected = {number: (number * 0.5, number + 1) for number in sky["id"][is_near if inside else ~is_near]}
    near = (inner if inside else whole.exclude(inner)).keep("z", "w")
    assert {row["id"]: (row["z"], row["w"]) for row in near.to_arrow().to_pylist()} == expected


@pytest.mark.usefixtures("archive")
def test_parts_that_were_changed_in_the_database_are_not_believed_until_they_are_compared_again(place, tmp_path):
    with provenn.open(tmp_path / "survey") as archive:
        layered = archive.ingest("all", place / "core", key="id", population="star", layers=[place / "redshift"])
        near = layered.select(cone(45, 0, 3)).keep("mag", "z")
        read, rows = list_read_files(near), near.count()
        assert read["core"] == read["redshift"]
        with archive.context.database.writing() as writing:
            changed = func.replace(file_bounds.c.content, '"1/', '"0/')
            writing.connection.execute(
                update(file_bounds).where(file_bounds.c.column.contains(PARTS)).values(content=changed)
            )
    with provenn.open(tmp_path / "survey") as archive:
        again = archive["all"].select(cone(45, 0, 3)).keep("mag", "z")
        assert list_read_files(again)["redshift"] > read["redshift"]
        assert again.keep("z").to_arrow().num_rows == rows
        problems = [problem.what for problem in archive.check().problems]
        assert len(problems) == 2
        assert all("changed after it was written" in problem for problem in problems)
        archive.ingest("all", place / "core", key="id", population="star", layers=[place / "redshift"])
    with provenn.open(tmp_path / "survey") as archive:
        assert list_read_files(archive["all"].select(cone(45, 0, 3)).keep("mag", "z")) == read
        assert not archive.check().problems


@pytest.mark.usefixtures("archive")
def test_files_that_were_renamed_to_other_parts_keep_their_own(place, tmp_path):
    for name in ("core", "redshift"):
        shutil.copytree(place / name, tmp_path / name)
    with provenn.open(tmp_path / "survey") as archive:
        archive.ingest("all", tmp_path / "core", key="id", population="star", layers=[tmp_path / "redshift"])
        # the same files of the layer under names of other parts: the content of the base catalog is the same
        first, second = sorted((tmp_path / "redshift" / "dataset").rglob("Npix=*.parquet"))[:2]
        rows = parquet.ParquetFile(first).read()["id"].to_pylist()
        first.rename(tmp_path / "moved")
        second.rename(first)
        (tmp_path / "moved").rename(second)
        near = archive["all"].select(f"id = {rows[0]}").keep("mag", "z")
        assert near.to_arrow()["z"].to_pylist() == [rows[0] * 0.5]
        with pytest.raises(KeyValuesError):
            archive.ingest("again", tmp_path / "core", key="id", population="star", layers=[tmp_path / "redshift"])
        assert near.derive(a="1").to_arrow()["z"].to_pylist() == [rows[0] * 0.5]


def score(batch):
    return (batch["mag"] * batch["z"]).to_frame("s")


@pytest.mark.parametrize("layers", [["redshift"], ["redshift", "weights"]])
def test_what_is_calculated_from_some_parts_of_core_and_layers_is_kept(archive, place, layers):
    archive.calculator("score", score, inputs=["mag", "z"], outputs={"s": "double"})
    folders = [place / name for name in layers]
    layered = archive.ingest(f"with {layers}", place / "core", key="id", population="again", layers=folders)
    scored = layered.select(cone(45, 0, 2)).derive("score")
    plan = scored.select("s > 100").keep("s").plan()
    assert "shared_parts" in {applied.rule for applied in plan.applied}
    assert [(part.step.word, part.catalog.extent) for part in find_parts_to_keep(plan, "worthwhile")] == [
        ("calculate", scored.definition.extent)
    ]


def test_a_step_that_reads_some_parts_of_a_layer_does_not_claim_the_sources_of_all(whole):
    far = whole.select("z > 100")
    assert far.count() == 1799
    near = whole.select(cone(45, 0, 2)).keep("mag").combine(far.keep("w"))
    plan = near.plan()
    assert "shared_parts" in {applied.rule for applied in plan.applied}
    assert far.definition.extent not in {step.extent for step in walk_steps(plan.after)}
    assert plan.after.extent == near.definition.extent
    assert "1,799 sources;" not in str(plan).partition("As computed")[2]


@pytest.mark.usefixtures("archive")
def test_parts_that_another_person_compared_in_private_change_no_plan(place, tmp_path):
    folders = {"core": place / "core", "layer": place / "redshift"}
    near, options = cone(45, 0, 3), {"key": "id", "population": "star"}
    with provenn.open(tmp_path / "survey", who="bob") as archive:
        archive.default_visibility = "private"
        core, layer = (archive.ingest(name, path, **options) for name, path in folders.items())
        before = list_read_files(core.select(near).combine(layer.keep("z")))
    with provenn.open(tmp_path / "survey", who="ada", confined=True) as archive:
        both = archive.ingest("all", folders["core"], **options, layers=[folders["layer"]])
        assert len(set(list_read_files(both.select(near).keep("mag", "z")).values())) == 1
    with provenn.open(tmp_path / "survey", who="bob", confined=True) as archive:
        assert list_read_files(archive["core"].select(near).combine(archive["layer"].keep("z"))) == before
        archive.ingest("both", folders["core"], **options, layers=[folders["layer"]])
        after = list_read_files(archive["core"].select(near).combine(archive["layer"].keep("z")))
        assert after == {"core": before["core"], "redshift": before["core"]}


@pytest.mark.usefixtures("archive")
def test_parts_are_not_mixed_with_those_of_another_division_of_the_same_files(place, tmp_path):
    for name in ("core", "redshift", "weights"):
        shutil.copytree(place / name, tmp_path / name)
        properties = tmp_path / name / "hats.properties"
        # without a column of cells, parts in the places of others are not noticed
        properties.write_text(properties.read_text().replace("hats_col_healpix=", "hats_col_healpix=no_"))
    layers = [tmp_path / "redshift", tmp_path / "weights"]
    with provenn.open(tmp_path / "survey") as archive:
        archive.ingest("all", tmp_path / "core", key="id", population="star", layers=layers)
        # the same files of core and layer lie in other parts now, as those of the other layer do not
        for name in ("core", "redshift"):
            first, second = sorted((tmp_path / name / "dataset").rglob("Npix=*.parquet"))[:2]
            row = parquet.ParquetFile(first).read(["id", "ra", "dec"]).to_pylist()[0]
            first.rename(tmp_path / "moved")
            second.rename(first)
            (tmp_path / "moved").rename(second)
        archive.ingest("again", tmp_path / "core", key="id", population="star", layers=layers[:1])
        near = archive["all"].select(f"id = {row['id']}").keep("z", "w", "mag")
        (step,) = near.to_arrow().to_pylist()
        assert (step["z"], step["w"]) == (row["id"] * 0.5, row["id"] + 1)


def copy_layer(place: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Return a copy of the layer, and a part of it with at least two rows."""
    shutil.copytree(place / "redshift", tmp_path / "copy")
    parts = sorted((tmp_path / "copy" / "dataset").rglob("Npix=*.parquet"))
    return tmp_path / "copy", max(parts, key=lambda path: parquet.read_metadata(path).num_rows)


def change_rows(folder: Path, part: Path, change) -> None:
    table = parquet.ParquetFile(part).read()
    parquet.write_table(change(table), part)
    total = sum(parquet.read_metadata(path).num_rows for path in folder.rglob("Npix=*.parquet"))
    for name in ("hats.properties", "properties"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace("hats_nrows=2000", f"hats_nrows={total}"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda table: table.slice(1), "1 of .* keys of .*core are not in .*copy, such as id"),
        (lambda table: pa.concat_tables([table, table.slice(0, 1)]), "keys occur twice"),
        (
            lambda table: table.set_column(1, "id", pa.array([None, *table["id"].to_pylist()[1:]])),
            "1 of .* rows of .*copy have no id, in the part",
        ),
        (
            lambda table: table.set_column(1, "id", pa.array([9999, *table["id"].to_pylist()[1:]])),
            "are not in .*copy.*; and 1 of .* keys of .*copy are not in .*core, such as id 9999",
        ),
        (lambda table: table.rename_columns(["_healpix_29", "number", "ra", "dec", "z"]), "has no column id"),
        (lambda table: table.drop_columns("z"), "has no column that"),
        (
            lambda table: table.set_column(1, "id", table["id"].cast(pa.float64())),
            r"the key of the population bad \(bigint\) cannot be \(id double\)",
        ),
    ],
)
def test_a_layer_that_does_not_fit_is_refused_and_nothing_is_named(archive, place, tmp_path, change, problem):
    folder, part = copy_layer(place, tmp_path)
    if "column" in problem or "population" in problem:
        for path in folder.rglob("Npix=*.parquet"):
            parquet.write_table(change(parquet.ParquetFile(path).read()), path)
    else:
        change_rows(folder, part, change)
    with pytest.raises((KeyValuesError, BaseFilesError, KeyColumnsError), match=problem):
        archive.ingest("bad", place / "core", key="id", population="bad", layers=[folder])
    with pytest.raises(UnknownCatalogError):
        _ = archive["bad core"]


@pytest.mark.parametrize("name", ["core", "layer"])
def test_a_layer_with_other_parts_is_refused(archive, place, tmp_path, name):
    for folder in ("core", "redshift"):
        shutil.copytree(place / folder, tmp_path / folder)
    part = next((tmp_path / ("core" if name == "core" else "redshift")).rglob("Npix=*.parquet"))
    rows = parquet.read_metadata(part).num_rows
    part.unlink()
    with pytest.raises(KeyValuesError, match=f"the {name} has no part Norder=.* with {rows:,} keys"):
        archive.ingest("bad", tmp_path / "core", key="id", population="bad", layers=[tmp_path / "redshift"])


def test_a_name_of_another_catalog_is_refused_before_anything_is_named(archive, place):
    before = list(archive)
    with pytest.raises(CatalogNameError, match="sky already names a catalog that is not made of a core and its layers"):
        archive.ingest("sky", place / "core", key="id", population="x", layers=[place / "redshift"])
    assert list(archive) == before


@pytest.mark.usefixtures("archive")
def test_a_new_version_of_core_and_layer_moves_the_name(place, tmp_path):
    for name in ("core", "redshift"):
        shutil.copytree(place / name, tmp_path / name)
    options = {"key": "id", "population": "star", "layers": [tmp_path / "redshift"]}
    with provenn.open(tmp_path / "survey") as archive:
        archive.ingest("all", tmp_path / "core", **options)
        for name in ("core", "redshift"):
            part = max((tmp_path / name).rglob("Npix=*.parquet"), key=lambda path: parquet.read_metadata(path).num_rows)
            change_rows(tmp_path / name, part, lambda table: table.slice(1))
        near = archive.ingest("all", tmp_path / "core", **options, rebuild=True).select(cone(45, 0, 3)).keep("mag", "z")
        assert archive["all"].count() == 1999
        assert len(set(list_read_files(near).values())) == 1


def test_rows_in_another_order_are_the_same_sources(archive, place, tmp_path):
    folder, part = copy_layer(place, tmp_path)
    change_rows(folder, part, lambda table: table.take(list(reversed(range(len(table))))))
    other = archive.ingest("other order", place / "core", key="id", population="order", layers=[folder])
    assert other.keep("mag", "z").count() == 2000
    assert other.keep("mag", "z").to_pandas().eval("z == id * 0.5").all()


@pytest.mark.parametrize(
    ("path", "layers", "problem"),
    [
        ("sky.parquet", ["redshift"], "is not a folder in HATS"),
        ("core", ["sky.parquet"], "is not a folder in HATS"),
        ("core", ["half"], "has no column that"),
        ("core", ["redshift", "redshift"], "both have a column z"),
    ],
)
def test_folders_that_do_not_belong_together_are_refused(archive, place, path, layers, problem):
    if not (place / "half").exists():
        archive["sky"].select("id < 1000").write(place / "half", format="hats")
    with pytest.raises((FormatError, BaseFilesError), match=problem):
        archive.ingest("bad", place / path, key="id", population="bad", layers=[place / layer for layer in layers])


# -- the command line --------------------------------------------------------------------------------------------------


def test_commands_write_and_ingest_layers(archive, place, tmp_path):
    survey = str(place / "survey")
    run = CliRunner().invoke
    folder, core = str(tmp_path / "layer"), str(place / "core")
    done = run(app, ["export", "redshifts", "-o", folder, "--format", "hats", "--layer", core, "-a", survey, "--json"])
    assert (done.exit_code, json.loads(done.stdout)["rows"]) == (0, 2000), done.output
    options = ["--key", "id", "--population", "by command", "--layer", folder, "-a", survey]
    done = run(app, ["ingest", "commanded", core, *options])
    assert done.exit_code == 0, done.output
    assert archive.relate("commanded", "commanded core").summary == "equal"
    done = run(app, ["export", "redshifts", folder + "2", "--format", "hats", "--layer", folder + "3", "-a", survey])
    assert (done.exit_code, "is not a folder in HATS" in done.output) == (2, True)
