"""The sets that references, groups and arrays define, in words: partners, first sources, elements.

``objid in bright`` are the sources whose partner is in bright, ``named by objid of detections`` the partners of
detections, and ``first 2 of each objid in detections by mjd DESC`` the two latest detections of each object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from provenn.catalogs import Catalog, Extent, cone
from provenn.catalogs.references import Reference, split_identity, split_label
from provenn.criteria import AttributeIdentity, abridged, backquoted, identities_in, plain_text
from provenn.digests import is_catalog_label
from provenn.display.text import join_words
from provenn.logic.statements import Property, SetComparison
from provenn.logic.terms import Op, Term

if TYPE_CHECKING:
    from provenn.logic import Statement

__all__ = [
    "MemberSets",
    "describe_criterion",
    "describe_reference_fact",
    "list_label_identities",
    "list_label_parts",
    "name_attribute",
    "negate_derived_set",
    "shorten_directions",
]

_IMAGE = re.compile(r"pointed (\[.*\]) from \(([0-9a-f]{64})\)", re.DOTALL)
_RANKING = re.compile(r"first\((\[.*\]), ([0-9a-f]{64})\) <= (\d+)", re.DOTALL)
_ELEMENTS = re.compile(r"elements\((\[.*\])\)", re.DOTALL)
_MEMBERS = re.compile(r"members\(([0-9a-f]{64})\)")
_SIMPLE_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", re.ASCII)
_DIRECTIONS = {" ASC NULLS FIRST": "", " DESC NULLS LAST": " DESC", " ASC NULLS LAST": " NULLS LAST"}
"""Directions in normal form, and as people write them."""

_SHORT = 12
_MOST_LEAVES = 8
"""The most sets of which a description of members is made; otherwise members have the beginning of their digest."""


def name_attribute(identity: AttributeIdentity, names: Mapping[AttributeIdentity, str]) -> str:
    """Return the name of an attribute; without a name, a path such as ``objid.vmag`` through references."""
    split = None if identity in names else split_identity(identity)
    if split is None:
        return names.get(identity, identity)
    reference, inner = split
    return f"{_name_all(reference.identities, names)}.{name_attribute(inner, names)}"


def _name_all(identities: Sequence[AttributeIdentity], names: Mapping[AttributeIdentity, str]) -> str:
    """Return the names of attributes; several of them in parentheses."""
    words = [name_attribute(identity, names) for identity in identities]
    return words[0] if len(words) == 1 else f"({', '.join(words)})"


def describe_criterion(label: str, attributes: Mapping[AttributeIdentity, str]) -> str:
    """Return the label of a criterion in usual SQL: attributes by name or path, numbers without type suffix.

    >>> describe_criterion("`v` < 6.0D", {"v": "vmag"})
    'vmag < 6'
    >>> describe_criterion('`via:[["d:objid"],"object","v"]` < 6.0D', {"v": "vmag", "d:objid": "objid"})
    'objid.vmag < 6'
    """
    paths = {
        identity: path
        for identity in identities_in(label)
        if identity not in attributes and (path := name_attribute(identity, attributes)) != identity
    }
    text = plain_text(label, {**attributes, **paths} if paths else attributes)
    for path in filter(_SIMPLE_PATH.fullmatch, paths.values()):
        text = text.replace(backquoted(path), path)
    return abridged(text)


def list_label_parts(label: str) -> Iterator[str]:
    """Yield the labels inside the label of a preimage, however deep: catalogs, and other sets."""
    split = split_label(label)
    while split is not None:
        yield split[1]
        split = split_label(split[1])


def list_label_identities(label: str) -> Iterator[AttributeIdentity]:
    """Yield the attributes that a label names, with all attributes on the paths through references."""
    if is_catalog_label(label):
        return
    pending = [*identities_in(label), *_list_path_identities(label)]
    while pending:
        identity = pending.pop()
        yield identity
        split = split_identity(identity)
        if split is not None:
            pending += [*split[0].identities, split[1]]


def _list_path_identities(label: str) -> list[AttributeIdentity]:
    """Return the attributes in the label of a set that a reference, a group or an array defines."""
    split = split_label(label)
    if split is not None:
        return [*split[0].identities, *_list_path_identities(split[1])]
    image, ranking, elements = (pattern.fullmatch(label) for pattern in (_IMAGE, _RANKING, _ELEMENTS))
    if ranking is not None:
        by, order = json.loads(ranking[1])
        return [*map(AttributeIdentity, by), *(identity for text in order for identity in identities_in(text))]
    if image is not None or elements is not None:
        content = json.loads((image or elements)[1])  # type: ignore[index] # one of the two is there
        return [AttributeIdentity(identity) for identity in content[0]]
    return []


@dataclass(frozen=True, slots=True)
class MemberSets:
    """The sets that labels name by the digest of an extent: the sources of catalogs, and members of groups.

    Parameters
    ----------
    catalogs
        The words for catalogs, by the digests of their extents.
    extents
        The members of groups, by digest.
    """

    catalogs: Mapping[str, str]
    extents: Mapping[str, Extent]

    @classmethod
    def of(cls, catalogs: Iterable[Catalog], words: Mapping[str, str]) -> MemberSets:
        """Collect the members of the groups that catalogs and their ancestors compare."""
        lineage = cone(*catalogs)
        named: dict[str, str] = {}
        extents: dict[str, Extent] = {}
        for catalog in lineage:
            word = words.get(catalog.digest)
            # Of several catalogs with the same sources, the first defines them; a name is better than a description.
            if word is not None and not catalog.digest.startswith(word):
                known = named.setdefault(catalog.extent.digest, word)
                if " " in known and " " not in word:
                    named[catalog.extent.digest] = word
            image, ranking = catalog.find_image(), catalog.find_ranking()
            groups = [] if image is None else [image, *image.parts]
            extents |= {group.members.digest: group.members for group in groups}
            if ranking is not None:
                extents[ranking.members.digest] = ranking.members
        return cls(named, extents)

    def describe(self, label: str, word: Callable[[str], str], names: Mapping[AttributeIdentity, str]) -> str | None:
        """Return the words for a set that a reference, a group or an array defines; None for any other set."""
        split = split_label(label)
        if split is not None:
            path, target = _follow_path(split, names)
            named = word(target)
            return f"{path} {named}" if _IMAGE.fullmatch(target) else f"{path} in {_bracket(named)}"
        if image := _IMAGE.fullmatch(label):
            by = _name_all([AttributeIdentity(identity) for identity in json.loads(image[1])[0]], names)
            return f"named by {by} of {self._describe_members(image[2], word)}"
        if ranking := _RANKING.fullmatch(label):
            return self._describe_ranking(json.loads(ranking[1]), ranking[2], int(ranking[3]), word, names)
        if elements := _ELEMENTS.fullmatch(label):
            arrays = [AttributeIdentity(identity) for identity in json.loads(elements[1])[0]]
            return f"elements of {join_words([name_attribute(array, names) for array in arrays])}"
        members = _MEMBERS.fullmatch(label)
        return None if members is None else self._describe_members(members[1], word)

    def _describe_ranking(
        self,
        content: Sequence[Any],
        members: str,
        number: int,
        word: Callable[[str], str],
        names: Mapping[AttributeIdentity, str],
    ) -> str:
        """Return the words for the first sources of groups."""
        by, order = content
        first = "first" if number == 1 else f"first {number}"
        groups = _name_all([AttributeIdentity(identity) for identity in by], names)
        ordered = ", ".join(describe_criterion(shorten_directions(text), names) for text in order)
        return f"{first} of each {groups} in {self._describe_members(members, word)} by {ordered}"

    def _describe_members(self, digest: str, word: Callable[[str], str]) -> str:
        """Return the words for the members of groups: a catalog with these sources, or the parts of their set."""
        if digest in self.catalogs:
            return _bracket(self.catalogs[digest])
        extent = self.extents.get(digest)
        if extent is None or len(extent.labels) > _MOST_LEAVES:
            return digest[:_SHORT]
        return _bracket(_describe_extent(extent, word))


def _follow_path(split: tuple[Reference, str], names: Mapping[AttributeIdentity, str]) -> tuple[str, str]:
    """Return the path of a preimage in words, and the label at its end."""
    reference, target = split
    path = _name_all(reference.identities, names)
    further = split_label(target)
    if further is None:
        return path, target
    rest, end = _follow_path(further, names)
    return f"{path}.{rest}", end


def shorten_directions(text: str) -> str:
    """Return a canonical text without the directions that an order has anyway.

    >>> shorten_directions("collect(`d:mag` ORDER BY `d:mjd` DESC NULLS LAST, `d:id` ASC NULLS FIRST)")
    'collect(`d:mag` ORDER BY `d:mjd` DESC, `d:id`)'
    """
    for direction, short in _DIRECTIONS.items():
        text = text.replace(direction, short)
    return text


def _describe_extent(extent: Extent, word: Callable[[str], str]) -> str:
    """Return a set of sources in words: catalogs first, then conditions."""
    if extent.label is not None:
        return f"not {_bracket(word(extent.label))}" if extent.complemented else word(extent.label)
    if extent.complemented:
        return " or ".join(sorted(_bracket(_describe_extent(~part, word)) for part in extent.parts))
    catalogs = sorted(
        word(part.label)
        for part in extent.parts
        if part.label is not None and is_catalog_label(part.label) and not part.complemented
    )
    conditions = [
        _bracket(_describe_extent(part, word)) if part.label is None else _describe_extent(part, word)
        for part in extent.parts
        if part.label is None or not is_catalog_label(part.label) or part.complemented
    ]
    together = " & ".join(catalogs)
    return " where ".join(filter(None, [together, " and ".join(sorted(conditions))])) or "all"


def _bracket(text: str) -> str:
    """Return text of several words in parentheses."""
    return f"({text})" if " " in text else text


def negate_derived_set(words: str) -> str:
    """Return the words for the sources outside a set that a reference, a group or an array defines.

    >>> negate_derived_set("objid in bright"), negate_derived_set("named by objid of detections")
    ('objid not in bright', 'not named by objid of detections')
    """
    path, is_preimage, target = words.partition(" in ")
    return f"{path} not in {target}" if is_preimage and " " not in path else f"not {words}"


def describe_reference_fact(statement: Statement) -> str:
    """Return why a fact about partners, or about first sources, follows from the laws of references."""
    labels = statement.labels

    def is_lifted(region: Term) -> bool:
        return region.label is not None and split_label(region.label) is not None

    match statement:
        case Property():
            return "without members there is no group"
        case SetComparison("==", right=right):
            if right.label is not None:
                return "every group has a first source"
            if any(token is Op.OR for token in right.postfix):
                return "the partners of a union are those of its members"
            return "a condition on the groups selects whole groups"
        case SetComparison(left=left, right=right):
            if any(_RANKING.fullmatch(label) for label in labels):
                return "the first sources of each group stay the first among fewer"
            if is_lifted(left) and is_lifted(right):
                return "every partner of the one is a partner of the other"
            if left.label is None or _IMAGE.fullmatch(left.label) is None:
                return "a source with a partner names it"
            if any(token is Op.OR for token in right.postfix):
                return "the partners of a union are those of its members"
            if right.label is not None and _IMAGE.fullmatch(right.label):
                return "every partner of the one is a partner of the other"
            return "every source that names them names one of these"
    return "by the reference"
