"""The neighbourhood of a catalog as a picture: ancestors and descendants within a few steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from provenn.archive.stored_shares import measure_stored_share
from provenn.catalogs.population import make_plural
from provenn.catalogs.restoring import find_class
from provenn.data import fragments
from provenn.database.transactions import Reading
from provenn.definitions import catalog_names
from provenn.definitions.ancestors import StoredDefinition
from provenn.definitions.catalog_store import get_catalogs
from provenn.definitions.neighbours import count_dependents, read_definitions, walk_neighbours
from provenn.digests import CatalogDigest
from provenn.display.lineage_picture import LineageNode, LineagePicture, lineage_svg
from provenn.display.text_tree import format_tree_lines
from provenn.errors import PictureError, did_you_mean
from provenn.words.definition_words import describe_stored_definition
from provenn.words.vocabulary import SHORT

__all__ = ["Direction", "Neighbourhood", "find_neighbourhood", "picture_catalogs"]

Direction = Literal["up", "down", "both"]

LARGEST = 1000
"""The largest number of catalogs in a picture."""

_AFFORDABLE = 400
"""The largest number of ancestors that are read to count the attributes of catalogs."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A catalog with some ancestors and descendants.

    Attributes
    ----------
    focus
        The digest of the catalog.
    picture
        The picture: `nodes`, the catalog first and then the others by distance, and `edges`, from a dependency to its
        dependent.
    """

    focus: str
    picture: LineagePicture

    def svg(self, link: Callable[[str, str], str] | None = None, *, inline: bool = False) -> str:
        """Draw the picture.

        Parameters
        ----------
        link
            Returns the address of a catalog's page from its digest and name; without `link`, there are no links.
        inline
            Whether to use the colours of the surrounding page.
        """
        nodes = self.picture.nodes
        if link is not None:
            nodes = tuple(replace(node, link=link(node.id, node.name)) for node in nodes)
        return lineage_svg(replace(self.picture, nodes=nodes), inline=inline)

    def tree(self, *, up: bool) -> str:
        """Return the ancestors (`up`) or descendants of the catalog as a tree; a subtree is shown only once."""
        nodes = {node.id: node for node in self.picture.nodes}
        below: dict[str, list[str]] = {}
        for dependency, dependent in self.picture.edges:
            parent, child = (dependent, dependency) if up else (dependency, dependent)
            below.setdefault(parent, []).append(child)

        def line(digest: str) -> str:
            node = nodes[digest]
            more = node.above if up else node.below
            return f"{node.name}: {node.what}" + f" (and {more:,} more)" * bool(more)

        return "\n".join(format_tree_lines(self.focus, below, line, lambda digest: nodes[digest].name))

    def __str__(self) -> str:
        return self.tree(up=True)

    def _repr_html_(self) -> str:
        return self.svg(inline=True)


def find_neighbourhood(
    reading: Reading,
    digest: CatalogDigest,
    user_names: Mapping[CatalogDigest, str],
    *,
    depth: int,
    direction: Direction,
    most: int,
) -> Neighbourhood:
    """Return the neighbourhood of a catalog of the archive.

    Parameters
    ----------
    reading
        The transaction.
    digest
        The digest of the catalog.
    user_names
        The user's names of catalogs, by digest.
    depth, direction
        The number of steps, and the direction.
    most
        The largest number of catalogs to show. With both directions, each may have half; the nearest are shown.

    Raises
    ------
    PictureError
        If the depth, direction or number is invalid.
    """
    _check_arguments(depth, direction, most)
    up = walk_neighbours(reading, [digest], up=True, depth=depth, most=most - 1) if direction != "down" else []
    down = walk_neighbours(reading, [digest], up=False, depth=depth, most=most - 1) if direction != "up" else []
    up = up[: max((most - 1) // 2, most - 1 - len(down))]
    picture = picture_catalogs(reading, digest, [digest, *up, *down[: most - 1 - len(up)]], user_names)
    return Neighbourhood(digest, picture)


def picture_catalogs(
    reading: Reading,
    digest: CatalogDigest,
    digests: Collection[CatalogDigest],
    user_names: Mapping[CatalogDigest, str],
) -> LineagePicture:
    """Return chosen catalogs around a catalog as a picture; neighbours that are not chosen are counted.

    Parameters
    ----------
    reading, digest, user_names
        As for `find_neighbourhood`.
    digests
        The catalogs of the picture, with the catalog that it is about.
    """
    shown = read_definitions(reading, digests)
    dependent_totals = count_dependents(reading, shown)
    edges = tuple(
        (part, definition.digest)
        for definition in shown.values()
        for part in dict.fromkeys(definition.dependencies)
        if part in shown
    )
    below: dict[CatalogDigest, int] = {}
    for part, _ in edges:
        below[part] = below.get(part, 0) + 1
    word = _choose_names(reading, shown.values(), user_names)
    stored = _measure_stored_shares(reading, shown)
    nodes = tuple(
        LineageNode(
            id=definition.digest,
            name=word[definition.digest],
            kind=definition.kind,
            word=find_class(definition.kind).profile.word,
            shape=find_class(definition.kind).profile.shape,
            what=describe_stored_definition(
                definition.kind,
                definition.parameters,
                definition.notes,
                [word[part] for part in definition.dependencies],
            ),
            extent=definition.extent,
            stored=stored.get(definition.digest, 0.0),
            focus=definition.digest == digest,
            above=len(set(definition.dependencies) - shown.keys()),
            below=dependent_totals.get(definition.digest, 0) - below.get(definition.digest, 0),
            population=make_plural(definition.population),
        )
        for definition in shown.values()
    )
    return LineagePicture(f"The lineage around {word[digest]}", nodes, edges)


def _check_arguments(depth: int, direction: str, most: int) -> None:
    """Raise `PictureError` if the depth, direction or number is invalid."""
    directions = get_args(Direction)
    if direction not in directions:
        hint = did_you_mean(str(direction), directions) or f"there are {', '.join(directions)}"
        raise PictureError(f"expected a direction of lineage, got {direction!r}", hint=hint)
    if not isinstance(depth, int) or depth < 0:
        raise PictureError(f"expected a number of steps, got {depth!r}", hint="pass a whole number, 0 or more")
    if not isinstance(most, int) or not 1 <= most <= LARGEST:
        raise PictureError(
            f"expected a number of catalogs, got {most!r}", hint=f"pass a whole number from 1 to {LARGEST}"
        )


def _choose_names(
    reading: Reading, shown: Iterable[StoredDefinition], user_names: Mapping[CatalogDigest, str]
) -> dict[CatalogDigest, str]:
    """Return the names of catalogs and their dependencies by digest; the names of the user come first."""
    digests = {digest: None for definition in shown for digest in (definition.digest, *definition.dependencies)}
    names_by_digest = catalog_names.find_names_by_digest(reading, digests)
    return {
        digest: names_by_digest[digest][0] if digest in names_by_digest else digest[:SHORT] for digest in digests
    } | dict(user_names)


def _measure_stored_shares(
    reading: Reading, shown: Mapping[CatalogDigest, StoredDefinition]
) -> dict[CatalogDigest, float | None]:
    """Return the stored share of the attributes of catalogs by digest, for catalogs with stored fragments.

    The share is None if the lineage is too long to count the attributes.
    """
    stored_identities = fragments.find_attributes_by_extent(
        reading, {definition.extent for definition in shown.values()}
    )
    digests = [definition.digest for definition in shown.values() if definition.extent in stored_identities]
    if not digests:
        return {}
    if len(walk_neighbours(reading, digests, up=True, depth=None, most=_AFFORDABLE)) == _AFFORDABLE:
        return dict.fromkeys(digests)
    catalogs = get_catalogs(reading, digests)
    return {digest: measure_stored_share(catalogs[digest], stored_identities) for digest in digests}
