"""Ingesting a core in HATS with its layers, which hold further attributes of the same sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from provenn.archive.context import Context
from provenn.archive.new_catalogs import define_catalog, ingest_base
from provenn.catalogs import Base, Population, cone, list_bases, verbs
from provenn.catalogs import Catalog as Definition
from provenn.database.transactions import Reading, Writing
from provenn.definitions import catalog_names, catalog_store, populations
from provenn.definitions.stored_file_bounds import record_file_parts
from provenn.digests import CatalogDigest, content_digest
from provenn.errors import BaseFilesError, CatalogNameError, FilesChangedError
from provenn.files.hats import find_pixel
from provenn.files.hats_layers import HatsParts, read_parts
from provenn.files.listing import make_absolute
from provenn.hints import Hint
from provenn.knowledge.observations import observe_fact
from provenn.logic import equal

__all__ = ["ingest_layers"]


def ingest_layers(
    context: Context,
    name: str,
    path: object,
    layers: Sequence[str | PathLike[str]],
    *,
    key: str | Sequence[str] | None,
    population: str,
    **options: Any,  # noqa: ANN401 - those of ingest_base
) -> Definition:
    """Define the combination of a core and its layers; see `Archive.ingest`.

    The keys of all parts are compared first. If they are the same, core and layers have the same sources: this becomes
    an observed fact, on which proofs rest.

    Raises
    ------
    FormatError
        If the core or a layer is no folder in HATS.
    KeyValuesError
        If a layer does not have the keys of the core.
    KeyColumnsError
        If the key of a layer has another type.
    BaseFilesError
        If the core has no key, or a layer has no further columns.
    FilesChangedError
        If files changed meanwhile.
    CatalogNameError
        If the name belongs to a catalog that is no such combination.
    """
    if key is None or not isinstance(path, str | PathLike):
        raise BaseFilesError("a core with layers is a folder in HATS with a key", hint="name the folder and its key")
    key_names = [key] if isinstance(key, str) else list(key)
    places = [make_absolute(layer) for layer in layers]
    core, *others = [read_parts(place) for place in (path, *places)]
    columns = _choose_columns(core, others)
    context.read(_check_name, name)
    rows = [context.workshop.compare_layer(core, layer, key_names) for layer in others]
    _check_bases(context, (path, *places), key_names, population, options)
    sources = {"key": key_names, "population": population, **options}
    bases = [
        ingest_base(context, base_name, place, **sources)
        for base_name, place in zip(_name_bases(name, others), (path, *places), strict=True)
    ]
    parts = [_find_parts(context, base) for base in bases]
    # The fact is about the contents that were ingested: nothing changed between comparing and ingesting.
    if [read_parts(place).files for place in (path, *places)] != [folder.files for folder in (core, *others)]:
        raise FilesChangedError(f"files of {name} changed while they were read", hint="ingest them again")
    context.workshop.check_bases(list_bases(bases))
    context.write(_observe_same_sources, [base.digest for base in bases], rows)
    context.write(_record_shared_parts, bases, parts)
    kept = [verbs.keep(base, names) for base, names in zip(bases[1:], columns, strict=True)]
    combined = verbs.combine(bases[0], *kept)
    define_catalog(context, combined, name)
    return combined


def _check_name(reading: Reading, name: str) -> None:
    """Make sure that a name is free, or that its catalog is made of the core of this name.

    Raises
    ------
    CatalogNameError
        If the name belongs to another catalog.
    """
    earlier, core = (catalog_names.find_named_digest(reading, text) for text in (name, _name_core(name)))
    if earlier is None:
        catalog_names.check_new_name(name)
        return
    bases = list_bases(cone(catalog_store.get_catalog(reading, earlier)))
    if core not in {base.digest for base in bases}:
        raise CatalogNameError(
            f"{name} already names a catalog that is not made of a core and its layers", hint="choose another name"
        )


def _check_bases(
    context: Context,
    places: Sequence[str | PathLike[str]],
    key: Sequence[str],
    population: str,
    options: Mapping[str, Any],
) -> None:
    """Make sure that a core and its layers can be base catalogs of one population, before any of them is named.

    The digests of their files are remembered, so that ingesting them reads these files no second time.
    """
    inspecting = {name: options[name] for name in ("format", "schema", "options", "null", "trust") if name in options}
    known: str | Population = context.read(populations.find_population, population) or population
    for place in places:
        known = Base.of(context.workshop.inspect_files(place, **inspecting), key=key, population=known).population


def _choose_columns(core: HatsParts, layers: Sequence[HatsParts]) -> list[list[str]]:
    """Return the columns of each layer that the core lacks.

    Raises
    ------
    BaseFilesError
        If a layer has none, or two layers have a column of the same name.
    """
    folders: dict[str, str] = {}
    columns = []
    for layer in layers:
        columns.append([name for name in layer.columns if name not in core.columns])
        if not columns[-1]:
            raise BaseFilesError(f"{layer.folder} has no column that {core.folder} lacks", hint="omit this layer")
        for name in columns[-1]:
            if name in folders:
                raise BaseFilesError(
                    f"the layers {folders[name]} and {layer.folder} both have a column {name}",
                    hint=Hint(
                        "ingest one of them apart, rename() the column, and combine()",
                        command="ingest one of them apart, rename the column with `provenn rename`, and combine them",
                    ),
                )
            folders[name] = layer.folder
    return columns


def _name_bases(name: str, layers: Sequence[HatsParts]) -> list[str]:
    """Return the names of the core and of each layer, which follow the names of their folders."""
    return [_name_core(name), *(f"{name} layer {layer.folder.rpartition('/')[2]}" for layer in layers)]


def _name_core(name: str) -> str:
    return f"{name} core"


def _find_parts(context: Context, base: Definition) -> list[str]:
    """Return the part of each file of a core or layer, in the order of the fingerprints; empty if not all are known.

    The names of the files are read again: a definition may be older, and files may have been renamed since.
    """
    if not isinstance(base, Base) or base.joins or base.part_of:
        return []
    names = context.workshop.compute_fingerprints(base.files.location, base.files)
    if sorted(names.values()) != sorted(text for _, text in base.files.fingerprints):
        return []
    parts = {text: find_pixel(name) for name, text in names.items()}
    return ["{}/{}".format(*part) for _, part in sorted(parts.items()) if part]


def _record_shared_parts(writing: Writing, bases: Sequence[Definition], parts: Sequence[Sequence[str]]) -> None:
    """Record in which parts a core and its layers have the same keys, so that plans skip files of a layer."""
    division = content_digest("parts of a core", list(parts[0]))
    for base, own in zip(bases, parts, strict=True):
        if isinstance(base, Base) and len(own) == len(base.files.fingerprints):
            record_file_parts(writing, base, bases[0].digest, division, own)


def _observe_same_sources(writing: Writing, bases: Sequence[CatalogDigest], rows: Sequence[int]) -> None:
    """Record that a core and its layers have the same sources."""
    core, *layers = bases
    for layer, number in zip(layers, rows, strict=True):
        observe_fact(writing, equal(core, layer), f"{number:,} keys compared in the parts of core and layer")
