"""The verbs of provenn in events: what a dataset is made of, in words that another archive can read.

The facet ``provenn_definition`` of a dataset says exactly which sources it has; the facets that everybody knows say
less. Whoever runs other pipelines may write it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    MatchedSources,
    PythonCalculator,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    SqlCalculator,
)
from provenn.catalogs.calculators import Expressions
from provenn.catalogs.cross_match import Coordinate
from provenn.errors import DefinitionError

__all__ = ["INGEST", "VERBS", "defined", "verb_and_options"]

INGEST = "ingest"
"""The verb of a base catalog."""

VERBS = (
    *("select", "restrict", "exclude", "sample", "keep", "rename", "derive", "calculate", "combine", "concat"),
    *("crossmatch", "matched"),
    INGEST,
)
"""What a definition may say; ``calculate`` is a derivation by a function, which is not read."""


def verb_and_options(catalog: Catalog) -> tuple[str, dict[str, Any]]:
    """Return what defines a catalog besides its dependencies, in the user's words."""
    match catalog:
        case SelectSources(text=text):
            return "select", {"criterion": text}
        case RestrictSources():
            return "restrict", {}
        case ExcludeSources():
            return "exclude", {}
        case SampleSources(fraction=fraction, seed=seed):
            return "sample", {"fraction": fraction, "seed": seed}
        case KeepAttributes(names=kept):
            return "keep", {"attributes": list(kept)}
        case RenameAttributes(names=names):
            return "rename", {"attributes": dict(names)}
        case DeriveAttributes(calculation=Expressions(outputs=outputs)):
            units = {one.name: one.unit for one in outputs if one.stated}
            return "derive", {
                "attributes": {one.name: one.text for one in outputs},
                **({"units": units} if units else {}),
            }
        case DeriveAttributes(calculation=PythonCalculator() as calculator):
            return "calculate", {"attributes": list(calculator.names)}
        case CombineAttributes():
            return "combine", {}
        case ConcatSources(overlap=overlap):
            return "concat", {"overlap": overlap} if overlap else {}
        case CrossMatch(radius=radius, matches=matches, suffix=suffix):
            places = [[side.schema.by_identity[one].name for one, _ in own] for side, own in _sides(catalog)]
            return "crossmatch", {"radius": radius, "matches": matches, "on": places, "suffix": suffix}
        case MatchedSources(side=side):
            return "matched", {"side": side}
        case Base():
            return INGEST, {}
    raise AssertionError(catalog.kind)


def _sides(catalog: CrossMatch) -> tuple[tuple[Catalog, Sequence[Coordinate]], ...]:
    return (catalog.left, catalog.coordinates[:2]), (catalog.right, catalog.coordinates[2:])


def defined(verb: str, options: Mapping[str, Any], parts: Sequence[Catalog]) -> Catalog:
    """Return the catalog that a verb makes of others. Nothing that is read is executed.

    Raises
    ------
    ProvennError
        If these catalogs do not allow it: `DefinitionError` if what is said has no meaning.
    """
    try:
        match verb, parts:
            case "select", [parent]:
                return SelectSources.of(parent, _text(options["criterion"]))
            case "restrict", [parent, other]:
                return RestrictSources(parent, other)
            case "exclude", [parent, other]:
                return ExcludeSources(parent, other)
            case "sample", [parent]:
                return SampleSources.of(parent, options["fraction"], options["seed"])
            case "keep", [parent]:
                return KeepAttributes.of(parent, [_text(one) for one in options["attributes"]])
            case "rename", [parent]:
                return RenameAttributes.of(parent, dict(options["attributes"]))
            case "derive", [parent]:
                return DeriveAttributes.of(
                    parent, SqlCalculator.of(dict(options["attributes"]), dict(options.get("units", {})))
                )
            case "calculate", [parent]:
                return parent  # with the same sources; what the function gives nobody can compute here
            case "combine", [_, _, *_]:
                return CombineAttributes.of(*parts)
            case "concat", [_, _, *_]:
                return ConcatSources.of(*parts, overlap=options.get("overlap"))
            case "crossmatch", [left, right]:
                return CrossMatch.of(
                    left,
                    right,
                    options["radius"],
                    matches=_text(options["matches"]),
                    on=options["on"],
                    suffix=_text(options["suffix"]),
                )
            case "matched", [_, pairs]:
                return MatchedSources.of(pairs, _text(options["side"]))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if type(error).__module__.startswith("provenn."):
            raise
        raise DefinitionError(f"{verb} cannot be said so: {error!r}") from error
    raise DefinitionError(f"{verb!r} of {len(parts)} datasets is not a definition")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise DefinitionError(f"text is expected, not {value!r}")
    return value
