"""What must be noticed of rows that are not what was written, on every database."""

import pytest
from sqlalchemy import delete, insert, text, update

from provenn.catalogs import ExcludeSources, SelectSources, SqlCalculator
from provenn.database.tables import calculators as calculator_rows
from provenn.database.tables import catalogs, dependencies, facts
from provenn.database.tables import proofs as proof_rows
from provenn.definitions import catalog_store, registered_calculators
from provenn.definitions.ancestors import read_cone
from provenn.errors import CorruptArchiveError
from provenn.knowledge import proofs
from provenn.knowledge.consequences import FactOrigin
from provenn.knowledge.declarations import declare_fact
from provenn.knowledge.stored_facts import read_closed_cone
from provenn.logic import nonempty, subset
from tests.catalogs.samples import base

STARS = base()
BRIGHT = SelectSources.of(STARS, "vmag < 6")
FAINT = ExcludeSources(STARS, BRIGHT)
NEAR = SelectSources.of(FAINT, "plx > 10")

OF_FAINT = dependencies.c.catalog == FAINT.digest
THE_ROW = catalogs.c.digest == FAINT.digest


def swap_dependencies(execute):
    for position in (0, 1):
        execute(update(dependencies).where(OF_FAINT, dependencies.c.position == position).values(position=position + 8))
    for position in (8, 9):
        execute(update(dependencies).where(OF_FAINT, dependencies.c.position == position).values(position=9 - position))


DEFINITIONS = {
    "parameters": lambda do: do(update(catalogs).where(THE_ROW).values(parameters='{"fraction":0.5}')),
    "parameters that are not JSON": lambda do: do(update(catalogs).where(THE_ROW).values(parameters='{"fraction"')),
    "parameters that are too deep": lambda do: do(update(catalogs).where(THE_ROW).values(parameters="[" * 100_000)),
    "the class": lambda do: do(update(catalogs).where(THE_ROW).values(kind="RestrictSources")),
    "a class that there is not": lambda do: do(update(catalogs).where(THE_ROW).values(kind="Nonsense")),
    "the order of the dependencies": swap_dependencies,
    "another dependency": lambda do: do(
        update(dependencies).where(OF_FAINT, dependencies.c.position == 1).values(dependency=STARS.digest)
    ),
    "one dependency less": lambda do: do(delete(dependencies).where(OF_FAINT, dependencies.c.position == 1)),
    "the first dependency less": lambda do: do(delete(dependencies).where(OF_FAINT, dependencies.c.position == 0)),
    "no dependency": lambda do: do(delete(dependencies).where(OF_FAINT)),
    "one dependency more": lambda do: do(
        insert(dependencies).values(catalog=FAINT.digest, position=2, dependency=STARS.digest)
    ),
}
"""Damage to a definition: nothing that needs it can be read."""

REST = {
    "the extent": lambda do: do(update(catalogs).where(THE_ROW).values(extent=STARS.extent.digest)),
    "notes that are not JSON": lambda do: do(update(catalogs).where(THE_ROW).values(notes="{")),
}
"""Damage to what else a row says: the catalog cannot be restored."""


