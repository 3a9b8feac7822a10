"""The files of fragments are sorted by key, so that few row groups are read for few keys; each output serves alone."""

from collections.abc import Iterator
from random import Random

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.spark.pipeline import Pipeline
from tests.targets import calls

SOURCES = 80


@pytest.fixture
def archive(engine, tmp_path) -> Iterator[provenn.Archive]:
    """Stars in no order, in two files, with a calculator of two outputs that writes down its calls."""
    ids = Random(1).sample(range(SOURCES), SOURCES)
    (tmp_path / "stars").mkdir()
    for part in range(2):
        own = ids[part::2]
        table = pa.table({"id": own, "x": [n / 2 for n in own], "mag": [float(n % 10) for n in own]})
        parquet.write_table(table, tmp_path / "stars" / f"{part}.parquet")
    with provenn.open(tmp_path / "survey", progress=False, who="ada") as opened:
        shop = opened.context.workshop
        shop._pipeline = Pipeline(opened.context.database, shop.folder, engine)
        opened.ingest("stars", tmp_path / "stars", key="id", population="star")
        parameters = {"value": "z", "error": "ez", "log": str(tmp_path / "log")}
        (tmp_path / "log").mkdir()
        outputs = {"z": "double", "ez": "double"}
        opened.calculator("fitted", calls.fitted, inputs=["id", "x"], outputs=outputs, parameters=parameters)
        yield opened
        shop._pipeline = None


def test_fragments_are_sorted_by_key_and_their_footers_tell_its_bounds(archive, tmp_path):
    archive.target("stars", ["z"], where="mag < 7").to_arrow()
    files = [*(tmp_path / "survey").rglob("*.parquet")]
    keys = [parquet.read_table(file)["id"].to_pylist() for file in files]
    assert all(own == sorted(own) for own in keys)
    assert sorted(key for own in keys for key in own) == [n for n in range(SOURCES) if n % 10 < 7]
    for file, own in zip(files, keys, strict=True):
        metadata = parquet.read_metadata(file)
        groups = [metadata.row_group(group).column(0).statistics for group in range(metadata.num_row_groups)]
        assert not own or (groups[0].min, groups[-1].max) == (own[0], own[-1])


def test_each_output_of_a_calculator_is_kept_and_serves_alone(archive, tmp_path):
    """A request for one output calls the calculator; later requests for the other one, or few keys, call nothing."""
    archive.target("stars", ["z"], where="mag < 7").to_arrow()
    called = calls.called(tmp_path / "log").total()
    assert called
    for attributes, where in ((["ez"], "mag < 7"), (["ez"], "mag < 5 AND id < 9"), (["z", "ez"], "mag < 7 AND id = 3")):
        request = archive.target("stars", attributes, where=where)
        looked, computed = request.to_arrow(), request.to_arrow(engine="spark")
        assert looked.sort_by("id").equals(computed.sort_by("id"))
        assert all(row.get("ez", row["id"] / 2 + 2) == row["id"] / 2 + 2 for row in computed.to_pylist())
    assert calls.called(tmp_path / "log").total() == called
