"""The pieces of attributes that are calculated, row by row, from attributes in pieces.

A source has the value of the first member that holds it. A calculation that looks at one row has the same result
for this source as on the member's own attributes. So the result is in pieces as well: in each member, the result of the
same calculation there. The identity of the result stays the same, but values stored for a member can be reused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from provenn.catalogs.schema import Attribute, AttributePiece
from provenn.criteria import AttributeIdentity

__all__ = ["divide_attribute"]

Derivation = Callable[[Mapping[AttributeIdentity, Attribute]], Attribute]
"""Makes the result of a calculation from the attributes that stand for its inputs."""


def divide_attribute(result: Attribute, inputs: Sequence[Attribute], derive: Derivation) -> Attribute:
    """Return the result of a row-wise calculation, in pieces if its inputs are in pieces of one list of members.

    Inputs without pieces are the same attributes in all members. Inputs of different concatenations have no common
    list of members: then the result stays whole, which is less to reuse, and never wrong.

    Parameters
    ----------
    result
        The attribute that the calculation gives.
    inputs
        The attributes that the calculation reads.
    derive
        Returns the result for other attributes in place of the inputs, by the identities of the inputs.
    """
    divided = [attribute for attribute in inputs if attribute.pieces or attribute.derived_pieces is not None]
    if not divided or result.pieces:
        return result

    @cache
    def make_pieces() -> tuple[AttributePiece, ...]:
        pieces = divided[0].all_pieces
        if len({attribute.members for attribute in divided}) > 1:
            return ()
        return tuple(
            replace(piece, attribute=derive(_choose_pieces(inputs, position))) for position, piece in enumerate(pieces)
        )

    return replace(result, derived_pieces=make_pieces)


def _choose_pieces(inputs: Sequence[Attribute], position: int) -> dict[AttributeIdentity, Attribute]:
    """Return the inputs as the member at a position has them, by the identities of the inputs."""
    return {
        attribute.identity: pieces[position].attribute if (pieces := attribute.all_pieces) else attribute
        for attribute in inputs
    }
