"""A selection: a criterion as a set, stored and restored without SQL, and usable as an extent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from provenn.catalogs.extent import Extent, build_extent, leaf
from provenn.catalogs.pieces import collect_member_extents, expand_criterion
from provenn.catalogs.schema import Attribute, Schema
from provenn.criteria import Atom, parse_criterion
from provenn.logic.terms import Op, Term

__all__ = ["Condition", "Selection"]

_OPERATORS = {op.value: op for op in Op}


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a selection.

    Parameters
    ----------
    extent
        The condition as a set of atoms, each evaluated on a row of the parent.
    criterion
        The criterion in canonical text, over identities.
    text
        The criterion in the user's wording.
    atoms
        The atoms of the selection.
    """

    extent: Extent
    criterion: str
    text: str
    atoms: tuple[Atom, ...]


def _parse(text: str, schema: Schema) -> Selection:
    criterion = parse_criterion(text, schema)
    return Selection(criterion.canonical, *expand_criterion(criterion, schema))


@lru_cache(maxsize=1_000)
def _parse_once(text: str, attributes: tuple[Attribute, ...]) -> Selection:
    """Return the selection by a criterion, remembered: a new version of a catalog often has the same attributes.

    Sound: without pieces, attributes that compare equal give a criterion the same meaning.
    """
    return _parse(text, Schema(attributes))


@dataclass(frozen=True, slots=True)
class Selection:
    """The set of the sources for which a criterion is TRUE.

    Parameters
    ----------
    criterion
        Its canonical text, over identities of attributes.
    true
        The set, over labels of atoms; after a concatenation also over digests of its members.
    atoms
        The atoms of the set, sorted by label.
    """

    criterion: str
    true: Term
    atoms: tuple[Atom, ...]

    @classmethod
    def of(cls, text: str, schema: Schema) -> Selection:
        """Parse a criterion on the attributes of a schema.

        Raises
        ------
        CriterionError
            If the criterion cannot be parsed, does not fit the types, or is not deterministic and row-wise.
        """
        has_pieces = any(attribute.pieces or attribute.derived_pieces for attribute in schema.attributes)
        if has_pieces or "moc" in text.lower():  # a criterion may name a file, whose content decides
            return _parse(text, schema)
        return _parse_once(text, schema.attributes)

    @classmethod
    def parse_canonical(cls, criterion: str, schema: Schema) -> Selection:
        """Parse the canonical text of a criterion, over identities of attributes, anew.

        Raises
        ------
        CriterionError
            If this is not a criterion on the attributes of the schema.
        """
        parsed = parse_criterion(criterion, schema.by_canonical_name, canonical=True)
        return cls(parsed.canonical, *expand_criterion(parsed, schema))

    def extent(self, schema: Schema) -> Extent:
        """Return the set as an extent; the schema gives the extents of members of concatenations."""
        known = {atom.label for atom in self.atoms}
        members = {} if known.issuperset(self.true.labels) else collect_member_extents(schema)
        return build_extent(self.true, lambda label: members.get(label) or leaf(label))

    def to_json(self) -> dict[str, Any]:
        """Return the selection as JSON. In a set, a label is a string, an operator a list of a single symbol."""
        return {
            "criterion": self.criterion,
            "true": _encode_term(self.true),
            "atoms": [_encode_atom(atom) for atom in self.atoms],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Selection:
        """Restore a selection from JSON."""
        atoms = tuple(
            Atom(label, term, tuple(cut) if isinstance(cut, list) else cut, tuple(map(_decode_term, inside)))
            for label, term, cut, inside in content["atoms"]
        )
        return cls(content["criterion"], _decode_term(content["true"]), atoms)


def _encode_atom(atom: Atom) -> list[Any]:
    return [atom.label, atom.term, atom.cut, [_encode_term(term) for term in atom.inside]]


def _encode_term(term: Term) -> list[Any]:
    return [token if isinstance(token, str) else [token.value] for token in term.postfix]


def _decode_term(tokens: Iterable[Any]) -> Term:
    return Term(tuple(token if isinstance(token, str) else _OPERATORS[token[0]] for token in tokens))
