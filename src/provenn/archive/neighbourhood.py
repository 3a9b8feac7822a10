"""The catalogs around a catalog, as a picture: what it is made from, and what is made from it, a few steps far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from provenn.archive.lineage import part_held, tree_lines
from provenn.archive.sentences import told
from provenn.archive.words import SHORT
from provenn.display.lineage import LineageNode, LineagePicture, lineage_svg
from provenn.errors import PictureError, did_you_mean
from provenn.store import fragments, names
from provenn.store.catalog_store import get_all
from provenn.store.cones import Definition
from provenn.store.database import Reading
from provenn.store.neighbours import definitions, dependent_counts, walk

__all__ = ["Direction", "Neighbourhood", "neighbourhood_of"]

Direction = Literal["up", "down", "both"]

LARGEST = 1000
"""How many catalogs a picture may show."""

_AFFORDABLE = 400
"""How many ancestors are looked at to tell how many attributes a catalog has."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A catalog, and some of what it is made from and of what is made from it.

    Attributes
    ----------
    focus
        Its digest.
    picture
        What there is to see: `nodes`, the catalog first and then the others by distance, and `edges`, from what a
        catalog is made from to the catalog.
    """

    focus: str
    picture: LineagePicture

    def svg(self, link: Callable[[str, str], str] | None = None, *, inline: bool = False) -> str:
        """Draw it.

        Parameters
        ----------
        link
            Where a catalog's page is, given its digest and what it is called; without it, nothing is a link.
        inline
            Whether it is put in a page, whose colours it takes.
        """
        nodes = self.picture.nodes
        if link is not None:
            nodes = tuple(replace(one, link=link(one.id, one.name)) for one in nodes)
        return lineage_svg(replace(self.picture, nodes=nodes), inline=inline)

    def tree(self, *, up: bool) -> str:
        """Return what the catalog is made from, or what is made from it, as a tree. Nothing is shown twice."""
        nodes = {one.id: one for one in self.picture.nodes}
        below: dict[str, list[str]] = {}
        for dependency, dependent in self.picture.edges:
            one, other = (dependent, dependency) if up else (dependency, dependent)
            below.setdefault(one, []).append(other)

        def line(digest: str) -> str:
            node = nodes[digest]
            more = node.above if up else node.below
            return f"{node.name}: {node.what}" + f" (and {more:,} more)" * bool(more)

        return "\n".join(tree_lines(self.focus, below, line, lambda digest: nodes[digest].name))

    def __str__(self) -> str:
        return self.tree(up=True)

    def _repr_html_(self) -> str:
        return self.svg(inline=True)


def neighbourhood_of(
    reading: Reading, digest: str, asked: Mapping[str, str], *, depth: int, direction: Direction, most: int
) -> Neighbourhood:
    """Return the neighbourhood of a catalog of the archive.

    Parameters
    ----------
    reading
        The transaction.
    digest
        The catalog.
    asked
        What the user calls some catalogs, by digest.
    depth, direction
        How many steps to go, and where to.
    most
        How many catalogs to show. Of both directions each may have half; the nearest are shown.

    Raises
    ------
    PictureError
        If there is no such depth, direction or number.
    """
    _check(depth, direction, most)
    up = walk(reading, [digest], up=True, depth=depth, most=most - 1) if direction != "down" else []
    down = walk(reading, [digest], up=False, depth=depth, most=most - 1) if direction != "up" else []
    up = up[: max((most - 1) // 2, most - 1 - len(down))]
    shown = definitions(reading, [digest, *up, *down[: most - 1 - len(up)]])
    made = dependent_counts(reading, shown)
    edges = tuple(
        (part, one.digest) for one in shown.values() for part in dict.fromkeys(one.dependencies) if part in shown
    )
    below: dict[str, int] = {}
    for part, _ in edges:
        below[part] = below.get(part, 0) + 1
    word = _words(reading, shown.values(), asked)
    stored = _stored(reading, shown)
    nodes = tuple(
        LineageNode(
            id=one.digest,
            name=word[one.digest],
            kind=one.kind,
            what=told(one.kind, one.parameters, one.notes, [word[part] for part in one.dependencies]),
            extent=one.extent,
            stored=stored.get(one.digest, 0.0),
            focus=one.digest == digest,
            above=len(set(one.dependencies) - shown.keys()),
            below=made.get(one.digest, 0) - below.get(one.digest, 0),
        )
        for one in shown.values()
    )
    return Neighbourhood(digest, LineagePicture(f"The lineage around {word[digest]}", nodes, edges))


def _check(depth: int, direction: str, most: int) -> None:
    known = get_args(Direction)
    if direction not in known:
        hint = did_you_mean(str(direction), known) or f"there are {', '.join(known)}"
        raise PictureError(f"a lineage has no direction {direction!r}", hint=hint)
    if not isinstance(depth, int) or depth < 0:
        raise PictureError(f"a lineage cannot be {depth!r} steps deep", hint="a whole number from 0 on")
    if not isinstance(most, int) or not 1 <= most <= LARGEST:
        raise PictureError(f"a picture cannot show {most!r} catalogs", hint=f"a whole number from 1 to {LARGEST}")


def _words(reading: Reading, shown: Iterable[Definition], asked: Mapping[str, str]) -> dict[str, str]:
    digests = {digest: None for one in shown for digest in (one.digest, *one.dependencies)}
    named = names.names_of(reading, digests)
    return {digest: named[digest][0] if digest in named else digest[:SHORT] for digest in digests} | dict(asked)


def _stored(reading: Reading, shown: Mapping[str, Definition]) -> dict[str, float | None]:
    """Return which share of the attributes of catalogs is stored, by digest; of those of which anything is.

    Where a lineage is too long to tell how many attributes there are, it is None.
    """
    held = fragments.held(reading, {one.extent for one in shown.values()})
    found = [one.digest for one in shown.values() if one.extent in held]
    if not found:
        return {}
    if len(walk(reading, found, up=True, depth=None, most=_AFFORDABLE)) == _AFFORDABLE:
        return dict.fromkeys(found)
    catalogs = get_all(reading, found)
    return {digest: part_held(catalogs[digest], held) for digest in found}
