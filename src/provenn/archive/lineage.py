"""What a catalog is made from, all the way down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provenn.archive.sentences import sentence
from provenn.archive.words import Vocabulary
from provenn.catalogs import Catalog, cone
from provenn.store.database import Reading

__all__ = ["Lineage", "Step", "lineage_of"]


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
    """

    digest: str
    kind: str
    name: str
    is_what: str
    made_from: tuple[str, ...]


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
        return "\n".join(self._lines(depth))

    def _lines(self, depth: int | None) -> Iterator[str]:
        steps = {one.digest: one for one in self.steps}
        shown: set[str] = set()
        stack = [(self.steps[0].digest, "", "", 0)]
        while stack:
            digest, branch, indent, level = stack.pop()
            one = steps[digest]
            if digest in shown and one.made_from:
                yield f"{branch}{one.name} (see above)"
                continue
            shown.add(digest)
            cut = depth is not None and level >= depth and one.made_from
            yield f"{branch}{one.name}: {one.is_what}" + " …" * bool(cut)
            parts = () if cut else one.made_from
            for place, part in reversed(list(enumerate(parts, start=1))):
                last = place == len(parts)
                stack.append(
                    (part, indent + ("└── " if last else "├── "), indent + ("    " if last else "│   "), level + 1)
                )

    def __str__(self) -> str:
        return self.tree()


def lineage_of(reading: Reading, catalog: Catalog, asked: dict[str, str]) -> Lineage:
    """Return the lineage of a catalog of the archive; `asked` is what the user calls it, by digest."""
    members = cone(catalog)
    word = Vocabulary.of(reading, [one.digest for one in members], asked).word
    return Lineage(
        tuple(
            Step(
                one.digest,
                one.kind,
                word(one.digest),
                sentence(one, word),
                tuple(dict.fromkeys(part.digest for part in one.dependencies)),
            )
            for one in reversed(members)
        )
    )
