"""What a catalog is made from, all the way down."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from provenn.archive.sentences import sentence
from provenn.archive.words import Vocabulary
from provenn.catalogs import Catalog, cone
from provenn.display.lineage import LineageNode, LineagePicture, lineage_svg
from provenn.store import fragments
from provenn.store.database import Reading

__all__ = ["Lineage", "Step", "lineage_of", "part_held", "tree_lines"]

_MOST = 100
"""How many catalogs a picture of a whole lineage shows: of a longer one, the nearest."""


@dataclass(frozen=True, slots=True)
class Step:
    """One catalog of a lineage.

    Attributes
    ----------
    digest, kind, name
        Its digest, the name of its class, and what it is called here.
    is_what
        What it is, as the user wrote it.
    made_from
        The digests of the catalogs it is made from.
    extent
        The digest of its extent: the same where sources are the same by construction.
    stored
        How much of it is stored: 0 nothing, 1 all its attributes for just its sources.
    """

    digest: str
    kind: str
    name: str
    is_what: str
    made_from: tuple[str, ...]
    extent: str
    stored: float


@dataclass(frozen=True, slots=True)
class Lineage:
    """A catalog and all it is made from. As text, a tree.

    Attributes
    ----------
    steps
        The catalogs, each once and before those it is made from.
    """

    steps: tuple[Step, ...]

    def tree(self, depth: int | None = None) -> str:
        """Return the tree, down to some depth. What was shown above is not shown again."""
        steps = {one.digest: one for one in self.steps}
        parts = {one.digest: one.made_from for one in self.steps}
        return "\n".join(
            tree_lines(
                self.steps[0].digest,
                parts,
                lambda digest: f"{steps[digest].name}: {steps[digest].is_what}",
                lambda digest: steps[digest].name,
                depth,
            )
        )

    def svg(self, *, inline: bool = False) -> str:
        """Draw it, whole; of one that is very long, the catalogs nearest to the first.

        Parameters
        ----------
        inline
            Whether it is put in a page, whose colours it takes.
        """
        steps = {one.digest: one for one in self.steps}
        shown = dict.fromkeys([self.steps[0].digest])
        for digest in (queue := [*shown]):
            new = [part for part in steps[digest].made_from if part not in shown][: _MOST - len(shown)]
            shown |= dict.fromkeys(new)
            queue += new
        edges = [(part, digest) for digest in shown for part in steps[digest].made_from]
        nodes = [
            LineageNode(
                id=one.digest,
                name=one.name,
                kind=one.kind,
                what=one.is_what,
                extent=one.extent,
                stored=one.stored,
                focus=one is self.steps[0],
                above=sum(part not in shown for part in one.made_from),
            )
            for one in map(steps.__getitem__, shown)
        ]
        kept = tuple(edge for edge in edges if edge[0] in shown)
        return lineage_svg(LineagePicture(f"The lineage of {nodes[0].name}", tuple(nodes), kept), inline=inline)

    def _repr_html_(self) -> str:
        return self.svg(inline=True)

    def __str__(self) -> str:
        return self.tree()


def lineage_of(reading: Reading, catalog: Catalog, asked: dict[str, str]) -> Lineage:
    """Return the lineage of a catalog of the archive; `asked` is what the user calls it, by digest."""
    members = cone(catalog)
    word = Vocabulary.of(reading, [one.digest for one in members], asked).word
    held = fragments.held(reading, {one.extent.digest for one in members})
    return Lineage(
        tuple(
            Step(
                one.digest,
                one.kind,
                word(one.digest),
                sentence(one, word),
                tuple(dict.fromkeys(part.digest for part in one.dependencies)),
                one.extent.digest,
                part_held(one, held),
            )
            for one in reversed(members)
        )
    )


def part_held(catalog: Catalog, held: Mapping[str, frozenset[str]]) -> float:
    """Return how much of a catalog is stored, given which attributes are, by extent: from 0 to 1.

    The key, which every fragment has, counts only where there is nothing else.
    """
    key = {one.identity for one in catalog.schema.key}
    attributes = {one.identity for one in catalog.schema.values()} - key or key
    return len(attributes & held.get(catalog.extent.digest, frozenset())) / len(attributes)


def tree_lines(
    root: str,
    parts: Mapping[str, Collection[str]],
    line: Callable[[str], str],
    again: Callable[[str], str],
    depth: int | None = None,
) -> Iterator[str]:
    """Yield the lines of a tree.

    Parameters
    ----------
    root
        Where it begins.
    parts
        What is below each.
    line, again
        What to say of one, and what to say where it, and all below it, was shown already.
    depth
        How far down to go.
    """
    shown: set[str] = set()
    stack = [(root, "", "", 0)]
    while stack:
        one, branch, indent, level = stack.pop()
        below = parts.get(one, ())
        if one in shown and below:
            yield f"{branch}{again(one)} (see above)"
            continue
        shown.add(one)
        cut = depth is not None and level >= depth and bool(below)
        yield f"{branch}{line(one)}" + " …" * cut
        for place, part in reversed(list(enumerate(() if cut else below, start=1))):
            last = place == len(below)
            stack.append(
                (part, indent + ("└── " if last else "├── "), indent + ("    " if last else "│   "), level + 1)
            )
