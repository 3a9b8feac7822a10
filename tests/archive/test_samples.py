"""Samples of rows in an archive: they make estimates good, and are seen by nobody."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from sqlalchemy import func, select

import provenn
from provenn.archive import Archive
from provenn.data import fragments
from provenn.database.tables import catalogs, samples
from provenn.definitions import stored_samples
from provenn.spark.pipeline import Pipeline

ROWS = 10_000
FLUX = np.random.default_rng(3).lognormal(0, 3, ROWS)


@pytest.fixture
def archive(tmp_path) -> Archive:
    with provenn.open(tmp_path / "survey", progress=False) as opened:
        words = ["a", *["unmistakable"] * (ROWS - 2), "z"]  # footers state the lowest and the highest
        table = pa.table({"id": range(ROWS), "flux": FLUX, "fourth": FLUX**0.25, "word": words})
        opened.ingest("stars", table, key="id", population="star")
        yield opened


def count_samples(archive: Archive) -> int:
    with archive.context.database.reading() as reading:
        return reading.connection.scalar(select(func.count()).select_from(samples))


def test_plans_estimate_from_the_sample_and_stay_between_bounds(archive):
    bright = archive["stars"].select("flux > 20 AND fourth < 3", name="bright")
    true = int(((FLUX > 20) & (FLUX**0.25 < 3)).sum())
    rows = bright.plan().rows
    assert (rows.low, rows.high) == (0, ROWS)
    assert rows.estimate == pytest.approx(true, rel=0.15)
    assert str(rows).startswith("~")


def test_the_same_archive_has_the_same_estimate(archive, tmp_path):
    bright = archive["stars"].select("flux + fourth > 20", name="bright")
    first = bright.plan().rows
    with provenn.open(tmp_path / "survey", progress=False) as again:
        assert again["bright"].plan().rows == first


def test_samples_are_in_no_definition_and_no_exported_file(archive, tmp_path):
    assert count_samples(archive) == 4
    with archive.context.database.reading() as reading:
        texts = [str(row) for row in reading.connection.execute(select(catalogs))]
    assert not any("unmistakable" in text for text in texts)
    archive.export_definitions(tmp_path / "survey.gz")
    exported = gzip.decompress((tmp_path / "survey.gz").read_bytes())
    assert b"unmistakable" not in exported
    assert b"sample" not in exported
    with provenn.open(tmp_path / "other", progress=False) as other:
        other.import_definitions(tmp_path / "survey.gz")
        assert count_samples(other) == 0
        assert other["stars"].select("flux > 20", name="bright").plan().rows.high == ROWS


def test_a_sample_belongs_to_its_catalog_and_to_its_fragment(archive):
    stars = archive["stars"]
    identities = {attribute.identity for attribute in stars.definition.schema.attributes}
    with archive.context.database.reading() as reading:
        assert stored_samples.read_samples(reading, [], [], identities) == {}
        assert stored_samples.read_samples(reading, [], [(stars.digest, 5)], identities) == {}
        assert stored_samples.read_samples(reading, [stars.digest], [], []) == {}
        ((owner, columns),) = stored_samples.read_samples(reading, [stars.digest], [], identities).items()
    assert owner == (stars.digest, 0)
    assert set(columns) == identities


def test_a_fragment_has_a_sample_until_it_is_dropped(archive):
    """A calculator's values are in no file."""
    before = count_samples(archive)
    bright = archive["stars"].select("flux > 20", name="bright")
    scored = bright.derive(score="sqrt(flux)", name="scored")
    scored.store(attributes=["score"])
    assert count_samples(archive) == before + 2  # the key and the score
    high = scored.select("score > 10", name="high")
    assert high.plan().rows.estimate == pytest.approx((FLUX > 100).sum(), rel=0.3)
    with archive.context.database.writing() as writing:
        (fragment,) = fragments.all_fragments(writing)
        fragments.drop(writing, fragment.id, "no longer needed")
    assert count_samples(archive) == before


def test_what_is_proved_small_is_not_counted_first(archive, monkeypatch):
    """A table is counted before it is collected only if nothing proves that it fits."""

    def refuse(*_: object) -> int:
        raise AssertionError("counted")

    stars = archive["stars"]
    monkeypatch.setattr(Pipeline, "count", refuse)
    few = stars.select("word IS NULL", name="few")
    assert few.plan().most == 0
    assert len(few.to_pandas(limit=1)) == 0
    half = stars.select("flux > 1", name="half").keep("flux")
    assert half.plan().most == ROWS
    assert len(half.to_pandas(limit=ROWS * 16)) == (FLUX > 1).sum()
    with pytest.raises(AssertionError, match="counted"):
        stars.select("flux > 2", name="third").keep("flux").to_pandas(limit=ROWS * 16 - 1)
