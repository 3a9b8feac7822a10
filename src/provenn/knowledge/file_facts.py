"""Facts from the statements of the files of base catalogs about themselves: the bounds of their columns.

Only columns in conditions are considered, so an archive pays for no further columns. The key is a special case:
several base catalogs of a population have the same key, and keys in different ranges are different sources.

Sound: bounds hold for every row of files with known content (`provenn.files.column_bounds`), a source of a base
catalog is a row of its files, and a row of a file has the same values in every version with this file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

from provenn.catalogs.population import Population
from provenn.catalogs.schema import make_own_identity
from provenn.criteria import Atom, AttributeIdentity, backquoted, identities_in
from provenn.criteria.bound_facts import BoundFacts, state_bounds
from provenn.criteria.pixel_facts import state_pixels
from provenn.criteria.term_reading import FindAttribute
from provenn.definitions.ancestors import StoredDefinition
from provenn.digests import CatalogDigest
from provenn.files.column_bounds import BOUNDS, PIXELS, decode_bounds, open_bounds
from provenn.files.fingerprints import find_basis
from provenn.files.type_names import restore_type
from provenn.logic import Statement

__all__ = ["FileFact", "FileFacts", "StatedFacts", "read_pixels"]

_MOST_KEYS = 400
"""The most base catalogs of a population whose keys are compared by their bounds."""


Where = Literal["footers", "folders", "pixels"]
"""Where files state bounds: in their footers, in the names of their folders, or in their pixels of the sky."""


class FileFact(NamedTuple):
    """A fact stated by files: its place, and the base catalog of the files."""

    statement: Statement
    where: Where
    catalog: CatalogDigest


class StatedFacts(Protocol):
    """The facts stated by files about the attributes in conditions."""

    def state(self, atoms: Collection[Atom], /) -> tuple[list[FileFact], list[Atom]]:
        """Return the facts about the attributes of atoms, and the further atoms in these facts."""


def _find_origin(base: StoredDefinition) -> CatalogDigest:
    """Return the digest of the base catalog that defines the attributes of a base catalog; see `Base.origin`."""
    return base.parameters.get("continues") or base.parameters.get("part_of") or base.digest


def _state_pixels(base: StoredDefinition, bounds: Mapping[str, str], atoms: Iterable[Atom]) -> list[FileFact]:
    """Return the facts from the pixels of a base catalog in HATS; empty for a base catalog in another format."""
    kinds = {name: kind for name, kind, _ in base.parameters["columns"]}
    position, pixels = read_pixels(bounds.get(PIXELS, ""), kinds, base.parameters["key"], _find_origin(base))
    if not pixels:
        return []
    return [FileFact(fact, "pixels", base.digest) for fact in state_pixels(base.digest, position, pixels, atoms)]


def read_pixels(text: str, kinds: Mapping[str, str], key: Collection[str], origin: CatalogDigest) -> tuple[str, str]:
    """Return the canonical text of the position in HATS, and the pixels; empty texts if these say nothing.

    Parameters
    ----------
    text
        The columns of the position and the pixels in stored form; empty for files that are not in HATS.
    kinds
        The names of types by column.
    key
        The columns of the key.
    origin
        The digest of the base catalog that defines the attributes.
    """
    if not text:
        return "", ""
    ra, dec, pixels = json.loads(text)
    if {kinds.get(ra), kinds.get(dec)} != {"double"} or {ra, dec} & {*key}:
        return "", ""  # of another type, the canonical text of the position is another
    return ", ".join(backquoted(make_own_identity(origin, column)) for column in (ra, dec)), str(pixels)


class FileFacts:
    """The facts stated by the files of base catalogs about the attributes in conditions.

    Parameters
    ----------
    definitions
        The definitions of catalogs; those of base catalogs whose notes hold bounds are used.
    find_attribute
        Returns what is known of an attribute.
    """

    def __init__(self, definitions: Iterable[StoredDefinition], find_attribute: FindAttribute) -> None:
        self._bases = [definition for definition in definitions if definition.is_base and definition.notes.get(BOUNDS)]
        self._find_attribute = find_attribute

    def state(self, atoms: Collection[Atom]) -> tuple[list[FileFact], list[Atom]]:
        """Return the facts about the attributes of atoms and about keys, and the further atoms in these facts."""
        if not self._bases:
            return [], []
        identities = {identity for atom in atoms for identity in identities_in(atom.term)}
        facts: list[FileFact] = []
        added: dict[str, Atom] = {}
        for base in self._bases:
            columns = self._find_columns(base, identities)
            bounds = open_bounds(base.parameters["files"], base.notes[BOUNDS]) if columns else {}
            for column, identity in columns.items():
                if column in bounds:
                    stated = self._state_column(base, column, identity, bounds[column])
                    added.update((atom.label, atom) for atom in stated.atoms)
                    where: Where = "folders" if column in base.parameters["partitions"] else "footers"
                    facts += [FileFact(statement, where, base.digest) for statement in stated.facts]
            facts += _state_pixels(base, bounds, atoms)
        return facts, list(added.values())

    def _find_columns(
        self, base: StoredDefinition, identities: Collection[AttributeIdentity]
    ) -> dict[str, AttributeIdentity]:
        """Return the columns of a base catalog with one of some identities, and the columns of a shared key."""
        if find_basis(base.notes["fingerprints"].values()) not in ("content", "store"):
            return {}
        name, types = base.parameters["population"]
        is_shared = 1 < self._bases_of_populations[name] <= _MOST_KEYS
        population = Population(name, tuple(map(restore_type, types)))
        keys = {column: population.key_identity(place) for place, column in enumerate(base.parameters["key"])}
        columns = {column: key for column, key in keys.items() if is_shared or key in identities}
        origin = _find_origin(base)
        own = {column: make_own_identity(origin, column) for column, *_ in base.parameters["columns"]}
        return columns | {
            column: identity for column, identity in own.items() if column not in keys and identity in identities
        }

    @cached_property
    def _bases_of_populations(self) -> Counter[str]:
        """The number of base catalogs with bounds of each population."""
        return Counter(base.parameters["population"][0] for base in self._bases)

    def _state_column(self, base: StoredDefinition, column: str, identity: AttributeIdentity, text: str) -> BoundFacts:
        """Return the facts about a column, from the bounds in stored form."""
        attribute = self._find_attribute(identity)
        kind = next(kind for name, kind, _ in base.parameters["columns"] if name == column)
        bounds = decode_bounds(text, restore_type(kind))
        if attribute is None:
            return BoundFacts((), ())
        return state_bounds(
            base.digest,
            attribute,
            low=bounds.low,
            end=bounds.end,
            has_nulls=bounds.has_nulls,
            has_values=bounds.has_values,
        )
