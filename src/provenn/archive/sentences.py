"""What a definition says, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    PythonCalculator,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
)
from provenn.catalogs.calculators import Expressions

__all__ = ["listed", "sentence"]


def sentence(catalog: Catalog, word: Callable[[str], str]) -> str:
    """Return what a catalog is, as the user wrote it.

    Parameters
    ----------
    catalog
        The definition.
    word
        What to call a catalog, given its digest.
    """
    parts = [word(one.digest) for one in catalog.dependencies]
    match catalog:
        case Base(files=files):
            rows = "the rows" if files.row_count is None else f"{files.row_count} rows"
            return f"{rows} of {files.location}"
        case SelectSources(text=text):
            return f"the sources of {parts[0]} where {' '.join(text.split())}"
        case RestrictSources():
            return f"the sources of {parts[0]} that {parts[1]} has too"
        case ExcludeSources():
            return f"the sources of {parts[0]} that {parts[1]} does not have"
        case SampleSources(fraction=fraction, seed=seed):
            return f"a sample of the sources of {parts[0]}: a fraction of {fraction:g}, with seed {seed}"
        case KeepAttributes(names=kept):
            return f"{parts[0]}, only its attributes {listed(kept)}"
        case RenameAttributes(names=renamed):
            return f"{parts[0]}, with {listed([f'{old} renamed to {new}' for old, new in renamed])}"
        case DeriveAttributes(calculation=PythonCalculator() as calculator):
            return f"{parts[0]}, with {listed(calculator.names)} calculated by {calculator.function}"
        case DeriveAttributes(calculation=Expressions() as expressions):
            return f"{parts[0]}, with {listed([f'{one.name} = {one.text}' for one in expressions.outputs])}"
        case CombineAttributes():
            return f"the attributes of {listed(parts)}, for the sources they all have"
        case ConcatSources(overlap=overlap):
            first = "; the first of them that has a source gives its values" if overlap == "first" else ""
            return f"the sources of {listed(parts)} together{first}"
    raise AssertionError(catalog.kind)


def listed(words: Sequence[str], most: int = 12) -> str:
    """Return words as people list them.

    >>> listed(["hip"]), listed(["hip", "vmag", "plx"]), listed("abcde", most=3)
    ('hip', 'hip, vmag and plx', 'a, b, c and 2 more')
    """
    shown = [*words[:most], f"{len(words) - most} more"] if len(words) > most else [*words]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)
