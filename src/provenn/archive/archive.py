"""An archive: catalogs, their names, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from provenn.archive import calculators, definitions, fragments, questions
from provenn.archive.comparison import Comparison
from provenn.archive.description import Description, described
from provenn.archive.everything import Everything
from provenn.archive.handle import Catalog
from provenn.archive.lineage import Lineage, lineage_of
from provenn.archive.neighbourhood import Direction, Neighbourhood, neighbourhood_of
from provenn.archive.plans import in_names as plan_in_names
from provenn.archive.proof import Proof
from provenn.archive.provenance import Provenance, provenance_of
from provenn.archive.relation import Relation, Summary
from provenn.archive.runs import Ran
from provenn.archive.runs import told as runs_told
from provenn.archive.target import Target
from provenn.archive.words import Vocabulary, as_statement, by_name, in_names, resolved
from provenn.archive.workshop import Progress, Workshop
from provenn.catalogs import Base, Calculator, Files, KeepAttributes
from provenn.catalogs import Catalog as Definition
from provenn.errors import ArchiveBusyError
from provenn.logic import Knowledge, Statement
from provenn.store import bases, catalog_store, declarations, facts, names, populations, proofs, search, verifications
from provenn.store.calculators import Registered
from provenn.store.catalog_store import Entry
from provenn.store.database import Database, Reading
from provenn.store.facts import Fact
from provenn.store.folder import DataFolder
from provenn.store.garbage import Collected, collect_garbage
from provenn.store.names import Change
from provenn.store.search import Filter, Sort
from provenn.targets.plan import Plan
from provenn.targets.planning import Missing, plan_catalog
from provenn.targets.running import Keep

__all__ = ["Archive"]


class Archive:
    """Catalogs, their names, and what is known of them. Made by `provenn.open`.

    Catalogs are defined, found and compared without reading a row and without starting Spark. Wherever a catalog is
    expected, its name will do, or the beginning of its digest.
    """

    def __init__(
        self,
        database: Database,
        folder: DataFolder | None = None,
        *,
        spark: object | None = None,
        progress: Progress = None,
    ) -> None:
        self._database = database
        self._everything = Everything()
        self._workshop = Workshop(database, folder, spark, progress)

    def watched(self, progress: Progress) -> Archive:
        """Return this archive, with somebody else who is told of the progress of long work.

        Both share the database, the store and Spark; closing one closes the other.

        Parameters
        ----------
        progress
            As for `provenn.open`. A function that raises `KeyboardInterrupt` cancels what is running.
        """
        other = copy(self)
        other._workshop = self._workshop.watched(progress)  # noqa: SLF001 - its own
        return other

    def close(self) -> None:
        """Let go of the database, and of Spark if it was started for this archive."""
        self._workshop.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def place(self) -> str:
        """Where its database is."""
        return self._database.place

    def __len__(self) -> int:
        """How many catalogs there are, named or not."""
        with self._database.reading() as reading:
            return catalog_store.count(reading)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Archive {self.place}>"

    def _repr_html_(self) -> str | None:
        from provenn.archive import cards  # noqa: PLC0415 - few archives are looked at

        return cards.html(cards.archive_card, self)

    # -- catalogs ------------------------------------------------------------------------------------------------

    def ingest(
        self,
        name: str,
        path: str | Path,
        *,
        key: str | Sequence[str],
        population: str,
        format: str | None = None,  # noqa: A002 - Spark's word for it
        schema: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        rebuild: bool | None = None,
        verify: bool = False,
    ) -> Catalog:
        """Define a catalog on files. Only their metadata are read.

        Parameters
        ----------
        name
            A name for it.
        path
            A file, a folder, or a pattern such as ``survey/*.parquet``; or, with ``format="table"``, the name of a
            table of Spark's catalog, for which Spark is started.
        key
            The columns that identify a source.
        population
            What one row is: star, galaxy, visit.
        format
            Spark's name of the format, if the names of the files do not tell.
        schema
            The type of each column, where the files do not say.
        options
            Spark's options to read the files.
        rebuild
            What to do if the name is on an earlier version of the files: True moves it here and defines anew, on
            these files, every named catalog that is made from the earlier version; False moves this name alone. By
            default that is an error which says what would be rebuilt.
        verify
            Whether to read all keys now and make sure that none is NULL or occurs twice. Otherwise that is done when
            data are first computed from them.
        """
        if format == "table":
            files = self._workshop.table(str(path))
        else:
            files = Files.at(path, format=format, schema=schema, options=options)
        with self._database.reading() as reading:
            known = populations.population(reading, population)
        base = Base.of(files, key=key, population=known or population)
        rows = self._workshop.key_rows(base) if verify else None
        with self._database.writing() as writing:
            earlier = names.find(writing, name)
            if earlier is not None and earlier != base.digest:
                definitions.replace_base(writing, name, earlier, base, rebuild=rebuild)
            else:
                if not catalog_store.add(writing, base):
                    bases.seen_again(writing, base)
                names.assign(writing, name, base.digest)
            if rows is not None:
                verifications.record(writing, base.digest, rows)
        return Catalog(self, base)

    def define(self, definition: Definition, name: str | None = None) -> Catalog:
        """Add a definition, and put a new name on it. One that is there already is the same catalog."""
        with self._database.writing() as writing:
            catalog_store.add(writing, definition)
            if name is not None:
                names.assign(writing, name, definition.digest)
        return Catalog(self, definition)

    def concatenate(
        self, members: Sequence[Catalog | str], *, order: definitions.Order | None = None, name: str | None = None
    ) -> Catalog:
        """Bring together the sources of several catalogs; `Catalog.concat` says how."""
        parts = [self.catalog(one).definition for one in members]
        with self._database.reading() as reading:
            made = definitions.concatenated(reading, parts, order)
        return self.define(made, name)

    def catalog(self, which: Catalog | str) -> Catalog:
        """Return a catalog: itself, or by name, or by the beginning of its digest."""
        return which if isinstance(which, Catalog) else self.catalogs([which])[0]

    def catalogs(self, which: Iterable[str]) -> list[Catalog]:
        """Return several catalogs at once, by name or by the beginning of the digest."""
        with self._database.reading() as reading:
            digests = [catalog_store.resolve(reading, one) for one in which]
            found = catalog_store.get_all(reading, digests) if digests else {}
        return [Catalog(self, found[digest]) for digest in digests]

    def describe(self, which: Catalog | str) -> Description:
        """Return all there is to say of a catalog, in plain words."""
        one = self.catalog(which)
        with self._database.reading() as reading:
            return described(reading, one.definition, {one.digest: which} if isinstance(which, str) else {})

    def lineage(self, which: Catalog | str) -> Lineage:
        """Return a catalog and all it is made from: a tree, as text."""
        one = self.catalog(which)
        with self._database.reading() as reading:
            return lineage_of(reading, one.definition, {one.digest: which} if isinstance(which, str) else {})

    def provenance(self, which: Catalog | str) -> Provenance:
        """Return where a catalog comes from: files, calculators, and the facts about its lineage."""
        one = self.catalog(which)
        with self._database.reading() as reading:
            return provenance_of(reading, one.definition, {one.digest: which} if isinstance(which, str) else {})

    def neighbourhood(
        self, which: Catalog | str, *, depth: int = 2, direction: Direction = "both", most: int = 60
    ) -> Neighbourhood:
        """Return the catalogs around a catalog, as a picture: quick in an archive of any size.

        Parameters
        ----------
        which
            The catalog.
        depth
            How many steps to go.
        direction
            ``"up"`` to what it is made from, ``"down"`` to what is made from it, or ``"both"``.
        most
            How many catalogs to show; the nearest are, and it is told how many are not.

        Raises
        ------
        PictureError
            If there is no such depth, direction or number.
        """
        with self._database.reading() as reading:
            digest = _digest(reading, which)
            asked = {digest: which} if isinstance(which, str) and not digest.startswith(which) else {}
            return neighbourhood_of(reading, digest, asked, depth=depth, direction=direction, most=most)

    def search(
        self,
        text: str = "",
        *,
        kind: str | None = None,
        population: str | None = None,
        attribute: str | None = None,
        owner: str | None = None,
        named: bool = False,
        sort: Sort = "newest",
        start: int = 0,
        most: int = 1000,
    ) -> Sequence[Entry]:
        """Return catalogs, by what they are called, how they are defined, what they have, and who defined them.

        Parameters
        ----------
        text
            What occurs in a name, or in the definition as it was written, in upper or lower case; or the beginning
            of the digest, at least four digits.
        kind, population, owner
            Only catalogs of this class; of this population; defined first by this person.
        attribute
            Only catalogs that have an attribute of this name, or whose name begins so, in upper or lower case.
        named
            Only catalogs that have a name.
        sort
            ``"newest"`` first; ``"oldest"`` first; or by ``"name"``: those without one come last.
        start, most
            How many to leave out, and how many to return.
        """
        which = Filter(text, kind, population, attribute, owner, named)
        with self._database.reading() as reading:
            return search.search(reading, which, sort=sort, start=start, most=most)

    def matches(
        self,
        text: str = "",
        *,
        kind: str | None = None,
        population: str | None = None,
        attribute: str | None = None,
        owner: str | None = None,
        named: bool = False,
    ) -> int:
        """Return how many catalogs `search` finds, on all pages together; the parameters are the same."""
        with self._database.reading() as reading:
            return search.matches(reading, Filter(text, kind, population, attribute, owner, named))

    def populations(self) -> tuple[str, ...]:
        """Return what a row can be, sorted."""
        with self._database.reading() as reading:
            return search.population_names(reading)

    def owners(self) -> tuple[str, ...]:
        """Return who defined catalogs, sorted."""
        with self._database.reading() as reading:
            return search.owners(reading)

    def __getitem__(self, name: str) -> Catalog:
        return self.catalog(name)

    def __contains__(self, name: object) -> bool:
        with self._database.reading() as reading:
            return isinstance(name, str) and names.find(reading, name) is not None

    def __iter__(self) -> Iterator[str]:
        """Yield the names, sorted."""
        with self._database.reading() as reading:
            return iter([one.name for one in names.listing(reading)])

    # -- names ---------------------------------------------------------------------------------------------------

    def name(self, which: Catalog | str, name: str, *, move: bool = False) -> Catalog:
        """Put a name on a catalog; one that is on another catalog now is only moved if that is meant."""
        one = self.catalog(which)
        with self._database.writing() as writing:
            put = names.move if move and names.find(writing, name) is not None else names.assign
            put(writing, name, one.digest)
        return one

    def names_of(self, which: Catalog | str) -> tuple[str, ...]:
        """Return the names of a catalog, sorted."""
        with self._database.reading() as reading:
            digest = _digest(reading, which)
            return names.names_of(reading, [digest]).get(digest, ())

    def delete_name(self, name: str) -> None:
        """Delete a name. The catalog stays, and so does the history of the name."""
        with self._database.writing() as writing:
            names.remove(writing, name)

    def log(self, name: str) -> Sequence[Change]:
        """Return what happened to a name, the latest first."""
        with self._database.reading() as reading:
            return names.log(reading, name)

    # -- calculators ---------------------------------------------------------------------------------------------

    def calculator(
        self,
        name: str,
        function: Callable[..., object] | None = None,
        *,
        sql: Mapping[str, str] | None = None,
        inputs: Sequence[str] = (),
        outputs: Mapping[str, str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        kind: Literal["pandas", "arrow"] = "pandas",
        scope: Literal["row", "catalog"] = "row",
        version: str = "",
    ) -> Calculator:
        """Register a calculator: SQL expressions, or a Python function over batches.

        Parameters
        ----------
        name
            A name for it.
        function
            A function of a module that can be imported; it takes a batch with the inputs and returns one with the
            outputs.
        sql
            Instead of a function: an expression for each output.
        inputs
            The attributes it reads.
        outputs
            The attributes it provides, with their types.
        parameters
            Handed to the function by keyword; part of its identity.
        kind
            Whether batches are pandas DataFrames or Arrow tables.
        scope
            ``"row"`` if the result for a source depends on its inputs alone, ``"catalog"`` if on all sources.
        version
            Part of its identity, besides the code.
        """
        options = {"parameters": parameters, "kind": kind, "scope": scope, "version": version}
        made = calculators.made(name, function, sql, inputs=inputs, outputs=outputs or {}, **options)
        with self._database.writing() as writing:
            calculators.register(writing, name, made)
        return made

    def find_calculator(self, name: str) -> Calculator:
        """Return the calculator that was registered last under a name, or else one that provides such an attribute.

        Raises
        ------
        CalculatorError
            If there is none; or if several provide the attribute and none is preferred: it lists them.
        """
        with self._database.reading() as reading:
            return calculators.find(reading, name)

    def calculators(self) -> Sequence[Registered]:
        """Return the calculators, by name; of several that have one name, the one registered last."""
        with self._database.reading() as reading:
            return [one for _, one in sorted(calculators.latest(reading).items())]

    def attributes(self, population: str) -> list[str]:
        """Return the names of what a target may ask for: attributes of a population, and what calculators provide."""
        with self._database.reading() as reading:
            return calculators.attribute_names(reading, population)

    def prefer(self, attribute: str, calculator: Calculator | Catalog | str) -> None:
        """Record what the name of an attribute means: what a calculator provides, or else what a catalog has."""
        chosen = calculator.definition if isinstance(calculator, Catalog) else calculator
        with self._database.writing() as writing:
            calculators.prefer(writing, attribute, chosen)

    # -- what is known -------------------------------------------------------------------------------------------

    def relate(self, left: Catalog | str, right: Catalog | str) -> Relation:
        """Return how two catalogs relate, proved from their lineage and what was declared."""
        with self._database.reading() as reading:
            digests = _digest(reading, left), _digest(reading, right)
            relation, found = questions.relate(reading, *digests, _asked(digests, (left, right)))
        self._keep(found)
        return relation

    def compare(self, *which: Catalog | str) -> Comparison:
        """Return what is known of two or three catalogs together: what is possible, each region, each pair, and why.

        Raises
        ------
        ComparisonError
            If they are fewer, or more.
        PopulationError
            If they are of different populations.
        """
        with self._database.reading() as reading:
            digests = [_digest(reading, one) for one in which]
            comparison, found = questions.compare(reading, digests, _asked(digests, which))
        self._keep(found)
        return comparison

    def relations(self, which: Catalog | str, others: Iterable[Catalog | str]) -> Sequence[tuple[Catalog, Summary]]:
        """Return how a catalog relates to each of several others, as `relate` sums it up, without the reasons."""
        asked = (which, *others)
        with self._database.reading() as reading:
            digests = [_digest(reading, one) for one in asked]
            found = questions.summaries(reading, digests[0], digests[1:], _asked(digests, asked))
        return [(Catalog(self, digest), found[digest]) for digest in digests[1:]]

    def prove(
        self, question: str | Statement, *, given: Collection[str | Statement] = (), budget: float | None = None
    ) -> Proof:
        """Return whether a statement about catalogs holds; names in it are those of catalogs.

        Parameters
        ----------
        question
            The statement.
        given
            Facts to hold true besides, for this question only.
        budget
            Seconds after which to stop looking for a proof; then it is unknown.
        """
        with self._database.reading() as reading:
            (said, *supposed), asked = resolved(reading, [question, *given])
            proof, found = questions.judge(reading, said, asked, supposed, budget)
        self._keep(found)
        return replace(proof, statement=as_statement(question))

    def _keep(self, found: Collection[questions.Found]) -> None:
        """Keep what was proved, where that is possible: the answer is as good without."""
        if found and not self._database.read_only:
            with suppress(ArchiveBusyError), self._database.writing() as writing:
                for one in found:
                    proofs.keep(writing, one.said, one.verdict, one.because)

    def declare(self, said: str | Statement, *, reason: str = "") -> Fact:
        """Hold a statement about catalogs true from now on.

        Raises
        ------
        ContradictionError
            If it contradicts what is known. It carries the minimal conflict, and nothing is declared.
        """
        with self._database.writing() as writing:
            (plain,), asked = resolved(writing, [said])
            with questions.in_words(writing, asked):
                told = declarations.declare(writing, plain, reason)
            return Vocabulary.of(writing, plain.labels, asked).told(told)

    def retract(self, number: int, *, reason: str = "") -> Fact:
        """Take a declared fact back. Every proof that used it is forgotten; `unproved` lists what was built on it."""
        with self._database.writing() as writing:
            return in_names(writing, [declarations.retract(writing, number, reason)])[0]

    def facts(self, which: Catalog | str | None = None, *, retracted: bool = False) -> Sequence[Fact]:
        """Return the facts declared or observed about a catalog, or all there are, with names in their statements."""
        with self._database.reading() as reading:
            if which is None:
                return in_names(reading, facts.all_facts(reading, retracted=retracted))
            return in_names(reading, facts.facts_about(reading, _digest(reading, which), retracted=retracted))

    def unproved(self) -> list[Catalog]:
        """Return the concatenations that need their members to be disjoint, if that is not known any more."""
        with self._database.reading() as reading:
            digests = [one.digest for one in search.search(reading, Filter(kind="ConcatSources"))]
            made = catalog_store.get_all(reading, digests) if digests else {}
            return [Catalog(self, one) for one in definitions.disjointly_concatenated(reading, made.values())]

    # -- data ----------------------------------------------------------------------------------------------------

    def target(
        self,
        sources: Catalog | str,
        attributes: Sequence[str],
        *,
        where: str | None = None,
        missing: Missing = "error",
        keep: Keep = "worthwhile",
    ) -> Target:
        """Ask for attributes of sources: who provides them is found, what nobody has is created, little is computed.

        Parameters
        ----------
        sources
            The catalog whose sources are meant.
        attributes
            The names of the attributes; the key comes with them.
        where
            A criterion in SQL, on any attributes, that the sources fulfil.
        missing
            What becomes of sources that are not proved to have an attribute: ``"error"``; ``"null"``, they have no
            value of it; ``"drop"``, they are left out.
        keep
            Which results are kept for the next who asks: ``"worthwhile"``, if a calculator in Python was called;
            ``"always"``; ``"never"``.
        """
        return Target.of(self, sources, attributes, where=where, missing=missing, keep=keep)

    def _plan_catalog(self, one: Catalog) -> Plan:
        return plan_in_names(self._plan(one.definition, one.name), self._database, one._keep, {})  # noqa: SLF001

    def _count(self, one: Catalog) -> int:
        return self._workshop.count(lambda: self._plan(KeepAttributes.of(one.definition, ()), one.name))

    def _plan(self, definition: Definition, what: str) -> Plan:
        with self._database.reading() as reading:
            return plan_catalog(reading, definition, what)

    def store(self, which: Catalog | str, *, attributes: Sequence[str] | None = None) -> fragments.Stored:
        """Compute attributes of a catalog's sources, by default all, and keep them. What is kept is not computed."""
        one = self.catalog(which)
        plan = partial(self._plan, what=one.name)
        return fragments.store(self._workshop.pipeline(), one.definition, plan, attributes)

    def fragments(self, which: Catalog | str | None = None, *, dropped: bool = False) -> Sequence[fragments.Stored]:
        """Return what is stored for the sources of a catalog, or all; also what is not used any more, if asked for."""
        extent = None if which is None else self.catalog(which).definition.extent.digest
        with self._database.reading() as reading:
            return fragments.listed(reading, extent, dropped=dropped)

    def runs(self, which: Catalog | str | None = None, *, most: int = 100) -> Sequence[Ran]:
        """Return what was run, the latest first: all, or for one catalog; what it took, what it reused and saved."""
        with self._database.reading() as reading:
            return runs_told(reading, None if which is None else _digest(reading, which), most)

    def collect_garbage(self, *, limit: int | None = None, dry_run: bool = False) -> Collected:
        """Delete data that nothing refers to and, above a limit in bytes, fragments: the least useful first."""
        return collect_garbage(self._database, self._workshop.folder, limit=limit, dry_run=dry_run)

    # -- looking up ----------------------------------------------------------------------------------------------

    def same_sources(self, which: Catalog | str, *, by_construction: bool = False) -> list[Catalog]:
        """Return the other catalogs that are proved to have the same sources.

        Parameters
        ----------
        which
            The catalog.
        by_construction
            Only those of which it is seen without a proof: quick in an archive of any size.
        """
        if not by_construction:
            return self._found(which, Knowledge.equal_to)
        with self._database.reading() as reading:
            found = by_name(reading, catalog_store.same_extent(reading, _digest(reading, which)))
        return [Catalog(self, digest) for digest in found]

    def covering(self, which: Catalog | str) -> list[Catalog]:
        """Return the other catalogs that are proved to have all its sources."""
        return self._found(which, Knowledge.supersets_of)

    def inside(self, which: Catalog | str) -> list[Catalog]:
        """Return the other catalogs all of whose sources it is proved to have."""
        return self._found(which, Knowledge.subsets_of)

    def apart_from(self, which: Catalog | str) -> list[Catalog]:
        """Return the other catalogs that are proved to share no source with it."""
        return self._found(which, Knowledge.disjoint_from)

    def _found(self, which: Catalog | str, relation: Callable[[Knowledge, str], list[str]]) -> list[Catalog]:
        with self._database.reading() as reading:
            found = by_name(reading, questions.look_up(reading, self._everything, _digest(reading, which), relation))
        return [Catalog(self, digest) for digest in found]


def _digest(reading: Reading, which: Catalog | str) -> str:
    return which.digest if isinstance(which, Catalog) else catalog_store.resolve(reading, which)


def _asked(digests: Sequence[str], which: Sequence[Catalog | str]) -> dict[str, str]:
    """Return what the user calls catalogs, by digest; of two words for one catalog, the first."""
    said = [(digest, one) for digest, one in zip(digests, which, strict=True) if isinstance(one, str)]
    return dict(reversed(said))
