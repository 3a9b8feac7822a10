"""The archives that are measured."""

from collections import Counter

from benchmarks.archives import make_archive, make_catalogs, name_of
from benchmarks.lineages import Operation, generate
from provenn.definitions import catalog_store
from provenn.formats.opening import open_database
from provenn.knowledge.stored_facts import find_all_facts


def test_an_archive_of_one_size_and_seed_is_always_the_same_and_has_no_catalog_twice():
    lineage = generate(400)
    catalogs = make_catalogs(lineage)
    assert len({catalog.digest for catalog in catalogs}) == 400
    assert [catalog.digest for catalog in make_catalogs(lineage)] == [catalog.digest for catalog in catalogs]
    assert [catalog.digest for catalog in make_catalogs(lineage, seed=1)] != [catalog.digest for catalog in catalogs]


def test_the_catalogs_are_made_as_the_lineage_says():
    lineage = generate(400)
    catalogs = make_catalogs(lineage)
    kinds = Counter(item.kind for item in catalogs)
    assert kinds["Base"] == 4
    assert kinds.keys() == {
        "Base",
        "SelectSources",
        "KeepAttributes",
        "DeriveAttributes",
        "CombineAttributes",
        "RestrictSources",
        "ConcatSources",
        "ExcludeSources",
    }
    for catalog, (operation, left, right) in zip(catalogs, lineage.rows(), strict=True):
        if operation == Operation.DIFFERENCE and catalog.kind == "ExcludeSources":
            assert catalog.dependencies == (catalogs[left], catalogs[right])


def test_what_was_made_is_in_the_archive(tmp_path):
    archive = make_archive(tmp_path / "archive.sqlite", 300, facts=5)
    with open_database(tmp_path / "archive.sqlite") as database, database.reading() as reading:
        assert len(catalog_store.get_catalogs(reading, archive.digests)) == 300
        assert catalog_store.resolve_catalog(reading, name_of(20)) == archive.digests[20]
        assert len(find_all_facts(reading)) == 5
