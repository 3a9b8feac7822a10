"""A catalog in an archive: what a user holds in hand. Every verb defines a new catalog; only data are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from provenn.archive.columns import derived_columns, renamed_columns
from provenn.archive.data import Data
from provenn.archive.fragments import Stored
from provenn.archive.words import SHORT
from provenn.catalogs import (
    Calculator,
    CombineAttributes,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    MatchedSources,
    PythonCalculator,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    Schema,
    SelectSources,
    SqlCalculator,
)
from provenn.catalogs import Catalog as Definition
from provenn.catalogs.calculators import SqlText
from provenn.catalogs.calculators.allowed import allow
from provenn.errors import CalculatorError, ProvennError
from provenn.sky import Region, criterion_on

if TYPE_CHECKING:
    from provenn.archive.archive import Archive
    from provenn.archive.workshop import Workshop
    from provenn.store.visibility import Visibility
    from provenn.targets.plan import Plan
    from provenn.targets.running import Keep

__all__ = ["Catalog"]


class Catalog(Data):
    """A catalog of an archive.

    Catalogs are made by `Archive.ingest` and by the verbs of other catalogs, and found by ``archive[name]``. Two are
    equal if they have the same definition.
    """

    __slots__ = ("_definition", "archive", "digest")

    archive: Archive
    """Where it is."""
    digest: str
    """Its identity: the digest of its definition."""

    def __init__(self, archive: Archive, which: Definition | str) -> None:
        # A digest alone will do: many catalogs are found at once, and few of them are looked at.
        self.archive = archive
        self.digest = which if isinstance(which, str) else which.digest
        self._definition = None if isinstance(which, str) else which

    # -- what it is ----------------------------------------------------------------------------------------------

    @property
    def definition(self) -> Definition:
        """The catalog as it is defined."""
        if self._definition is None:
            self._definition = self.archive.catalog(self.digest).definition
        return self._definition

    @property
    def names(self) -> tuple[str, ...]:
        """Its names, sorted."""
        return self.archive.names_of(self)

    @property
    def name(self) -> str:
        """What to call it: its first name, or the beginning of its digest."""
        return next(iter(self.names), self.digest[:SHORT])

    @property
    def population(self) -> str:
        """What one row is."""
        return self.definition.population.name

    @property
    def schema(self) -> Schema:
        """Its attributes."""
        return self.definition.schema

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of its attributes, in the order of the columns."""
        return self.schema.names

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The catalogs it is made from."""
        return tuple(Catalog(self.archive, one) for one in self.definition.dependencies)

    # -- verbs ---------------------------------------------------------------------------------------------------

    def select(self, criterion: str | Region, *, name: str | None = None) -> Catalog:
        """Keep the sources for which a criterion in SQL is true, or those in a region of `provenn.sky`."""
        text = criterion if isinstance(criterion, str) else criterion_on(criterion, self.definition.schema)
        return self._make(SelectSources.of(self.definition, text), name)

    def restrict(self, other: Catalog | str, *, name: str | None = None) -> Catalog:
        """Keep the sources that another catalog has too."""
        return self._make(RestrictSources(self.definition, self._other(other)), name)

    def exclude(self, other: Catalog | str, *, name: str | None = None) -> Catalog:
        """Keep the sources that another catalog does not have."""
        return self._make(ExcludeSources(self.definition, self._other(other)), name)

    def sample(self, fraction: float, *, seed: int = 0, name: str | None = None) -> Catalog:
        """Keep a random fraction of the sources. With the same seed, a smaller sample lies inside a larger one."""
        return self._make(SampleSources.of(self.definition, fraction, seed), name)

    def keep(self, *attributes: str, name: str | None = None) -> Catalog:
        """Keep some attributes, in this order; the key is always kept."""
        return self._make(KeepAttributes.of(self.definition, attributes), name)

    def rename(
        self, attributes: Mapping[str, str] | None = None, /, *, name: str | None = None, **more: str
    ) -> Catalog:
        """Give attributes other names: ``rename(vmag="v")``; or a mapping, where names are odd.

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
            If `name` may mean an attribute as well; the hint says how to write each.
        """
        columns = renamed_columns(self.schema, attributes, more, name)
        return self._make(RenameAttributes.of(self.definition, columns), name)

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
            Names and SQL expressions; or a calculator, which may be given by the name under which it is registered.
            With a mapping alone, an attribute may be called ``name``. An expression may state the unit of its values:
            ``derive(dist=("1000 / plx", "pc"))``.
        name
            A name for the new catalog.
        expressions
            Names and SQL expressions, as keywords.

        Raises
        ------
        DefinitionError
            If `name` may mean an attribute as well; the hint says how to write each.
        CalculatorError
            If there is nothing to calculate, or a calculator and expressions are given together.
        CriterionError
            If an expression cannot be read, or a stated unit contradicts the units of the attributes.
        """
        if isinstance(what, str):
            what = self.archive.find_calculator(what)
        if what is None or isinstance(what, Mapping):
            what = SqlCalculator.of(derived_columns(self.schema, what, expressions, name))
        elif expressions:
            raise CalculatorError(
                f"a calculator and expressions ({', '.join(expressions)}) cannot be derived at once",
                hint="derive one after the other: .derive(calculator).derive(…)",
            )
        elif isinstance(what, PythonCalculator) and what.given:
            allow(what.permit)
        return self._make(DeriveAttributes.of(self.definition, what), name)

    def combine(self, *others: Catalog | str, name: str | None = None) -> Catalog:
        """Bring together the attributes of several catalogs, for the sources they all have."""
        return self._make(CombineAttributes.of(self.definition, *map(self._other, others)), name)

    def concat(self, *others: Catalog | str, order: Literal["first"] | None = None, name: str | None = None) -> Catalog:
        """Bring together the sources of several catalogs, with the attributes they all have.

        Parameters
        ----------
        others
            The catalogs to append.
        order
            ``"first"``: where a source is in several catalogs that define an attribute differently, the first one
            gives the value. Not needed where the catalogs are proved to share no source.
        name
            A name for the result.
        """
        return self.archive.concatenate([self, *others], order=order, name=name)

    def crossmatch(
        self,
        other: Catalog | str,
        radius: object,
        *,
        matches: Literal["best", "all"] = "best",
        on: object = None,
        suffix: str = "_2",
        name: str | None = None,
    ) -> Catalog:
        """Pair the sources of this catalog, the left one, with those of another that lie close to them on the sky.

        One row is a pair, with the attributes of both and their separation in arcseconds.

        Parameters
        ----------
        other
            The right one.
        radius
            How far apart at most: a number of arcseconds, a text such as ``"2 arcsec"``, or a quantity of astropy.
        matches
            ``"best"``: for each source of this catalog the nearest of the other; ``"all"``: every pair.
        on
            The attributes that hold right ascension and declination, ``("ra", "dec")``, or those of each catalog,
            ``(("ra", "dec"), ("raj2000", "dej2000"))``; by default they are found by UCD or usual name.
        suffix
            What is appended to names of the other catalog's attributes that this one has, too.
        name
            A name for the result.
        """
        made = CrossMatch.of(self.definition, self._other(other), radius, matches=matches, on=on, suffix=suffix)
        return self._make(made, name)

    def matched(self, side: Literal["left", "right"], *, name: str | None = None) -> Catalog:
        """Take the sources of one side of a cross-match that occur in these pairs, with that side's attributes."""
        return self._make(MatchedSources.of(self.definition, side), name)

    def named(
        self, name: str, *, move: bool = False, visibility: Visibility | None = None, project: str | None = None
    ) -> Catalog:
        """Put a name on the catalog; `Archive.name` says how."""
        return self.archive.name(self, name, move=move, visibility=visibility, project=project)

    def _make(self, definition: Definition, name: str | None) -> Catalog:
        return self.archive.define(definition, name)

    def _other(self, other: Catalog | str) -> Definition:
        return self.archive.catalog(other).definition

    # -- data ----------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        """Return how all its attributes would be computed, and why that is enough. Nothing is computed for it."""
        return self.archive._plan_catalog(self)  # noqa: SLF001 - the archive is its own

    def count(self, *, check: bool = False) -> int:
        """Return how many sources it has: counted, unless that is known; `to_arrow` says what `check` does."""
        return self.archive._count(self, check=check)  # noqa: SLF001

    def store(self, *, attributes: Sequence[str] | None = None) -> Stored:
        """Compute attributes, by default all, and keep them for whoever asks next."""
        return self.archive.store(self, attributes=attributes)

    def _workshop(self) -> Workshop:
        return self.archive._workshop  # noqa: SLF001

    @property
    def _keep(self) -> Keep:
        return "worthwhile"

    # -- showing -------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return str(self.archive.describe(self))

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
        from provenn.archive import cards  # noqa: PLC0415 - most catalogs are not looked at

        return cards.html(cards.catalog_card, self)
