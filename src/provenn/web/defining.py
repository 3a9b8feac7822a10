"""What a catalog's definition consists of: its parameters as people wrote them, and where its attributes come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provenn.catalogs import (
    Base,
    Catalog,
    ConcatSources,
    CrossMatch,
    DeriveAttributes,
    KeepAttributes,
    MatchedSources,
    PythonCalculator,
    RenameAttributes,
    SampleSources,
    SelectSources,
    cone,
)
from provenn.catalogs.calculators import Expressions
from provenn.catalogs.caveats import basis_words

__all__ = ["Parameter", "definers", "parameters"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A part of a definition: what it is, and what it says."""

    name: str
    value: str


def parameters(catalog: Catalog) -> tuple[Parameter, ...]:
    """Return what a definition says besides its class and what it is made from."""
    return tuple(Parameter(name, value) for name, value in _said(catalog) if value)


def _said(catalog: Catalog) -> Iterator[tuple[str, str]]:
    match catalog:
        case Base(files=files):
            yield "files", files.location
            yield "how many", str(len(files.fingerprints))
            yield "known by", basis_words(files)
            yield "format", files.format
            yield "options", ", ".join(f"{name}={value}" for name, value in files.options)
            yield "rows", "" if files.row_count is None else f"{files.row_count:,}"
            yield "metadata", ", ".join(f"{name}={value}" for name, value in files.metadata)
        case SelectSources(text=text):
            yield "criterion", text
        case SampleSources(fraction=fraction, seed=seed):
            yield "fraction", f"{fraction:g}"
            yield "seed", str(seed)
        case KeepAttributes(names=kept):
            yield "attributes", ", ".join(kept)
        case RenameAttributes(names=renamed):
            yield "new names", ", ".join(f"{new} for {old}" for old, new in renamed)
        case DeriveAttributes(calculation=Expressions() as expressions):
            for one in expressions.outputs:
                yield one.name, one.words
        case DeriveAttributes(calculation=PythonCalculator() as calculator):
            yield "function", calculator.function
            yield "source", calculator.code
            yield "inputs", ", ".join(calculator.inputs)
            yield "outputs", ", ".join(f"{name} {kind}" for name, kind in calculator.outputs)
            yield "parameters", "" if calculator.keywords == "{}" else calculator.keywords
            yield "scope", calculator.scope
            yield "version", calculator.version
        case CrossMatch(radius=radius, matches=matches):
            yield "radius", f"{radius:g} arcsec"
            yield "matches", matches
            sides = zip((catalog.left, catalog.left, catalog.right, catalog.right), catalog.coordinates, strict=True)
            ra, dec, *others = (one.schema.by_identity[identity].name for one, (identity, _) in sides)
            yield "positions", f"{ra}, {dec} with {', '.join(others)}"
        case MatchedSources(side=side):
            yield "side", side
        case ConcatSources(overlap="first"):
            yield "values", "of the first that has a source"
        case ConcatSources(overlap="disjoint"):
            yield "values", "of the only one that has a source"


def definers(catalog: Catalog) -> dict[str, tuple[Catalog, str]]:
    """Return where each attribute of a lineage is defined, and under which name, by identity."""
    found: dict[str, tuple[Catalog, str]] = {}
    for one in cone(catalog):
        for attribute in one.schema.attributes:
            found.setdefault(attribute.identity, (one, attribute.name))
    return found
