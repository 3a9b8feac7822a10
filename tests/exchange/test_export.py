"""Lineage for others: valid by their own libraries, the same every time, with any names."""

import json
import os
import re
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from openlineage.client import event_v2, facet_v2
from openlineage.client.generated import column_lineage_dataset, lineage
from openlineage.client.serde import Serde
from prov.model import ProvDerivation, ProvDocument, ProvEntity

import provenn
from provenn.data import run_records
from provenn.errors import FormatError, LineageError, UnknownCatalogError
from provenn.exchange import FORMATS, export_lineage, prov_records, records

ODD = 'a name: "äöü" <&> {1}/\\'
READERS = {"prov-json": "json", "prov-n": "provn", "prov-xml": "xml"}


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[provenn.Archive]:
    (tmp_path / "stars.csv").write_text("hip,vmag,plx\n1,2.0,3.0\n")
    os.utime(tmp_path / "stars.csv", (0, 0))  # by which files that are not Parquet are known
    with provenn.open(tmp_path / "survey", who="ada") as opened:
        stars = opened.ingest("stars", tmp_path / "stars.csv", key="hip", population="star")
        bright = stars.select("vmag < 6 AND plx > 10", name="bright")
        near = stars.derive(dist_pc="1000 / plx").select("dist_pc < 25 OR plx IS NULL", name=ODD)
        bright.combine(near, name="both")
        yield opened


def exported(archive: provenn.Archive, format_: Any = "openlineage", which: str | None = None, **options: Any) -> str:
    text = StringIO()
    export_lineage(archive, text, which, format=format_, **options)
    return text.getvalue()


def told(archive: provenn.Archive, format_: str, tmp_path: Path) -> str:
    """Return an export without what differs from day to day."""
    text = exported(archive, format_).replace(str(tmp_path), "/data")
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", "2026-01-01T00:00:00+00:00", text)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_small_example(archive, tmp_path, format_, golden: Callable[[str, str], None]):
    golden(f"tests/golden/exchange.{format_}", told(archive, format_, tmp_path))


@pytest.mark.parametrize("format_", FORMATS)
def test_the_same_archive_gives_the_same_text(archive, format_):
    assert exported(archive, format_) == exported(archive, format_)


FACETS = {
    "schema": facet_v2.schema_dataset.SchemaDatasetFacet,
    "version": facet_v2.dataset_version_dataset.DatasetVersionDatasetFacet,
    "documentation": facet_v2.documentation_dataset.DocumentationDatasetFacet,
    "ownership": facet_v2.ownership_dataset.OwnershipDatasetFacet,
    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet,
    "lineage": lineage.LineageDatasetFacet,
    "dataSource": facet_v2.datasource_dataset.DatasourceDatasetFacet,
    "storage": facet_v2.storage_dataset.StorageDatasetFacet,
}


def rebuilt(dataset: dict[str, Any], kind: type) -> Any:
    """Make a dataset of the library's own classes, which refuse what they do not know."""
    facets = {
        name: FACETS[name](**{key: value for key, value in facet.items() if not key.startswith("_")})
        for name, facet in dataset["facets"].items()
        if not name.startswith("provenn_")
    }
    return kind(dataset["namespace"], dataset["name"], facets=facets)


def test_events_can_be_made_of_the_librarys_own_classes(archive):
    lines = exported(archive).splitlines()
    assert len(lines) == len(archive) == 5
    for line in lines:
        event = json.loads(line)
        common = {"eventTime": event["eventTime"], "producer": event["producer"]}
        if "dataset" in event:
            result = event_v2.DatasetEvent(dataset=rebuilt(event["dataset"], event_v2.StaticDataset), **common)
        else:
            result = event_v2.JobEvent(
                job=event_v2.Job(event["job"]["namespace"], event["job"]["name"]),
                inputs=[rebuilt(item, event_v2.InputDataset) for item in event["inputs"]],
                outputs=[rebuilt(output, event_v2.OutputDataset) for output in event["outputs"]],
                **common,
            )
        assert json.loads(Serde.to_json(result))["schemaURL"] == event["schemaURL"]


