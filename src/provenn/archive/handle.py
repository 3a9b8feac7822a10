"""The handle of a catalog in an archive. Every verb defines a new catalog; only data methods compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from provenn.archive.calculator_choice import find_calculator
from provenn.archive.cards import describe_stored, render_card
from provenn.archive.catalog_computing import count_sources, plan_attributes, store_catalog
from provenn.archive.column_arguments import collect_derived_columns, collect_renamed_columns
from provenn.archive.concatenations import Order, concatenate_catalogs
from provenn.archive.context import Context, HasContext
from provenn.archive.description import Description, describe_catalog, make_description_card
from provenn.archive.export_records import choose_followed_name
from provenn.archive.name_changes import name_catalog
from provenn.archive.neighbourhood import find_neighbourhood
from provenn.archive.new_catalogs import define_or_wait
from provenn.archive.notices import Notice
from provenn.archive.path_criteria import find_paths, select_by_paths
from provenn.archive.pictured import Pictured
from provenn.archive.references import choose_name, describe_subject, find_definitions, find_digest, find_names
from provenn.archive.stored_fragments import Stored, list_stored_fragments
from provenn.archive.wrong_calls import explain_wrong_calls
from provenn.catalogs import (
    Calculator,
    PythonCalculator,
    Schema,
    SqlCalculator,
    verbs,
)
from provenn.catalogs import Catalog as Definition
from provenn.catalogs.calculators import SqlText
from provenn.catalogs.calculators.allowed import allow_handed_over
from provenn.catalogs.population import ONE_POPULATION, make_plural
from provenn.catalogs.stated_placements import state_placements
from provenn.data.followed_exports import ExportRequest
from provenn.definitions import populations
from provenn.digests import CatalogDigest
from provenn.display.catalog_card import Card
from provenn.errors import ArgumentsError, CalculatorError, DefinitionError, PopulationError, ProvennError
from provenn.sky import Region, criterion_on
from provenn.words.vocabulary import SHORT

if TYPE_CHECKING:
    from provenn.archive.workshop import Workshop
    from provenn.people.visibility import Visibility
    from provenn.targets.engine_choice import EngineChoice
    from provenn.targets.keeping import Keep
    from provenn.words.described_plan import DescribedPlan

__all__ = ["Catalog"]

_NEIGHBOURS_SHOWN = 12
"""The largest number of catalogs in the picture of a card."""


@explain_wrong_calls
class Catalog(Pictured):
    """A catalog of an archive.

    `Archive.ingest` and the verbs of other catalogs make catalogs, and ``archive[name]`` finds them. Two catalogs are
    equal if they have the same definition.
    """

    __slots__ = ("_definition", "_label", "archive", "digest")

    archive: Any
    """The archive of the catalog: an `Archive`, whose module lies above this module and cannot be named here."""
    digest: CatalogDigest
    """The identity of the catalog: the digest of its definition."""

    def __init__(self, archive: HasContext, which: Definition | CatalogDigest, *, label: str = "") -> None:
        # Messages call a catalog without a name by the label. A digest suffices: searches return many catalogs, and few
        # of their definitions are needed.
        self.archive = archive
        self.digest = which if isinstance(which, str) else which.digest
        self._definition = None if isinstance(which, str) else which
        self._label = label

    @property
    def _context(self) -> Context:
        """The context of the archive."""
        context: Context = self.archive.context
        return context

    if not TYPE_CHECKING:  # for a type checker, a catalog has no further members

        def __getattr__(self, name: str) -> NoReturn:
            """Say what to write instead of a member that a catalog does not have."""
            if name.startswith("_"):
                raise AttributeError(name)
            from provenn.archive.habits import explain_missing_member  # noqa: PLC0415 - only where there is an error

            raise AttributeError(explain_missing_member(name, dir(type(self)), self.attributes))

        def __getitem__(self, item: object) -> NoReturn:
            """Say what to write instead of an index: a catalog holds no data."""
            from provenn.archive.habits import explain_missing_item  # noqa: PLC0415 - only where there is an error

            raise ArgumentsError("a catalog has no items", hint=explain_missing_item(item, self.attributes))

        __iter__ = None  # a class with items could be iterated over otherwise

    # -- properties ----------------------------------------------------------------------------------------------

    @property
    def definition(self) -> Definition:
        """The definition of the catalog."""
        if self._definition is None:
            (self._definition,) = self._context.read(find_definitions, [self.digest])
        return self._definition

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the catalog, sorted."""
        return self._context.read(find_names, self)

    @property
    def name(self) -> str:
        """The first name of the catalog, or the beginning of its digest."""
        return self._context.read(choose_name, self)

    @property
    def population(self) -> str:
        """The kind of object in a row."""
        return self.definition.population.name

    @property
    def schema(self) -> Schema:
        """The attributes of the catalog."""
        return self.definition.schema

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes, in the order of the columns."""
        return self.schema.names

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The catalogs from which this catalog is made."""
        return tuple(Catalog(self.archive, dependency) for dependency in self.definition.dependencies)

    # -- verbs ---------------------------------------------------------------------------------------------------

    def select(self, criterion: str | Region, *, name: str | None = None) -> Catalog:
        """Keep the sources that fulfil a criterion in SQL, or that lie in a region of `provenn.sky`.

        A criterion may read attributes of partners through a reference: ``objid.vmag < 6``.
        """
        text = criterion if isinstance(criterion, str) else criterion_on(criterion, self.definition.schema)
        paths = find_paths(self.definition, text)
        if not paths:
            return self._define(verbs.select(self.definition, text), name)
        return self._define(self._context.read(select_by_paths, self.definition, text, paths, self.name), name)

    def restrict(self, other: Catalog | str, *, name: str | None = None) -> Catalog:
        """Keep the sources that also occur in another catalog."""
        return self._define(verbs.restrict(self.definition, *self._find_peers("restrict", other)), name)

    def exclude(self, other: Catalog | str, *, name: str | None = None) -> Catalog:
        """Keep the sources that do not occur in another catalog."""
        return self._define(verbs.exclude(self.definition, *self._find_peers("exclude", other)), name)

    def sample(self, fraction: float, *, seed: int = 0, name: str | None = None) -> Catalog:
        """Keep a random fraction of the sources; with the same seed, a smaller sample lies inside a larger sample."""
        return self._define(verbs.sample(self.definition, fraction, seed), name)

    def keep(self, *attributes: str, name: str | None = None) -> Catalog:
        """Keep some attributes, in this order; the key is always kept."""
        return self._define(verbs.keep(self.definition, attributes), name)

    def rename(
        self, attributes: Mapping[str, str] | None = None, /, *, name: str | None = None, **more: str
    ) -> Catalog:
        """Rename attributes: ``rename(vmag="v")``; or a mapping, where names are odd.

        Parameters
        ----------
        attributes
            Old and new names. With a mapping alone, an attribute may be called ``name``.
        name
            A name for the new catalog.
        more
            Old and new names, as keywords.

        Raises
        ------
        DefinitionError
            If `name` may mean an attribute as well; the hint shows how to write both meanings.
        """
        columns = collect_renamed_columns(self.schema, attributes, more, name)
        return self._define(verbs.rename(self.definition, columns), name)

    def derive(
        self,
        what: Calculator | str | Mapping[str, SqlText] | None = None,
        /,
        *,
        name: str | None = None,
        **expressions: SqlText,
    ) -> Catalog:
        """Add attributes: ``derive(dist_pc="1000 / plx")``, a mapping where names are odd, or a calculator.

        Parameters
        ----------
        what
            Names and SQL expressions; or a calculator, or the registered name of a calculator.
            With a mapping alone, an attribute may be called ``name``. An expression may state the unit of its values:
            ``derive(dist=("1000 / plx", "pc"))``.
        name
            A name for the new catalog.
        expressions
            Names and SQL expressions, as keywords.

        Raises
        ------
        DefinitionError
            If `name` may mean an attribute as well; the hint shows how to write both meanings.
        CalculatorError
            If nothing is passed, or a calculator and expressions are passed together.
        CriterionError
            If an expression cannot be read, or a stated unit contradicts the units of the attributes.
        """
        if isinstance(what, str):
            what = self._context.read(find_calculator, what)
        if what is None or isinstance(what, Mapping):
            what = SqlCalculator.of(collect_derived_columns(self.schema, what, expressions, name))
        elif expressions:
            raise CalculatorError(
                f"a calculator and expressions ({', '.join(expressions)}) cannot be derived in one step",
                hint="derive one after the other: .derive(calculator).derive(…)",
            )
        elif isinstance(what, PythonCalculator) and what.given:
            allow_handed_over(what)
        return self._define(verbs.derive(self.definition, what), name)

    def combine(self, *others: Catalog | str, name: str | None = None) -> Catalog:
        """Combine the attributes of several catalogs, for the sources common to all of them."""
        return self._define(verbs.combine(self.definition, *self._find_peers("combine", *others)), name)

    def concat(self, *others: Catalog | str, order: Order | None = None, name: str | None = None) -> Catalog:
        """Concatenate the sources of several catalogs, with the attributes common to all of them.

        Parameters
        ----------
        others
            The catalogs to append.
        order
            ``"first"``: if a source is in several catalogs that define an attribute differently, the first catalog
            provides the value. Not needed for catalogs that are proved disjoint.
        name
            A name for the result.
        """
        parts = [self.definition, *self._find_peers("concatenate", *others)]
        return self._define(self._context.read(concatenate_catalogs, parts, order), name)

    def crossmatch(
        self,
        other: Catalog | str,
        radius: object,
        *,
        matches: Literal["best", "all", "mutual"] | int = "best",
        min_radius: object = None,
        max_radius: object = None,
        on: object = None,
        frame: object = None,
        epoch: object = None,
        epochs: object = None,
        motions: object = None,
        suffix: str = "_2",
        name: str | None = None,
    ) -> Catalog:
        """Pair the sources of this catalog (left) with close sources on the sky of another catalog (right).

        A row is a pair, with the attributes of both sources and their separation in arcseconds.

        Parameters
        ----------
        other
            The right catalog.
        radius
            The largest separation: a number of arcseconds, a text such as ``"2 arcsec"``, or a quantity of astropy. Or
            the name of an attribute of this catalog with a unit of angles: each source has its own error circle.
        matches
            ``"best"``: for each source of this catalog the nearest source of the other; a number: that many of the
            nearest; ``"mutual"``: the sources that are the nearest of each other; ``"all"``: every pair.
        min_radius
            The smallest separation: nearer sources are not considered.
        max_radius
            The largest separation, if `radius` is an attribute.
        on
            The attributes of right ascension and declination, ``("ra", "dec")``, or separately for each catalog,
            ``(("ra", "dec"), ("raj2000", "dej2000"))``; by default they are found by UCD or usual name.
        frame
            The frame of positions: ``"icrs"``, ``"fk5"`` (J2000) or ``"galactic"``, or one for each catalog; by default
            the frame that files state (RADESYS, COOSYS), else ICRS.
        epoch
            The epoch in Julian years at which sources are compared: proper motions lead there.
        epochs
            The epochs of the positions, ``(2000.0, "ref_epoch")``: numbers or attributes; by default, attributes are
            found by UCD or usual name, and then the epoch that files state.
        motions
            The attributes of proper motions (and parallax, radial velocity), ``(("pmra", "pmdec"), None)``; by default
            they are found by UCD or usual name.
        suffix
            The suffix for attribute names of the right catalog that the left catalog has, too.
        name
            A name for the result.
        """
        sides = self.definition, self._find_definition(other)
        stated = state_placements(sides, on=on, frame=frame, epoch=epoch, epochs=epochs)
        definition = verbs.crossmatch(
            *sides,
            radius,
            matches=matches,
            min_radius=min_radius,
            max_radius=max_radius,
            on=on,
            frame=stated.frame,
            epoch=epoch,
            epochs=stated.epochs,
            motions=motions,
            suffix=suffix,
        )
        self._context.workshop.notices.tell(Notice("stated", remark) for remark in stated.remarks)
        return self._define(definition, name)

    def matched(self, side: Literal["left", "right"], *, name: str | None = None) -> Catalog:
        """Return the sources of one side of a cross-match that occur in its pairs, with the attributes of this side."""
        return self._define(verbs.matched(self.definition, side), name)

    def unmatched(self, side: Literal["left", "right"], *, name: str | None = None) -> Catalog:
        """Return the sources of one side of a cross-match that occur in none of its pairs."""
        return self._define(verbs.unmatched(self.definition, side), name)

    def lookup(
        self,
        other: Catalog | str,
        *,
        on: str | Sequence[str],
        attributes: Sequence[str] | None = None,
        missing: Literal["error", "null", "drop"] = "error",
        prefix: str = "",
        name: str | None = None,
    ) -> Catalog:
        """Add attributes of each source's partner in another catalog, found by a reference.

        Parameters
        ----------
        other
            The catalog of the partners, of any population.
        on
            The attributes of this catalog that hold the key of the partner: a name, or a list in the order of the key.
        attributes
            The attributes to look up; by default all but the key.
        missing
            How to treat sources without a partner: ``"error"`` when data are computed, ``"null"``, or ``"drop"``.
        prefix
            What the names of the attributes begin with in the result.
        name
            A name for the result.
        """
        definition = verbs.lookup(
            self.definition,
            self._find_definition(other),
            on=on,
            attributes=attributes,
            missing=missing,
            prefix=prefix,
        )
        return self._define(definition, name)

    def having(self, members: Catalog | str, *, on: str | Sequence[str], name: str | None = None) -> Catalog:
        """Keep the sources that another catalog refers to by its attributes `on`."""
        return self._define(verbs.having(self.definition, self._find_definition(members), on=on), name)

    def without(self, members: Catalog | str, *, on: str | Sequence[str], name: str | None = None) -> Catalog:
        """Keep the sources that another catalog does not refer to by its attributes `on`."""
        return self._define(verbs.without(self.definition, self._find_definition(members), on=on), name)

    def group(
        self,
        by: str | Sequence[str],
        aggregates: Mapping[str, str] | None = None,
        /,
        *,
        population: str | None = None,
        name: str | None = None,
        **more: str,
    ) -> Catalog:
        """Group the sources that agree in some attributes: ``group("objid", n="count(*)", mean="avg(mag)")``.

        A row of the result is a group, a source of another population.

        Parameters
        ----------
        by
            The grouping attributes: a name, or a list of names.
        aggregates
            Names and aggregates, where names are odd or an attribute is called ``name``.
        population
            The population of the groups: that of the objects to which `by` refers, or a new one. By default it has the
            names of the grouping attributes.
        name
            A name for the new catalog.
        more
            Names and aggregates, as keywords.
        """
        known = None if population is None else self._context.read(populations.find_population, population)
        if aggregates is not None and not isinstance(aggregates, Mapping):
            raise DefinitionError(
                f"expected names and aggregates, got {aggregates!r}",
                hint='name each aggregate: group("objid", n="count(*)")',
            )
        named = {**(aggregates or {}), **more}
        definition = verbs.group(self.definition, by, named, population=known or population)
        return self._define(definition, name)

    def first(self, by: str | Sequence[str], order: str, *, n: int = 1, name: str | None = None) -> Catalog:
        """Keep the first sources of each group, in an order: ``first(by="objid", order="mjd DESC")``.

        The key decides between sources that are equal in the order.
        """
        return self._define(verbs.first(self.definition, by, order, n), name)

    def explode(
        self, arrays: str | Sequence[str], *, population: str | None = None, name: str | None = None
    ) -> Catalog:
        """Make each element of arrays a source, with the key of its source and its position."""
        return self._define(verbs.explode(self.definition, arrays, population=population), name)

    def named(
        self, name: str, *, move: bool = False, visibility: Visibility | None = None, project: str | None = None
    ) -> Catalog:
        """Put a name on the catalog; see `Archive.name`."""
        self._context.write(name_catalog, self.definition, name, move=move, visibility=visibility, project=project)
        return self

    def _define(self, definition: Definition, name: str | None) -> Catalog:
        """Add a definition to the archive, and put a name on it."""
        define_or_wait(self._context, definition, name)
        return Catalog(self.archive, definition)

    def _find_definition(self, other: Catalog | str) -> Definition:
        """Return the definition of another catalog."""
        return self._context.read(find_definitions, [other])[0] if isinstance(other, str) else other.definition

    def _find_peers(self, verb: str, *others: Catalog | str) -> list[Definition]:
        """Return the definitions of other catalogs; raise `PopulationError` if one has another population."""
        definitions = [self._find_definition(other) for other in others]
        for definition in definitions:
            if definition.population != self.definition.population:
                raise PopulationError(
                    f"cannot {verb}: {self.name} holds {make_plural(self.population)}, "
                    f"{Catalog(self.archive, definition).name} holds {make_plural(definition.population.name)}",
                    hint=ONE_POPULATION,
                )
        return definitions

    # -- data ----------------------------------------------------------------------------------------------------

    def plan(self) -> DescribedPlan:
        """Return the plan for all attributes, with its justification; compute nothing."""
        database, definition, subject = self._context.database, self.definition, self._find_subject()
        return self._recall_plan(
            database, lambda reading: plan_attributes(reading, database, definition, subject, self._keep)
        )

    def count(self, *, check: bool = False, engine: EngineChoice = "auto") -> int:
        """Return the number of sources; count them only if the number is unknown. See `to_arrow` for the options."""
        return count_sources(self._context, self.definition, self._find_subject(), check=check, engine=engine)

    def store(self, *, attributes: Sequence[str] | None = None) -> Stored:
        """Compute attributes, by default all, and keep them for later requests."""
        return store_catalog(self._context, self.definition, self._find_subject(), attributes)

    def _find_subject(self) -> str:
        """Return what messages call the catalog."""
        return self._context.read(describe_subject, self.definition, self._label)

    def _workshop(self) -> Workshop:
        return self._context.workshop

    @property
    def _keep(self) -> Keep:
        return "worthwhile"

    def _get_context(self) -> Context:
        return self._context

    def _get_sources(self) -> Definition:
        return self.definition

    def _get_pictured(self) -> tuple[Definition, str]:
        return self.definition, self.name

    def _describe_export(self, follow: bool | str) -> ExportRequest:
        return ExportRequest(self._context.read(choose_followed_name, self.definition, follow))

    # -- showing -------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return str(self._describe())

    def _describe(self) -> Description:
        """Return the description of the catalog."""
        return self._context.read(describe_catalog, self.definition, {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Catalog) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        try:
            kind = f"{self.definition.kind} of {self.population}"
            return f"<Catalog {self.name}: {kind}, {len(self.attributes)} attributes>"
        except ProvennError:  # the archive cannot be read any more
            return f"<Catalog {self.digest[:SHORT]}>"

    def _repr_html_(self) -> str | None:
        return render_card(self._make_card)

    def _make_card(self) -> Card:
        """Return the card of the catalog: description, stored attributes, and neighbourhood."""
        card = make_description_card(self._describe())
        fragments = self._context.read(list_stored_fragments, self.definition.extent.digest)
        digest = self._context.read(find_digest, self)
        neighbourhood = self._context.read(
            find_neighbourhood, digest, {}, depth=2, direction="both", most=_NEIGHBOURS_SHOWN
        )
        stored = ("stored", describe_stored(self.schema, [stored.fragment for stored in fragments]))
        return replace(card, rows=(stored, *card.rows), picture=neighbourhood.svg(inline=True))
