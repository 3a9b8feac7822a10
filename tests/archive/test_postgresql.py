"""The same archive in PostgreSQL, from Python and from the command line."""

import pytest

import provenn
from provenn.archive import knowledge_cache
from provenn.errors import ContradictionError
from tests.archive.samples import write_parquet
from tests.cli.archive_session import Session
from tests.postgres import new_schema


def test_an_archive_in_postgresql(postgres, tmp_path):
    """Everything that the facade does with a database, once."""
    address = new_schema(postgres)
    with provenn.open(database=address, who="ada") as archive:
        stars = archive.ingest("stars", write_parquet(tmp_path / "s.parquet"), key="hip", population="star")
        bright = stars.select("vmag < 6", name="bright")
        near = stars.derive(dist_pc="1000 / plx", name="near")
        both = bright.combine(near, name="both")
        assert archive.relate("bright", "both").summary == "equal"
        fact = archive.declare("nonempty(both)", reason="seen")
        assert archive.prove("nonempty(stars)")
        with pytest.raises(ContradictionError):
            archive.declare("empty(bright)")
        archive.retract(fact.id)
        assert not archive.prove("nonempty(stars)")
        assert archive.same_sources("bright", by_construction=True) == [both]
        assert archive.same_sources("bright") == [both]
        around = archive.neighbourhood("bright", most=3)
        assert [node.name for node in around.picture.nodes] == ["bright", "stars", "both"]
        assert around.picture.nodes[1].below == 1
        newer = write_parquet(tmp_path / "n.parquet", extra=[1] * 6)
        archive.ingest("stars", newer, key="hip", population="star", rebuild=True)
        assert len(archive.log("both")) == 2
        assert archive.search("VMAG", named=True)[0].created_by == "ada"
    session = Session(address)
    assert session("relate bright both") == "equal: bright has the same sources as both\n"
    assert "extra" in session("show both")
    assert session("prove 'bright == both'").startswith("proved")


def test_the_index_of_a_population_and_a_batch_in_postgresql(postgres, tmp_path, monkeypatch):
    """The index is stored in the data folder, used by the next process, and grows; private names stay hidden."""
    monkeypatch.setattr(knowledge_cache, "_LEAST_INDEXED", 0)
    monkeypatch.setattr(knowledge_cache, "_LEAST_STORED", 0)
    address = new_schema(postgres)
    with provenn.open(database=address, store=tmp_path / "store", who="ada") as archive:
        archive.ingest("stars", write_parquet(tmp_path / "s.parquet"), key="hip", population="star")
        with archive.batch() as batch:
            batch["stars"].select("vmag < 6", name="bright").select("vmag < 4", name="brighter")
        assert [catalog.name for catalog in archive.inside("stars")] == ["bright", "brighter"]
    assert len(list((tmp_path / "store" / "indices").iterdir())) == 1
    with provenn.open(database=address, who="ada") as archive:
        archive.name(archive["bright"].select("plx > 3"), "hidden", visibility="private")
        assert [catalog.name for catalog in archive.inside("bright")] == ["brighter", "hidden"]
        assert [catalog.name for catalog in archive.as_seen_by("ben").inside("bright")] == ["brighter"]
        (index,) = archive.context.knowledge._indices.values()
        assert index.is_usable
        assert index.state.catalogs == 4
