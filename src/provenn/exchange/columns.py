"""Where the attributes of a catalog come from, one step back: what column lineage says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    MatchedSources,
    RestrictSources,
    SampleSources,
    SelectSources,
)
from provenn.catalogs.calculators import Expressions
from provenn.catalogs.concat_sources import ConcatSources, shared_attributes
from provenn.catalogs.schema import Attribute
from provenn.criteria import parse_criterion
from provenn.errors import CriterionError

__all__ = ["Comparison", "Origin", "comparisons", "filters", "origins"]

_COMPARISON = re.compile(r"([A-Za-z_]\w*) (<=|>=|<|>|=) (-?\d+(?:\.\d+)?)")

Comparison = tuple[str, str, str]
"""An attribute, an operator, and a number as it is written."""


@dataclass(frozen=True, slots=True)
class Origin:
    """An attribute of a dependency that something depends on.

    Parameters
    ----------
    catalog
        The digest of the dependency.
    attribute
        The name that the attribute has there.
    type, subtype
        OpenLineage's words for how it does: ``DIRECT`` and ``IDENTITY``, ``INDIRECT`` and ``FILTER``, …
    description
        The expression or criterion, as it was written.
    """

    catalog: str
    attribute: str
    type: str = "DIRECT"
    subtype: str = "IDENTITY"
    description: str = ""


def origins(catalog: Catalog) -> dict[str, tuple[Origin, ...]]:
    """Return what each attribute is made from, by name."""
    if isinstance(catalog, ConcatSources):
        return {
            pieces[0].attribute.name: tuple(dict.fromkeys(Origin(one.member, one.attribute.name) for one in pieces))
            for pieces in shared_attributes(catalog.members)
        }
    if isinstance(catalog, CrossMatch):
        return _of_pairs(catalog)
    calculated = _calculated(catalog) if isinstance(catalog, DeriveAttributes) else {}
    # What only decides which sources there are gives no values.
    giving = catalog.dependencies if isinstance(catalog, CombineAttributes) else catalog.dependencies[:1]
    held = [(one.digest, one.schema.by_identity) for one in dict.fromkeys(giving)]
    return {one.name: tuple(_same(one, held)) or calculated.get(one.name, ()) for one in catalog.schema.attributes}


def _of_pairs(catalog: CrossMatch) -> dict[str, tuple[Origin, ...]]:
    found = {
        one.name: (Origin(side.digest, own.name),)
        for side, given in (
            (catalog.left, catalog.attributes_of("left")),
            (catalog.right, catalog.attributes_of("right")),
        )
        for one, own in given
    }
    read = tuple(_positions(catalog, "DIRECT", "TRANSFORMATION"))
    return {**found, catalog.separation.name: read}


def _positions(catalog: CrossMatch, kind: str, subtype: str) -> Iterator[Origin]:
    text = f"within {catalog.radius:g} arcsec on the sky"
    sides = (catalog.left, catalog.left, catalog.right, catalog.right)
    for side, (identity, _) in zip(sides, catalog.coordinates, strict=True):
        yield Origin(side.digest, side.schema.by_identity[identity].name, kind, subtype, text)


def _same(one: Attribute, held: list[tuple[str, dict[str, Attribute]]]) -> Iterator[Origin]:
    for digest, attributes in held:
        if one.identity in attributes:
            yield Origin(digest, attributes[one.identity].name)


def _calculated(catalog: DeriveAttributes) -> dict[str, tuple[Origin, ...]]:
    parent = catalog.parent
    if not isinstance(catalog.calculation, Expressions):
        called = catalog.calculation
        read = tuple(
            Origin(parent.digest, parent.schema[name].name, "DIRECT", "TRANSFORMATION", called.function)
            for name in called.inputs
        )
        return dict.fromkeys(called.names, read)
    texts = {one.name: one.words for one in catalog.calculation.outputs}
    return {
        name: _named(parent, one.reads, "DIRECT", "TRANSFORMATION", texts[name])
        for name, one in catalog.calculation.parsed(parent.schema).items()
    }


def _named(parent: Catalog, reads: tuple[str, ...], kind: str, subtype: str, text: str) -> tuple[Origin, ...]:
    known: Mapping[str, Attribute] = parent.schema.by_identity
    return tuple(Origin(parent.digest, known[identity].name, kind, subtype, text) for identity in reads)


def filters(catalog: Catalog) -> tuple[Origin, ...]:
    """Return the attributes that decide which sources there are."""
    match catalog:
        case SelectSources(parent=parent, text=text):
            return _named(parent, catalog.criterion.reads, "INDIRECT", "FILTER", text)
        case SampleSources(parent=parent):
            return _keys((parent,), "FILTER", f"a fraction of {catalog.fraction:g}, with seed {catalog.seed}")
        case RestrictSources() | CombineAttributes():
            return _keys(catalog.dependencies, "JOIN", "inner join on the key")
        case CrossMatch():
            return tuple(dict.fromkeys(_positions(catalog, "INDIRECT", "JOIN")))
        case MatchedSources(pairs=pairs):
            return _keys((pairs,), "FILTER", "semi join on the key")
        case ExcludeSources(other=other):
            return _keys((other,), "FILTER", "anti join on the key")
    return ()


def _keys(catalogs: tuple[Catalog, ...], subtype: str, text: str) -> tuple[Origin, ...]:
    return tuple(
        Origin(one.digest, key.name, "INDIRECT", subtype, text)
        for one in dict.fromkeys(catalogs)
        for key in one.schema.key
    )


def comparisons(catalog: Catalog) -> tuple[Comparison, ...]:
    """Return a criterion as comparisons with numbers that are all true; empty if it is something else."""
    if not isinstance(catalog, SelectSources):
        return ()
    schema = catalog.parent.schema
    try:
        text = parse_criterion(catalog.text, schema).text
    except CriterionError:  # an older version of the program allowed it
        return ()
    found = [_COMPARISON.fullmatch(part) for part in text.split(" AND ")]
    if None in found:
        return ()
    return tuple((schema[one[1]].name, one[2], one[3]) for one in found if one is not None)
