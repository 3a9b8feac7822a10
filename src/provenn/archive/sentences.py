"""What a definition says, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from provenn.catalogs import Catalog
from provenn.catalogs.catalog import Parameters
from provenn.criteria import abridged

__all__ = ["listed", "sentence", "told"]


def sentence(catalog: Catalog, word: Callable[[str], str]) -> str:
    """Return what a catalog is, as the user wrote it.

    Parameters
    ----------
    catalog
        The definition.
    word
        What to call a catalog, given its digest.
    """
    return told(catalog.kind, catalog.parameters(), catalog.notes(), [word(one.digest) for one in catalog.dependencies])


def told(kind: str, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:
    """Return what a catalog is, from what is stored of it alone: none of those it is made from is looked at.

    Parameters
    ----------
    kind
        The name of its class.
    parameters, notes
        As the class made them.
    parts
        What to call its dependencies, in order.
    """
    match kind:
        case "Base":
            rows = "the rows" if notes["row_count"] is None else f"{notes['row_count']} rows"
            return f"{rows} of {notes['location']}"
        case "SelectSources":
            return f"the sources of {parts[0]} where {abridged(' '.join(notes['text'].split()))}"
        case "RestrictSources":
            return f"the sources of {parts[0]} that {parts[1]} has too"
        case "ExcludeSources":
            return f"the sources of {parts[0]} that {parts[1]} does not have"
        case "SampleSources":
            fraction, seed = parameters["fraction"], parameters["seed"]
            return f"a sample of the sources of {parts[0]}: a fraction of {fraction:g}, with seed {seed}"
        case "KeepAttributes":
            return f"{parts[0]}, only its attributes {listed(parameters['names'])}"
        case "RenameAttributes":
            return f"{parts[0]}, with {listed([f'{old} renamed to {new}' for old, new in parameters['names']])}"
        case "DeriveAttributes" if "calculator" in parameters:
            names = [name for name, _ in parameters["calculator"]["outputs"]]
            return f"{parts[0]}, with {listed(names)} calculated by {parameters['calculator']['function']}"
        case "DeriveAttributes":
            texts, units = notes["texts"], parameters.get("units", {})
            stated = {name: f" (in {unit})" for name, unit in units.items()}
            new = [f"{name} = {texts[name]}{stated.get(name, '')}" for name, *_ in parameters["expressions"]]
            return f"{parts[0]}, with {listed(new)}"
        case "CombineAttributes":
            return f"the attributes of {listed(parts)}, for the sources they all have"
        case "ConcatSources":
            first = "; the first of them that has a source gives its values" if parameters["overlap"] == "first" else ""
            return f"the sources of {listed(parts)} together{first}"
        case "CrossMatch":
            radius = f"within {parameters['radius']:g} arcsec on the sky"
            if parameters["matches"] == "all":
                return f"all pairs of {parts[0]} and {parts[1]} {radius}"
            return f"each source of {parts[0]} with the nearest of {parts[1]} {radius}"
        case "MatchedSources":
            return f"the sources of {parts[0]} that occur in {parts[1]}, on its {parameters['side']} side"
    raise AssertionError(kind)


def listed(words: Sequence[str], most: int = 12) -> str:
    """Return words as people list them.

    >>> listed(["hip"]), listed(["hip", "vmag", "plx"]), listed("abcde", most=3)
    ('hip', 'hip, vmag and plx', 'a, b, c and 2 more')
    """
    shown = [*words[:most], f"{len(words) - most} more"] if len(words) > most else [*words]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)