def test_column_lineage_tells_where_attributes_come_from_and_what_decides_on_sources(archive):
    events = [json.loads(line) for line in exported(archive, which=ODD).splitlines()]
    assert [("dataset" in event) for event in events] == [True, False, False]
    derived, selected = (event["outputs"][0]["facets"]["columnLineage"] for event in events[1:])
    (read,) = derived["fields"]["dist_pc"]["inputFields"]
    assert (read["name"], read["field"]) == ("stars", "plx")
    assert read["transformations"][0] | {"masking": False} == {
        "type": "DIRECT",
        "subtype": "TRANSFORMATION",
        "description": "1000 / plx",
        "masking": False,
    }
    assert {(entry["field"], entry["transformations"][0]["subtype"]) for entry in selected["dataset"]} == {
        ("dist_pc", "FILTER"),
        ("plx", "FILTER"),
    }


def test_a_criterion_of_comparisons_is_a_subset_that_everybody_knows(archive):
    event = next(item for item in map(json.loads, exported(archive, which="bright").splitlines()) if "job" in item)
    condition = event["inputs"][0]["inputFacets"]["subset"]["inputCondition"]
    assert condition["operator"] == "AND"
    assert {condition[side]["left"]["field"]: condition[side]["comparison"] for side in ("left", "right")} == {
        "vmag": "LESS_THAN",
        "plx": "GREATER_THAN",
    }


def test_runs_are_told(archive):
    with archive.context.database.writing() as writing:
        number = run_records.begin_run(writing, "bright", catalog=archive["bright"].digest)
        run_records.end_run(writing, number, "done", seconds=1.0, rows=7)
        run_records.begin_run(writing, "bright", catalog=archive["bright"].digest)  # one that has not ended
    event = json.loads(exported(archive, which="bright").splitlines()[-1])
    assert event["eventType"] == "COMPLETE"
    assert event["job"]["name"] == "bright"
    assert event["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 7
    event_v2.Run(event["run"]["runId"])
    assert "provenn:run-1," in exported(archive, "prov-n", "bright")
    assert "run-1" not in exported(archive, "prov-n", "stars")


@pytest.mark.parametrize("confined", [False, True])
def test_all_runs_are_exported_however_many_there_are(archive, tmp_path, monkeypatch, confined):
    with archive.context.database.writing() as writing:
        for number in range(1, 8):
            assert run_records.begin_run(writing, "bright", catalog=archive["bright"].digest) == number
            run_records.end_run(writing, number, "done", seconds=1.0, rows=number)
    monkeypatch.setattr(run_records, "_PAGE", 3)
    with provenn.open(tmp_path / "survey", who="bob", confined=confined) as opened:
        events = [json.loads(line) for line in exported(opened).splitlines()]
    rows = [
        event["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"]
        for event in events
        if event.get("eventType")
    ]
    assert rows == [1, 2, 3, 4, 5, 6, 7]


def read_back(text: str, format_: str) -> ProvDocument:
    return ProvDocument.deserialize(content=text, format=READERS[format_])


def test_the_formats_of_prov_say_the_same_and_the_library_reads_them(archive, monkeypatch):
    whole = [read_back(exported(archive, reader), reader) for reader in READERS]
    assert whole[0] == whole[1] == whole[2]
    labels = {str(record.label) for record in whole[0].get_records(ProvEntity)}
    assert {"stars", ODD, "both"} <= labels
    assert len(list(whole[0].get_records(ProvDerivation))) == 6, "five catalogs; one is made from two, one from files"
    monkeypatch.setattr(prov_records, "_RECORDS_PER_DOCUMENT", 2)
    assert [read_back(exported(archive, reader), reader) for reader in READERS] == whole, "in parts"


def test_pages_make_no_difference(archive, monkeypatch):
    whole = exported(archive)
    monkeypatch.setattr(records, "_PAGE", 2)
    assert exported(archive) == whole


def test_a_catalog_is_written_with_all_it_is_made_from_and_nothing_else(archive):
    assert len(exported(archive, which="bright").splitlines()) == 2
    assert '"namespace": "elsewhere"' in exported(archive, which="bright", namespace="elsewhere")


def test_wrong_words_are_told_before_anything_is_written(archive):
    with pytest.raises(UnknownCatalogError):
        exported(archive, which="brihgt")
    with pytest.raises(FormatError, match="not written as"):
        exported(archive, "prov-owl")


def test_a_library_that_is_missing_is_told(archive, monkeypatch):
    for module in ("provenn.exchange.prov_records", "prov", "prov.model", "prov.constants", "prov.identifier"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    monkeypatch.delitem(__import__("sys").modules, "provenn.exchange.prov_records")
    with pytest.raises(LineageError, match="without the library prov") as caught:
        exported(archive, "prov-n")
    assert "provenn[exchange]" in caught.value.hint
