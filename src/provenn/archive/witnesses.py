"""Help where a statement is not proved: the closest proved statements, and rows telling catalogs apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from provenn.catalogs import Catalog
from provenn.database.transactions import Reading
from provenn.definitions.catalog_names import find_names_by_digest
from provenn.definitions.catalog_store import get_catalogs
from provenn.digests import CatalogDigest, is_catalog_label
from provenn.errors import ProvennError
from provenn.knowledge.consequences import TracedKnowledge
from provenn.logic import Knowledge, Statement, disjoint, empty, subset
from provenn.logic.statements import And, Property, SetComparison
from provenn.logic.terms import Op, Term, chain, term
from provenn.words.vocabulary import Vocabulary

if TYPE_CHECKING:
    from provenn.knowledge.row_search import PossibleRow

__all__ = ["Help", "Witness", "describe_help", "find_help"]

_MOST_CLOSEST = 3
_MOST_LIMITS = 40
_PRESENT = " IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Witness:
    """A possible row to tell catalogs apart.

    The row is made up from the criteria: the data need not have the row.

    Attributes
    ----------
    values
        The names of the attributes that decide, with their values as people write them.
    inside, outside
        The names of the catalogs that would hold the row, and of those that would not.
    """

    values: tuple[tuple[str, str], ...]
    inside: tuple[str, ...]
    outside: tuple[str, ...]

    @property
    def words(self) -> str:
        """The row in a sentence."""
        values = " and ".join(f"{name} = {value}" for name, value in self.values)
        places = [
            *([f"in {' and '.join(self.inside)}"] if self.inside else []),
            *([f"not in {' or '.join(self.outside)}"] if self.outside else []),
        ]
        return f"a row with {values or 'any values'} would be {' and '.join(places)}"

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class Help:
    """Help where a statement is not proved.

    Parameters
    ----------
    closest
        Statements that are proved, and say nearly as much.
    witnesses
        Possible rows on which catalogs would differ.
    """

    closest: tuple[Statement, ...] = ()
    witnesses: tuple[Witness, ...] = ()


def describe_help(closest: Iterable[Statement], witnesses: Iterable[Witness]) -> tuple[str, ...]:
    """Return the help as lines."""
    return (
        *(f"proved: {statement}" for statement in closest),
        *(f"possible: {witness.words}" for witness in witnesses),
    )


def find_help(
    reading: Reading,
    known: TracedKnowledge,
    statement: Statement,
    user_names: Mapping[CatalogDigest, str],
    further: Iterable[Term] = (),
) -> Help:
    """Return help where a statement about catalogs is not proved.

    Parameters
    ----------
    reading
        The transaction.
    known
        The knowledge about the catalogs.
    statement
        The statement, over digests of catalogs.
    user_names
        The user's names of the catalogs.
    further
        Further regions for which rows are sought, beside those where the statement would be false.
    """
    from provenn.knowledge.row_search import RowSearch  # noqa: PLC0415 - only a question why needs rows

    digests = [CatalogDigest(label) for label in statement.labels]
    mentioned = {digest for fact in known.facts for digest in fact.catalogs}
    try:
        catalogs = get_catalogs(reading, {*digests, *mentioned})
    except ProvennError:  # an answer without help is better than none
        return Help()
    named = {*user_names, *find_names_by_digest(reading, catalogs.keys())}
    closest = _find_closest(known.knowledge, statement, _list_limits(catalogs, digests, named))
    vocabulary = Vocabulary.of(reading, digests, user_names, closest)
    search = RowSearch(known, catalogs)
    rows = ((region, search.find_row(region)) for region in (*_find_counter_regions(statement), *further))
    return Help(
        tuple(map(vocabulary.translate_statement, closest)),
        tuple(_describe_row(region, row, catalogs, vocabulary) for region, row in rows if row is not None),
    )


def _describe_row(
    region: Term, row: PossibleRow, catalogs: Mapping[CatalogDigest, Catalog], vocabulary: Vocabulary
) -> Witness:
    """Return a row in the user's names."""
    from provenn.criteria.row_candidates import format_constant  # noqa: PLC0415 - see above

    digests = [CatalogDigest(label) for label in region.labels]
    names = {
        identity: attribute.name
        for digest in (*reversed(list(catalogs)), *reversed(digests))
        for identity, attribute in catalogs[digest].schema.by_identity.items()
    }
    return Witness(
        tuple(sorted((names[identity], format_constant(constant)) for identity, constant in row.values.items())),
        tuple(vocabulary.word(digest) for digest in digests if digest in row.inside),
        tuple(vocabulary.word(digest) for digest in digests if digest not in row.inside),
    )


def _find_counter_regions(statement: Statement) -> tuple[Term, ...]:
    """Return regions; a single row in any region shows a statement to be false."""
    match statement:
        case And(parts):
            return tuple(region for part in parts for region in _find_counter_regions(part))
        case SetComparison("==", left, right):
            return left - right, right - left
        case SetComparison() | Property():
            return tuple(region for region, inhabited in statement.claims() if not inhabited)
    return ()


def _list_limits(
    catalogs: Mapping[CatalogDigest, Catalog], digests: Sequence[CatalogDigest], named: Collection[CatalogDigest]
) -> list[str]:
    """Return the possible limits of a statement about catalogs: their criteria, and related catalogs with a name."""
    criteria = (label for digest in digests for label in catalogs[digest].extent.labels if not is_catalog_label(label))
    related = (digest for digest in catalogs if digest in named)
    return [label for label in dict.fromkeys((*criteria, *related)) if label not in digests][:_MOST_LIMITS]


def _find_closest(knowledge: Knowledge, statement: Statement, limits: Sequence[str]) -> tuple[Statement, ...]:
    """Return the proved statements closest to an unproved statement."""
    match statement:
        case And(parts):
            proved = [
                closest
                for part in parts
                for closest in ([part] if knowledge.entails(part) else _find_closest(knowledge, part, limits))
            ]
        case SetComparison(operator, left, right) if operator != "!=":
            if knowledge.entails(disjoint(left, right)):
                return (disjoint(left, right),)
            inclusions = [subset(left, right)] if operator in ("==", "<=", "<") else []
            inclusions += [subset(right, left)] if operator in ("==", ">=", ">") else []
            proved = [inclusion for inclusion in inclusions if knowledge.entails(inclusion)] or [
                closest for inclusion in inclusions for closest in islice(_limit(knowledge, inclusion, limits), 1)
            ]
        case _:
            return ()
    return tuple(dict.fromkeys(proved))[:_MOST_CLOSEST]


def _limit(knowledge: Knowledge, inclusion: Statement, limits: Sequence[str]) -> Iterator[Statement]:
    """Yield proved inclusions: of the part inside a further set, or outside.

    A limit is left out if the same limit says as much about a catalog around the part, as far as the catalog's
    attributes are not NULL: then the part plays no role.
    """
    part, whole = inclusion.terms()
    present = [limit for limit in limits if limit.endswith(_PRESENT)]
    around = [
        chain(Op.AND, (term(limit), *map(term, present)))
        for limit in limits
        if is_catalog_label(limit) and knowledge.entails(subset(part, limit))
    ]
    for limit in (limit for limit in limits if around and limit not in present):
        for limited, bounds in (
            (part & limit, [catalog & limit for catalog in around]),
            (part - limit, [catalog - limit for catalog in around]),
        ):
            if (
                knowledge.entails(subset(limited, whole))
                and not knowledge.entails(empty(limited))
                and not any(knowledge.entails(subset(bound, whole)) for bound in bounds)
            ):
                yield subset(limited, whole)
