"""An archive: catalogs, their names, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self

from provenn.archive import calculators, definitions, fragments, moving, questions
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
from provenn.archive.soundness import Soundness, checked
from provenn.archive.target import Target
from provenn.archive.words import Vocabulary, as_statement, by_name, in_names, resolved
from provenn.archive.workshop import Progress, Workshop
from provenn.catalogs import Base, Calculator, Files, KeepAttributes
from provenn.catalogs import Catalog as Definition
from provenn.catalogs import cone as lineage_cone
from provenn.errors import ArchiveBusyError, NotYoursError
from provenn.logic import Knowledge, Statement
from provenn.store import (
    audit,
    bases,
    catalog_store,
    declarations,
    facts,
    names,
    populations,
    projects,
    proofs,
    search,
    settings,
    verifications,
)
from provenn.store.audit import Done
from provenn.store.calculators import Registered
from provenn.store.catalog_store import Entry
from provenn.store.checks import Progress as CheckProgress
from provenn.store.copying import Copied
from provenn.store.database import Database, Reading
from provenn.store.facts import Fact
from provenn.store.folder import DataFolder
from provenn.store.garbage import Collected, collect_garbage
from provenn.store.importing import Imported
from provenn.store.names import Change
from provenn.store.projects import Project
from provenn.store.search import Filter, Sort
from provenn.store.visibility import Visibility, check_visibility
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

    def as_seen_by(
        self, who: str, *, confined: bool = True, via: str | None = None, roots: Sequence[str] | None = None
    ) -> Archive:
        """Return this archive as a person sees it, and with that person recorded for what is written.

        Both share the database, the store and Spark; closing one closes the other.

        Parameters
        ----------
        who
            The person.
        confined
            Whether only what this person may see exists; otherwise everything is seen.
        via
            From where the archive is used, for the audit log; by default as before.
        roots
            The folders, or URIs, below which files of base catalogs are read; by default as before, or anywhere.
        """
        database = replace(self._database, who=who, viewer=who if confined else None, via=via or self._database.via)
        other = copy(self)
        other._database = database  # noqa: SLF001 - its own
        other._workshop = self._workshop.seen_by(database, None if roots is None else tuple(roots))  # noqa: SLF001
        return other

    @property
    def who(self) -> str:
        """The person recorded with what is written."""
        return self._database.who

    @property
    def confined(self) -> bool:
        """Whether only what this person may see exists."""
        return self._database.viewer is not None

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
            return populations.population_names(reading)

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

    def name(
        self,
        which: Catalog | str,
        name: str,
        *,
        move: bool = False,
        visibility: Visibility | None = None,
        project: str | None = None,
    ) -> Catalog:
        """Put a name on a catalog; one that is on another catalog now is only moved if that is meant.

        Parameters
        ----------
        which
            The catalog.
        name
            The name. All names of an archive are of one namespace: what somebody has privately is taken.
        move
            Whether it may be on another catalog now. Only its owner moves it.
        visibility
            Who sees the name, and by it the catalog and all it is made from (`revealed` says what that shows):
            ``"private"``, its owner; ``"project"``, the members of a project, too; ``"public"``, everybody. By
            default a name that exists stays as it is, and a new one is as `default_visibility` says.
        project
            The project.

        Raises
        ------
        CatalogNameError
            If the name is unfit, or taken.
        NotYoursError
            If it belongs to somebody else.
        VisibilityError, ProjectError
            If there is no such visibility, or no such project.
        """
        one = self.catalog(which)
        with self._database.writing() as writing:
            if move and names.find(writing, name) is not None:
                names.move(writing, name, one.digest)
            names.assign(writing, name, one.digest, visibility, project)
        return one

    def revealed(self, which: Catalog | str) -> tuple[str, ...]:
        """Return your private names in the lineage of a catalog.

        Who sees a name of the catalog sees how these are defined, as its lineage, though not what you call them.
        """
        one = self.catalog(which)
        with self._database.reading() as reading:
            digests = [each.digest for each in lineage_cone(one.definition)]
            return names.private_names(reading, self.who, digests)

    @property
    def default_visibility(self) -> Visibility:
        """Who sees a new name for which nobody says it: ``"public"``, everybody; or ``"private"``, its owner."""
        with self._database.reading() as reading:
            return names.default_visibility(reading)

    @default_visibility.setter
    def default_visibility(self, visibility: Literal["private", "public"]) -> None:
        self._need_everything("decides who sees new names")
        check_visibility(visibility, None)
        with self._database.writing() as writing:
            settings.change(writing, settings.VISIBILITY, visibility)
            audit.record(writing, "default visibility", visibility)

    def _need_everything(self, does: str) -> None:
        if self.confined:
            raise NotYoursError(f"only who sees the whole archive {does}", hint="ask who looks after the archive")

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

    # -- people --------------------------------------------------------------------------------------------------

    def projects(self) -> Sequence[Project]:
        """Return your projects, with their members; all there are, if you see everything."""
        with self._database.reading() as reading:
            return projects.listing(reading)

    def new_project(self, name: str) -> None:
        """Make a project, of which you are the owner and the first member."""
        with self._database.writing() as writing:
            projects.create(writing, name)

    def add_member(self, project: str, who: str) -> None:
        """Make somebody a member of a project of yours: then that person sees what the project sees."""
        with self._database.writing() as writing:
            projects.add(writing, project, who)

    def remove_member(self, project: str, who: str) -> None:
        """Make somebody a member of a project of yours no more."""
        with self._database.writing() as writing:
            projects.remove(writing, project, who)

    def audit(self, *, most: int = 100, action: str | None = None) -> Sequence[Done]:
        """Return who did what, when and from where, the latest first; only what is told so, if an action is given.

        Raises
        ------
        NotYoursError
            If you do not see everything.
        """
        self._need_everything("reads the audit log")
        with self._database.reading() as reading:
            return audit.recent(reading, most, action=action)

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

    # -- copies --------------------------------------------------------------------------------------------------

    def export_definitions(
        self, file: str | PathLike[str] | BinaryIO, which: Iterable[Catalog | str] | None = None
    ) -> dict[str, int]:
        """Write a portable file of definitions, names, facts, calculators and preferences; of no data.

        Parameters
        ----------
        file
            Where to; a file that is there is not overwritten.
        which
            Catalogs: only they and their lineage are written, with their names and the facts about them alone.

        Returns
        -------
        dict
            How many of each kind were written.
        """
        return moving.export_definitions(self._database, file, which)

    def import_definitions(self, file: str | PathLike[str] | BinaryIO, *, prefix: str = "") -> Imported:
        """Take over what a portable file holds: all of it or, if anything in it is wrong, nothing.

        Parameters
        ----------
        file
            The file. Everything in it is checked, and nothing in it is executed.
        prefix
            Put before every name in it.

        Raises
        ------
        FileError
            If the file is something else, or was changed.
        CatalogNameError
            If another catalog has one of its names here.
        ContradictionError
            If its facts contradict what is known; it carries the minimal conflict.
        """
        return moving.import_definitions(self._database, file, prefix)

    def backup(
        self,
        place: str | Path,
        *,
        data: bool = False,
        store: str | Path | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Copied:
        """Copy all metadata as they are at one moment, whatever others write meanwhile. The copy is an archive.

        Parameters
        ----------
        place
            A folder that is not there yet, or the address of a database that holds no archive, or an empty one.
        data
            Whether to copy the fragments too. Otherwise the copy has none.
        store
            Where the data of the copy go; by default into its folder.
        progress
            Called with how many rows are copied, and how many there are.

        Raises
        ------
        ArchiveError
            If something is there: nothing is overwritten.
        """
        return moving.back_up(self._database, self._workshop.folder if data else None, place, store, progress)

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

    def declare(
        self,
        said: str | Statement,
        *,
        reason: str = "",
        visibility: Visibility = "public",
        project: str | None = None,
    ) -> Fact:
        """Hold a statement about catalogs true from now on.

        Parameters
        ----------
        said
            What holds.
        reason
            Why.
        visibility
            In whose proofs it is used: ``"private"``, in yours; ``"project"``, in those of the members of a project;
            ``"public"``, in those of everybody who sees the catalogs.
        project
            The project.

        Raises
        ------
        ContradictionError
            If it contradicts what you can know. It carries the minimal conflict, and nothing is declared.
        VisibilityError, ProjectError
            If there is no such visibility, or no such project.
        """
        with self._database.writing() as writing:
            (plain,), asked = resolved(writing, [said])
            with questions.in_words(writing, asked):
                told = declarations.declare(writing, plain, reason, visibility=visibility, project=project)
            return Vocabulary.of(writing, plain.labels, asked).told(told)

    def retract(self, number: int, *, reason: str = "") -> Fact:
        """Take a fact back that you declared. Every proof that used it is forgotten; `unproved` lists what needs it."""
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
        self._need_everything("deletes what is not used")
        return collect_garbage(self._database, self._workshop.folder, limit=limit, dry_run=dry_run)

    def check(
        self, *, deep: bool = False, repair: bool = False, progress: CheckProgress | None = None
    ) -> Soundness:
        """Go through the whole archive: whether every definition, fact and fragment is what was written.

        Parameters
        ----------
        deep
            Whether to read every byte that is stored, and to go through every proof.
        repair
            Whether to mend what can be mended: what is looked up by is made anew, proofs that were changed are
            forgotten, leftovers deleted, and damaged fragments computed anew, for which Spark is started. What only
            a backup has is left alone, and told.
        progress
            Called with what is looked at, how many of it were, and how many there are.
        """
        self._need_everything("checks it")
        return checked(self, self._database, self._workshop, deep=deep, repair=repair, told=progress)

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
    if isinstance(which, str):
        return catalog_store.resolve(reading, which)
    return which.digest if reading.viewer is None else catalog_store.resolve(reading, which.digest)


def _asked(digests: Sequence[str], which: Sequence[Catalog | str]) -> dict[str, str]:
    """Return what the user calls catalogs, by digest; of two words for one catalog, the first."""
    said = [(digest, one) for digest, one in zip(digests, which, strict=True) if isinstance(one, str)]
    return dict(reversed(said))
