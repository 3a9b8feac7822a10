"""A part of a lineage that a viewer unfolds step by step: chosen catalogs, proved equalities, and paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from provenn.archive.neighbourhood import picture_catalogs
from provenn.archive.questions import translate_contradictions
from provenn.database.transactions import Reading
from provenn.definitions.neighbours import read_definitions, walk_neighbours
from provenn.digests import CatalogDigest
from provenn.display.lineage_picture import LineageNode, LineagePicture
from provenn.knowledge.consequences import build_knowledge
from provenn.knowledge.stored_facts import read_closed_cone

__all__ = ["ExploredLineage", "explore_lineage", "find_path"]

_MOST_OPENED = 60
"""The most catalogs that unfolding a catalog once in a direction shows."""
_MOST_SHOWN = 300
_MOST_COMPARED = 24
"""The most different sets of sources that are compared for equality."""
_MOST_WALKED = 3000


@dataclass(frozen=True, slots=True)
class ExploredLineage:
    """A part of a lineage.

    Attributes
    ----------
    picture
        The catalogs, and the edges between them.
    equal
        Groups of catalogs with the same sources, each with at least two digests.
    is_compared
        Whether equality was also searched by proof, and not only by construction.
    path
        The digests along a path to another catalog; empty without one.
    is_full
        Whether catalogs that were unfolded do not fit into the picture.
    """

    picture: LineagePicture
    equal: tuple[tuple[str, ...], ...]
    is_compared: bool
    path: tuple[str, ...] = ()
    is_full: bool = False


def explore_lineage(
    reading: Reading,
    focus: CatalogDigest,
    *,
    up: Sequence[CatalogDigest],
    down: Sequence[CatalogDigest],
    path: Sequence[CatalogDigest],
    user_names: Mapping[CatalogDigest, str],
) -> ExploredLineage:
    """Return a catalog with what was unfolded around it.

    Parameters
    ----------
    reading
        The transaction.
    focus
        The catalog.
    up, down
        The catalogs of which the dependencies, or the dependents, are shown: 60 for each time that a catalog occurs.
    path
        Further catalogs to show.
    user_names
        The user's names of catalogs, by digest.
    """
    shown: dict[CatalogDigest, None] = {focus: None, **dict.fromkeys(path)}
    for digests, is_up in ((up, True), (down, False)):
        for digest, times in Counter(digests).items():
            most = min(_MOST_OPENED * times, _MOST_SHOWN + 1)
            shown[digest] = None
            shown |= dict.fromkeys(walk_neighbours(reading, [digest], up=is_up, depth=1, most=most))
    picture = picture_catalogs(reading, focus, list(shown)[:_MOST_SHOWN], user_names)
    groups, is_compared = _find_equal(reading, picture.nodes)
    return ExploredLineage(picture, groups, is_compared, tuple(path), len(shown) > _MOST_SHOWN)


def find_path(reading: Reading, start: CatalogDigest, end: CatalogDigest) -> list[CatalogDigest]:
    """Return the shortest path between two catalogs by way of what both are made from; empty if there is none.

    Catalogs have a path if one is made from the other, or both are made from a third. Only the nearest ancestors are
    searched, a few thousand of them.
    """
    above_start, above_end = (_walk_up(reading, digest) for digest in (start, end))
    common = above_start.keys() & above_end.keys()
    if not common:
        return []
    climbs = {digest: (_climb(above_start, digest), _climb(above_end, digest)) for digest in common}
    first, second = min(climbs.values(), key=lambda pair: (len(pair[0]) + len(pair[1]), pair))
    return [*first, *reversed(second[:-1])]


def _walk_up(reading: Reading, start: CatalogDigest) -> dict[CatalogDigest, CatalogDigest | None]:
    """Return the ancestors of a catalog and the catalog, each with the catalog from which it was reached first."""
    reached: dict[CatalogDigest, CatalogDigest | None] = {start: None}
    frontier = [start]
    while frontier and len(reached) < _MOST_WALKED:
        definitions = read_definitions(reading, frontier)
        frontier = []
        for definition in definitions.values():
            for dependency in definition.dependencies:
                if dependency not in reached:
                    reached[dependency] = definition.digest
                    frontier.append(dependency)
    return reached


def _climb(reached: Mapping[CatalogDigest, CatalogDigest | None], end: CatalogDigest) -> list[CatalogDigest]:
    """Return the way from the first catalog to an ancestor."""
    climbed, digest = [end], reached[end]
    while digest is not None:
        climbed.append(digest)
        digest = reached[digest]
    return climbed[::-1]


def _find_equal(reading: Reading, nodes: Sequence[LineageNode]) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """Return the groups of catalogs with the same sources, and whether proofs were searched."""
    by_extent: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        by_extent.setdefault((node.population, node.extent), []).append(node.id)
    is_compared = len(by_extent) <= _MOST_COMPARED
    first: dict[str, list[CatalogDigest]] = {}  # by population, the first member of each extent
    for (population, _), members in by_extent.items():
        first.setdefault(population, []).append(CatalogDigest(members[0]))
    same = _prove_equal(reading, [digests for digests in first.values() if len(digests) > 1]) if is_compared else {}
    groups: dict[str, list[str]] = {}
    for members in by_extent.values():
        groups.setdefault(same.get(members[0], members[0]), []).extend(members)
    return tuple(tuple(members) for members in groups.values() if len(members) > 1), is_compared


def _prove_equal(reading: Reading, populations: Sequence[Sequence[CatalogDigest]]) -> dict[str, str]:
    """Return for catalogs of some populations the first that is proved to have the same sources."""
    same: dict[str, str] = {}
    for digests in populations:
        with translate_contradictions(reading, {}):
            knowledge = build_knowledge(*read_closed_cone(reading, digests)).knowledge
            for digest in digests:
                if digest not in same:
                    same |= dict.fromkeys([digest, *knowledge.equal_to(digest)], digest)
    return same
