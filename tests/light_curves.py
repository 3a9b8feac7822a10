"""Objects, detections that refer to them, and a catalog of each class that follows references; nothing is computed."""

from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

import provenn

__all__ = ["define_light_curves", "ingest_detections"]


def ingest_detections(archive: provenn.Archive, folder: Path) -> tuple[provenn.Catalog, provenn.Catalog]:
    """Five objects, and ten detections: one of none of them, one without an object."""
    objects = {
        "hip": pa.array([1, 2, 3, 4, 5], pa.int64()),
        "vmag": [1.0, 5.0, 7.0, None, 3.0],
        "plx": [1.0, 20.0, 3.0, 4.0, 5.0],
    }
    detections = {
        "id": pa.array(range(10), pa.int64()),
        "objid": pa.array([1, 1, 2, 2, 3, 3, None, 9, 5, 5], pa.int64()),
        "mag": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, None],
        "mjd": [3.0, 1.0, 2.0, 2.0, 5.0, 1.0, 2.0, 7.0, 8.0, 9.0],
    }
    parquet.write_table(pa.table(objects), folder / "objects.parquet")
    parquet.write_table(pa.table(detections), folder / "detections.parquet")
    return (
        archive.ingest("objects", folder / "objects.parquet", key="hip", population="object"),
        archive.ingest("detections", folder / "detections.parquet", key="id", population="detection"),
    )


def define_light_curves(archive: provenn.Archive, folder: Path) -> dict[str, provenn.Catalog]:
    """Two base catalogs, and catalogs of all classes that follow references, by name."""
    objects, detections = ingest_detections(archive, folder)
    bright = objects.select("vmag < 6", name="bright")
    looked_up = detections.lookup(objects, on="objid", missing="drop", name="looked_up")
    curves = detections.group(
        "objid", population="object", name="curves", n="count(*)", curve="collect(mag ORDER BY mjd DESC)"
    )
    catalogs = [
        *(objects, detections, bright, looked_up, curves),
        looked_up.select("vmag < 6", name="of_bright"),
        detections.lookup(bright, on="objid", attributes=["vmag"], missing="drop", name="in_bright"),
        detections.lookup(objects, on="objid", attributes=["vmag"], missing="null", prefix="star_", name="perhaps"),
        bright.having(detections, on="objid", name="detected"),
        objects.without(detections, on="objid", name="undetected"),
        detections.first(by="objid", order="mjd DESC", n=2, name="latest"),
        curves.explode("curve", population="point", name="points"),
    ]
    return {catalog.name: catalog for catalog in catalogs}
