"""A selection: a criterion as a set that can be stored, read again without SQL, and taken for an extent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from provenn.catalogs.extent import Extent, extent_of, leaf
from provenn.catalogs.pieces import expanded, member_extents
from provenn.catalogs.schema import Schema
from provenn.criteria import Atom, parse_criterion
from provenn.logic.terms import Op, Term

__all__ = ["Selection"]

_OPERATORS = {op.value: op for op in Op}


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
        What it is made of, sorted by label.
    """

    criterion: str
    true: Term
    atoms: tuple[Atom, ...]

    @classmethod
    def of(cls, text: str, schema: Schema) -> Selection:
        """Read a criterion on the attributes of a schema.

        Raises
        ------
        CriterionError
            If it cannot be read, does not fit the types, or is not deterministic and row-wise.
        """
        criterion = parse_criterion(text, schema)
        true, atoms = expanded(criterion, schema)
        return cls(criterion.canonical, true, atoms)

    def extent(self, schema: Schema) -> Extent:
        """Return the set as an extent; members of concatenations are known from the schema."""
        known = {atom.label for atom in self.atoms}
        members = {} if known.issuperset(self.true.labels) else member_extents(schema)
        return extent_of(self.true, lambda label: members.get(label) or leaf(label))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON. In a set, a label is a string, an operator a list of its one symbol."""
        return {"criterion": self.criterion, "true": _written(self.true), "atoms": [_atom(one) for one in self.atoms]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Selection:
        """Read it from JSON."""
        atoms = tuple(
            Atom(label, term, tuple(cut) if isinstance(cut, list) else cut, tuple(map(_read, inside)))
            for label, term, cut, inside in content["atoms"]
        )
        return cls(content["criterion"], _read(content["true"]), atoms)


def _atom(atom: Atom) -> list[Any]:
    return [atom.label, atom.term, atom.cut, [_written(one) for one in atom.inside]]


def _written(term: Term) -> list[Any]:
    return [token if isinstance(token, str) else [token.value] for token in term.postfix]


def _read(tokens: Iterable[Any]) -> Term:
    return Term(tuple(token if isinstance(token, str) else _OPERATORS[token[0]] for token in tokens))
