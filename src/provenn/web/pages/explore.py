"""The page on which a viewer unfolds a lineage step by step, from left to right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Query

from provenn.archive import Archive
from provenn.archive.exploring import ExploredLineage, explore_lineage, find_path
from provenn.digests import CatalogDigest
from provenn.display.explorer_picture import ExplorerLinks, explorer_svg
from provenn.display.lineage_picture import LineageNode, LineagePicture
from provenn.errors import PictureError, ProvennError
from provenn.web.asking import FormProblem, make_problem
from provenn.web.pages.catalog import CatalogLink
from provenn.web.pages.compare import suggest_names
from provenn.web.pages.lineage import CatalogReference
from provenn.web.rendering import ServedArchive, add_page, make_catalog_url, make_query

__all__ = ["router"]

router = APIRouter()

_SHORT: Final = 16
"""The number of characters of a digest in an address."""

Digests = Annotated[list[Annotated[str, Query(max_length=64)]] | None, Query(max_length=200)]
Word = Annotated[str, Query(max_length=500)]


@dataclass(frozen=True, slots=True)
class ExplorerPage:
    """A part of a lineage that the viewer has unfolded.

    Attributes
    ----------
    name, digest
        The catalog with which the viewer began.
    to
        The catalog to which a path is shown, as the viewer wrote it.
    nodes, equal, path
        The catalogs; groups of names with the same sources; and the names along the path.
    is_compared
        Whether equality was also searched by proof.
    is_full
        Whether catalogs that were unfolded do not fit into the picture.
    selected
        The catalog in the panel.
    suggested
        Names of catalogs to choose from.
    problem
        The error in the input.
    home
        The address without anything unfolded.
    svg
        The picture.
    """

    name: str
    digest: str
    to: str
    nodes: tuple[LineageNode, ...]
    equal: tuple[tuple[str, ...], ...]
    path: tuple[CatalogLink, ...]
    is_compared: bool
    is_full: bool
    selected: LineageNode
    suggested: tuple[str, ...]
    problem: FormProblem | None
    home: str
    svg: str


@dataclass(frozen=True, slots=True)
class _State:
    """What the viewer has unfolded, as it stands in the address."""

    home: str
    up: tuple[str, ...]
    down: tuple[str, ...]
    to: str
    at: str
    is_full: bool

    def make_address(self, *, up: Sequence[str] | None = None, down: Sequence[str] | None = None, at: str = "") -> str:
        """Return the address of the page with something changed."""
        shown_up, shown_down = (self.up if up is None else up), (self.down if down is None else down)
        return make_query(
            self.home,
            up=[digest[:_SHORT] for digest in shown_up] or ["-"],
            down=[digest[:_SHORT] for digest in shown_down] or ["-"],
            to=self.to,
            at=(at or self.at)[:_SHORT],
        )

    def make_links(self, node: LineageNode, picture: LineagePicture) -> ExplorerLinks:
        """Return the addresses of a catalog in the picture; only what is shown can be folded."""
        is_up = node.id in self.up and any(node.id == catalog for _, catalog in picture.edges)
        is_down = node.id in self.down and any(node.id == dependency for dependency, _ in picture.edges)
        return ExplorerLinks(
            self.make_address(at=node.id),
            self.make_address(up=_toggle(self.up, node.id)) if node.above or is_up else "",
            self.make_address(down=_toggle(self.down, node.id)) if node.below or is_down else "",
            is_up,
            is_down,
            self.make_address(up=(*self.up, node.id)) if is_up and node.above and not self.is_full else "",
            self.make_address(down=(*self.down, node.id)) if is_down and node.below and not self.is_full else "",
        )


def explore(
    archive: ServedArchive,
    which: CatalogReference,
    *,
    up: Digests = None,
    down: Digests = None,
    to: Word = "",
    at: Word = "",
) -> ExplorerPage:
    """Show a catalog and what was unfolded around it, with a path to another catalog."""
    catalog = archive.catalog(which)
    name = which if which in catalog.names else catalog.name
    opened = [_resolve(archive, digests, catalog.digest) for digests in (up, down)]
    path: list[CatalogDigest] = []
    problem = None
    try:
        path = _find_path(archive, catalog.digest, to) if to.strip() else []
    except ProvennError as error:
        problem = make_problem("to", error)
    with archive.context.database.reading() as reading:
        lineage = explore_lineage(
            reading, catalog.digest, up=opened[0], down=opened[1], path=path, user_names={catalog.digest: name}
        )
    nodes = {node.id: node for node in lineage.picture.nodes}
    chosen = next((digest for digest in nodes if at and digest.startswith(at)), path[-1] if path else catalog.digest)
    home = make_catalog_url(name, catalog.digest) + "/explore"
    state = _State(home, tuple(opened[0]), tuple(opened[1]), to, chosen, lineage.is_full)
    return ExplorerPage(
        name,
        catalog.digest,
        to,
        lineage.picture.nodes,
        tuple(tuple(nodes[digest].name for digest in group) for group in lineage.equal),
        tuple(CatalogLink(nodes[digest].name, digest) for digest in path if digest in nodes),
        lineage.is_compared,
        lineage.is_full,
        nodes[chosen],
        suggest_names(archive),
        problem,
        home,
        _draw(lineage, state),
    )


def _resolve(archive: Archive, digests: list[str] | None, focus: CatalogDigest) -> list[CatalogDigest]:
    """Return the digests of unfolded catalogs, as often as they were unfolded: by default the first, none for ``-``."""
    if digests is None:
        return [focus]
    return [archive.catalog(digest).digest for digest in digests if digest != "-"]


def _find_path(archive: Archive, start: CatalogDigest, to: str) -> list[CatalogDigest]:
    """Return the path to a catalog.

    Raises
    ------
    UnknownCatalogError
        If there is no such catalog.
    PictureError
        If nothing connects the catalogs.
    """
    path = archive.context.read(find_path, start, archive.catalog(to).digest)
    if not path:
        raise PictureError(f"no lineage connects it with {to}", hint="they are made from different files")
    return path


def _draw(lineage: ExploredLineage, state: _State) -> str:
    links = {node.id: state.make_links(node, lineage.picture) for node in lineage.picture.nodes}
    return explorer_svg(lineage.picture, links, selected=state.at, path=lineage.path, equal=lineage.equal)


def _toggle(digests: tuple[str, ...], digest: str) -> tuple[str, ...]:
    """Return digests without one of them, or with another."""
    return tuple(other for other in digests if other != digest) if digest in digests else (*digests, digest)


add_page(router, "/catalogs/{which}/explore", explore, "explore.html")
