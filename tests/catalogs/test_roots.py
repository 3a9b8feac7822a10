"""A server for others reads base files below listed places, as files, and nothing else."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provenn.catalogs import Base, Files
from provenn.catalogs.files import TABLE
from provenn.catalogs.roots import check_roots, within
from provenn.errors import BaseFilesError


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
        with pytest.raises(BaseFilesError, match="not among those"):
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
    monkeypatch.setattr("provenn.catalogs.roots.listed", pytest.fail)
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
        with pytest.raises(BaseFilesError, match="not among those"):
            check_roots([elsewhere(places, places / location)], roots)
    (places / "way").symlink_to(places / "open")
    check_roots([elsewhere(places, places / "way" / "stars.parquet")], roots)


def test_places_elsewhere_are_read_if_they_are_listed():
    roots = ("s3://bucket/survey", f"{TABLE}://survey.stars")
    assert within("s3://bucket/survey/stars/*.parquet", roots)
    assert within("table://survey.stars", roots)
    for location in (
        "s3://bucket/surveys/x",
        "s3://bucket/survey/../x",
        "s3://bucket/survey/%2e%2e/x",
        "s3a://bucket/survey/x",
        "table://survey.stars2",
        "table://parquet.`/etc`",
        "/s3://bucket/survey/x",
    ):
        assert not within(location, roots), location


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
    with pytest.raises(BaseFilesError, match="not among those"):
        check_roots([elsewhere(places, places / "open" / "stars.parquet", **changes)], (str(places / "open"),))
