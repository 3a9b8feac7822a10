"""A server for others reads base files below listed places, as files, and nothing else."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provenn.catalogs import Base, Files
from provenn.catalogs.roots import check_roots, lies_within
from provenn.errors import BaseFilesError
from provenn.files.file_set import TABLE


@pytest.fixture
def places(tmp_path):
    """A folder that may be read, and one beside it that may not, each with a file."""
    for name in ("open", "closed", "opened"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"hip": [1, 2]}), tmp_path / name / "stars.parquet")
    return tmp_path


def base(place, **changes):
    return Base.of(replace(Files.at(place), **changes), key="hip", population="star")


def elsewhere(places, location, **changes):
    """A base catalog whose files are said to be somewhere, as an archive from somebody may say."""
    return base(places / "open" / "stars.parquet", location=str(location), **changes)


def test_files_below_a_root_are_read_and_others_are_not(places):
    roots = (str(places / "open"),)
    for location in ("open", "open/stars.parquet", "open/*.parquet"):
        check_roots([base(places / location)], roots)
    for location in ("closed", "closed/stars.parquet", "opened/stars.parquet", "*/stars.parquet", "open/../closed"):
        with pytest.raises(BaseFilesError, match="this server may not read the files"):
            check_roots([elsewhere(places, places / location)], roots)
        check_roots([elsewhere(places, places / location)], None)


@pytest.mark.parametrize(
    "location",
    [
        "/etc/passwd",
        "/",
        "file:///etc/passwd",
        "file:/etc/passwd",
        "hdfs://host/x",
        "s3://bucket/x",
        "s3a://bucket/x",
        "http://169.254.169.254/latest",
        "relative/stars.parquet",
        "",
        "~/stars.parquet",
        "C:\\stars",
        "table://x",
    ],
)
def test_every_other_place_is_refused_in_the_same_words_before_it_is_looked_at(places, location, monkeypatch):
    base = elsewhere(places, location)
    monkeypatch.setattr("provenn.files.file_set.list_files", pytest.fail)
    with pytest.raises(BaseFilesError) as caught:
        check_roots([base], (str(places / "open"),))
    assert base.digest[:12] in caught.value.message
    assert str(places) not in caught.value.message + caught.value.hint
    assert not location or location == "/" or location not in caught.value.message


def test_links_lead_nowhere_else(places):
    roots = (str(places / "open"),)
    (places / "open" / "link").symlink_to(places / "closed")
    (places / "open" / "file.parquet").symlink_to(places / "closed" / "stars.parquet")
    for location in ("open/link", "open/link/stars.parquet", "open/file.parquet", "open/*.parquet", "open"):
        with pytest.raises(BaseFilesError, match="this server may not read the files"):
            check_roots([elsewhere(places, places / location)], roots)
    (places / "way").symlink_to(places / "open")
    check_roots([elsewhere(places, places / "way" / "stars.parquet")], roots)


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_links_lead_nowhere_else_where_a_root_is_a_uri_of_this_machine(places, scheme):
    """A URI of a file is the path that it names, for a root as for a location."""
    roots = (f"{scheme}{places / 'open'}",)
    (places / "open" / "link").symlink_to(places / "closed")
    (places / "open" / "a%41.parquet").symlink_to(places / "closed" / "stars.parquet")
    (places / "open" / "inner").mkdir()
    pq.write_table(pa.table({"hip": [1, 2]}), places / "open" / "inner" / "stars.parquet")
    for location in (
        "closed",
        "open/link/stars.parquet",
        "open/a%2541.parquet",
        "open",
        "open/%6cink",
        "open/../closed",
    ):
        with pytest.raises(BaseFilesError, match="this server may not read the files"):
            check_roots([elsewhere(places, f"file://{places / location}")], roots)
    check_roots([elsewhere(places, f"file://{places / 'open' / 'inner'}")], roots)
    check_roots([elsewhere(places, places / "open" / "inner" / "stars.parquet")], roots)


def test_a_root_may_be_relative_but_a_location_may_not(places, monkeypatch):
    monkeypatch.chdir(places)
    assert lies_within(str(places / "open" / "stars.parquet"), ("open",))
    assert not lies_within("open/stars.parquet", ("open",))


def test_a_uri_with_options_lies_nowhere():
    """By an option, pyarrow would ask another server, with the credentials of this one."""
    option = "endpoint_override=127.0.0.1:9"
    for location in (f"s3://bucket/survey/x?{option}", f"s3://bucket/survey?{option}", "s3://bucket/survey/x#y"):
        for root in ("s3://bucket/survey", f"s3://bucket/survey?{option}", location):
            assert not lies_within(location, (root,)), location
    assert not lies_within("s3://key:secret@bucket/survey/x", ("s3://bucket/survey",))


def test_places_elsewhere_are_read_if_they_are_listed():
    roots = ("s3://bucket/survey", f"{TABLE}://survey.stars")
    assert lies_within("s3://bucket/survey/stars/*.parquet", roots)
    assert lies_within("table://survey.stars", roots)
    for location in (
        "s3://bucket/surveys/x",
        "s3://bucket/survey/../x",
        "s3://bucket/survey/%2e%2e/x",
        "s3a://bucket/survey/x",
        "table://survey.stars2",
        "table://parquet.`/etc`",
        "/s3://bucket/survey/x",
    ):
        assert not lies_within(location, roots), location


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "jdbc"},
        {"format": "kafka"},
        {"format": "org.example.Source"},
        {"format": "binaryFile"},
        {"format": "xml"},
        {"format": TABLE},
        {"options": (("path", "/etc/passwd"),)},
        {"options": (("url", "jdbc:postgresql://host/x"),)},
        {"options": (("fs.file.impl", "org.example.Evil"),)},
        {"options": (("rowvalidationxsdpath", "/etc/passwd"),)},
        {"options": (("basepath", "/"),)},
    ],
    ids=str,
)
def test_only_files_are_read_and_options_only_say_how(places, changes):
    with pytest.raises(BaseFilesError, match="this server may not read the files"):
        check_roots([elsewhere(places, places / "open" / "stars.parquet", **changes)], (str(places / "open"),))