class DamageContract:
    """Mix in a class that has a method `without_foreign_keys(connection)`."""

    @pytest.fixture
    def filled(self, database):
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, NEAR)
        return database

    @pytest.mark.parametrize("damage", DEFINITIONS)
    def test_a_definition_that_was_changed_is_named(self, filled, damage):
        """Also after it was read, and remembered, as it had been before."""
        with filled.reading() as reading:
            assert len(read_cone(reading, [NEAR.digest])) > 2
        with filled.writing() as writing:
            DEFINITIONS[damage](writing.connection.execute)
        with filled.reading() as reading:
            for wanted in (FAINT, NEAR):
                with pytest.raises(CorruptArchiveError, match=FAINT.digest):
                    read_cone(reading, [wanted.digest])
                with pytest.raises(CorruptArchiveError, match=FAINT.digest):
                    catalog_store.get_catalog(reading, wanted.digest)
            assert catalog_store.get_catalog(reading, BRIGHT.digest) == BRIGHT, "what does not depend on it can be read"

    @pytest.mark.parametrize("damage", REST)
    def test_a_row_that_was_changed_beside_its_definition_is_named(self, filled, damage):
        with filled.writing() as writing:
            REST[damage](writing.connection.execute)
        with filled.reading() as reading, pytest.raises(CorruptArchiveError, match=FAINT.digest):
            catalog_store.get_catalog(reading, NEAR.digest)

    def test_another_population_is_noticed(self, filled):
        other = base("galaxies", {"pgc": "bigint"}, key="pgc", population="galaxy")
        with filled.writing() as writing:
            catalog_store.add_catalogs(writing, other)
            writing.connection.execute(update(catalogs).where(THE_ROW).values(population="galaxy"))
        with filled.reading() as reading, pytest.raises(CorruptArchiveError, match=FAINT.digest):
            catalog_store.get_catalog(reading, NEAR.digest)

    def test_the_users_wording_that_went_missing_is_noticed(self, filled):
        with filled.writing() as writing:
            row = catalogs.c.digest == NEAR.digest
            writing.connection.execute(update(catalogs).where(row).values(notes="{}"))
        with filled.reading() as reading, pytest.raises(CorruptArchiveError, match=NEAR.digest):
            catalog_store.get_catalog(reading, NEAR.digest)

    def test_a_catalog_made_from_itself_is_noticed(self, filled):
        with filled.writing() as writing:
            link = dependencies.c.catalog == BRIGHT.digest
            writing.connection.execute(update(dependencies).where(link).values(dependency=NEAR.digest))
        with filled.reading() as reading:
            for wanted in (BRIGHT, FAINT, NEAR):
                with pytest.raises(CorruptArchiveError, match=r"made from themselves: .*<-") as caught:
                    read_cone(reading, [wanted.digest])
                for catalog in (BRIGHT, FAINT, NEAR):
                    assert catalog.digest[:12] in str(caught.value)

    def test_a_row_that_is_missing_is_named(self, filled):
        with self.without_foreign_keys(filled) as connection:
            connection.execute(text("DELETE FROM catalogs WHERE digest = :digest"), {"digest": BRIGHT.digest})
        with filled.reading() as reading, pytest.raises(CorruptArchiveError, match=f"{BRIGHT.digest}.*missing"):
            read_cone(reading, [NEAR.digest])

    @pytest.mark.parametrize("definition", ['{"kind":"sql","expressions":[["a","1 + 1"]]}', "{}", "{"])
    def test_a_calculator_that_was_changed_is_named(self, database, definition):
        with database.writing() as writing:
            registered_calculators.register_calculator(writing, "distance", SqlCalculator.of({"dist_pc": "1000 / plx"}))
            writing.connection.execute(update(calculator_rows).values(definition=definition))
        with database.reading() as reading, pytest.raises(CorruptArchiveError, match="distance"):
            registered_calculators.list_registered_calculators(reading)

    @pytest.mark.parametrize("change", [{"statement": "x == y"}, {"statement": "("}, {"origin": "observed"}])
    def test_a_fact_that_was_changed_is_named(self, filled, change):
        with filled.writing() as writing:
            fact = declare_fact(writing, nonempty(NEAR.digest), "seen")
            writing.connection.execute(update(facts).values(change))
        with filled.reading() as reading, pytest.raises(CorruptArchiveError, match=f"#{fact.id} was changed"):
            read_closed_cone(reading, [STARS.digest])

    @pytest.mark.parametrize("change", [{"verdict": "fails"}, {"facts": "[]"}, {"facts": "["}])
    def test_a_proof_that_was_changed_is_named(self, filled, change):
        statement = subset(NEAR.digest, STARS.digest)
        with filled.writing() as writing:
            proofs.keep_proof(
                writing, statement, "holds", [(NEAR.facts()[0], FactOrigin("definition", catalog=NEAR.digest))]
            )
            writing.connection.execute(update(proof_rows).values(change))
        with filled.reading() as reading, pytest.raises(CorruptArchiveError, match=NEAR.digest):
            proofs.recall_proof(reading, statement)
