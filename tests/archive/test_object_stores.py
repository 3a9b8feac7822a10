"""Files in an object store: known by what the store vouches for, or by all bytes. The store is a real S3 server."""

from collections.abc import Iterator

import boto3
import pyarrow as pa
import pytest
from moto.server import ThreadedMotoServer
from pyarrow import fs, parquet

import provenn
from provenn.catalogs import Files
from provenn.catalogs.schema import Attribute
from provenn.criteria.types import parse_type
from provenn.errors import BaseFilesError, FilesChangedError, FilesMissingError
from provenn.files import hashing
from provenn.files.export_notes import FileNotes
from provenn.files.parquet_columns import VOTABLE_KEY
from provenn.spark.tables.part_headers import add_headers
from tests.archive.corrections import corrected, first_release


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def s3(server, monkeypatch):
    """A client of the store, which has an empty bucket ``sky``."""
    for name, value in {
        "AWS_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "ada",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=server)
    client.create_bucket(Bucket="sky")
    yield client
    bucket = boto3.resource("s3", endpoint_url=server).Bucket("sky")
    bucket.object_versions.delete()
    bucket.objects.delete()
    client.delete_bucket(Bucket="sky")
    client.close()


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The names of objects whose bytes were read for a digest."""
    found: list[str] = []
    plainly = hashing._hash_stream
    monkeypatch.setattr(hashing, "_hash_stream", lambda file, *rest: (found.append(file.name), plainly(file, *rest))[1])
    return found


def put(key: str, columns: dict) -> str:
    """Write a Parquet file into the bucket, and return its address."""
    filesystem, path = fs.FileSystem.from_uri(f"s3://sky/{key}")
    parquet.write_table(pa.table(columns), path, filesystem=filesystem)
    return f"s3://sky/{key}"


@pytest.mark.usefixtures("s3")
def test_objects_are_known_by_their_etags_without_being_read(archive, reads):
    for name in ("a", "b"):
        put(f"dr1/{name}.parquet", {"hip": [ord(name)]})
    stars = archive.ingest("stars", "s3://sky/dr1", key="hip", population="star")
    files = stars.definition.files
    assert (files.basis, files.caveat, files.row_count) == ("store", None, 2)
    assert "the ETag and version" in str(archive.describe("stars"))
    assert archive.ingest("again", "s3://sky/dr1", key="hip", population="star").digest == stars.digest
    assert archive.check().sound
    assert archive.relate("stars", "again").caveats == ()
    assert reads == []


@pytest.mark.usefixtures("s3")
def test_a_corrected_object_is_another_catalog_and_the_change_is_noticed(archive):
    first = first_release()
    put("stars.parquet", first)
    stars = archive.ingest("stars", "s3://sky/stars.parquet", key="hip", population="star")
    put("stars.parquet", corrected(first))
    with pytest.raises(FilesChangedError, match=r"stars\.parquet"):
        stars.definition.files.check()
    later = archive.ingest("later", "s3://sky/stars.parquet", key="hip", population="star")
    assert archive.relate(stars, later).summary == "unknown"


def test_objects_that_come_or_go_are_noticed(s3, archive):
    put("dr1/a.parquet", {"hip": [1]})
    put("dr1/b.parquet", {"hip": [2]})
    files = archive.ingest("stars", "s3://sky/dr1/", key="hip", population="star").definition.files
    s3.delete_object(Bucket="sky", Key="dr1/b.parquet")
    with pytest.raises(FilesMissingError, match=r"b\.parquet is missing"):
        files.check()
    put("dr1/c.parquet", {"hip": [3]})
    with pytest.raises(FilesChangedError, match=r"c\.parquet"):
        files.check()


def test_each_version_of_an_object_is_another_one(s3, archive):
    """Though it holds the same: what a version is made of is the store's business."""
    s3.put_bucket_versioning(Bucket="sky", VersioningConfiguration={"Status": "Enabled"})
    put("stars.parquet", {"hip": [1]})
    stars = archive.ingest("stars", "s3://sky/stars.parquet", key="hip", population="star")
    put("stars.parquet", {"hip": [1]})
    with pytest.raises(FilesChangedError):
        stars.definition.files.check()


@pytest.mark.usefixtures("s3")
def test_the_same_etag_of_another_object_shows_nothing(archive):
    first, second = put("a.parquet", {"hip": [1]}), put("b.parquet", {"hip": [1]})
    digests = {archive.ingest(one[-9:], one, key="hip", population="star").digest for one in (first, second)}
    assert len(digests) == 2
    with pytest.raises(FilesChangedError):
        archive["a.parquet"].definition.files.moved(second)


@pytest.mark.usefixtures("s3")
def test_all_bytes_are_read_if_the_user_says_so_and_copies_are_the_same_then(archive, reads, tmp_path):
    place = put("a.parquet", {"hip": [1]})
    stars = archive.ingest("stars", place, key="hip", population="star", trust="content")
    assert (stars.definition.files.basis, reads) == ("content", ["a.parquet"])
    parquet.write_table(pa.table({"hip": [1]}), tmp_path / "copy.parquet")
    filesystem, path = fs.FileSystem.from_uri(place)
    fs.copy_files(path, str(tmp_path / "copy.parquet"), source_filesystem=filesystem)
    assert archive.ingest("copy", tmp_path / "copy.parquet", key="hip", population="star").digest == stars.digest


@pytest.mark.usefixtures("s3")
def test_an_object_of_which_the_store_says_nothing_is_read(archive, reads, monkeypatch):
    place = put("a.parquet", {"hip": [1]})
    monkeypatch.setattr("provenn.files.listing._OBJECT_STORES", ())
    stars = archive.ingest("stars", place, key="hip", population="star")
    assert (stars.definition.files.basis, reads) == ("content", ["a.parquet"])


@pytest.mark.usefixtures("s3")
def test_a_lakehouse_in_an_object_store_is_refused():
    put("table/a.parquet", {"hip": [1]})
    put("table/_delta_log/0.parquet", {"x": [1]})
    for place in ("s3://sky/table", "s3://sky/table/a.parquet", "s3://sky/"):
        with pytest.raises(BaseFilesError, match="table of Delta"):
            provenn.catalogs.Files.at(place, format="parquet")


@pytest.mark.usefixtures("s3")
def test_rows_without_a_key_are_known_by_the_object(archive):
    place = put("a.parquet", {"x": [1, 1]})
    assert archive.ingest("rows", place, key=None, population="row").definition.key == ("provenn_file", "provenn_row")


def test_parts_in_a_store_get_the_header_of_voparquet(s3):
    """A store appends nothing to an object: parts are copied, with the rows and row groups that they have."""
    attributes = [
        Attribute("hip", "x:hip", parse_type("bigint"), nullable=True),
        Attribute("plx", "x:plx", parse_type("double"), nullable=True, unit="mas", ucd="pos.parallax", description="π"),
    ]
    names = [f"part-{number}.parquet" for number in range(3)]
    for number, name in enumerate(names):
        put(f"out/{name}", {"hip": [number, number + 1], "plx": [0.5, None]})
    filesystem, folder = fs.FileSystem.from_uri("s3://sky/out")
    add_headers(filesystem, folder, names, attributes, FileNotes())
    stored = {content["Key"] for content in s3.list_objects_v2(Bucket="sky")["Contents"]} - {"out/"}  # a mark of Arrow
    assert stored == {*(f"out/{name}" for name in names), "out/_common_metadata"}
    for number, name in enumerate(names):
        table = parquet.read_table(f"{folder}/{name}", filesystem=filesystem)
        assert table.to_pydict() == {"hip": [number, number + 1], "plx": [0.5, None]}
        assert VOTABLE_KEY.encode() in parquet.read_metadata(f"{folder}/{name}", filesystem=filesystem).metadata
    (column,) = (column for column in Files.at("s3://sky/out/*.parquet").columns if column.name == "plx")
    assert (column.unit, column.ucd, column.description) == ("mas", "pos.parallax", "π")
