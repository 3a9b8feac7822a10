"""The lineage of a catalog, down to base catalogs."""

from __future__ import annotations

from dataclasses import dataclass

from provenn.archive.stored_shares import measure_stored_share
from provenn.catalogs import Catalog, cone
from provenn.catalogs.population import make_plural
from provenn.catalogs.restoring import find_class
from provenn.data import fragments
from provenn.database.transactions import Reading
from provenn.digests import CatalogDigest
from provenn.display.lineage_picture import LineageNode, LineagePicture, lineage_svg
from provenn.display.text_tree import format_tree_lines
from provenn.words.definition_words import describe_definition
from provenn.words.vocabulary import Vocabulary

__all__ = ["Lineage", "LineageStep", "trace_lineage"]

_MOST = 100
"""The largest number of catalogs in a picture of a lineage; of a longer lineage, the nearest are shown."""


@dataclass(frozen=True, slots=True)
class LineageStep:
    """A catalog of a lineage.

    Attributes
    ----------
    digest, kind, name
        The digest, the name of the class, and the name used here.
    is_what
        The definition in words, as the user wrote it.
    made_from
        The digests of the dependencies.
    extent
        The digest of the extent: equal for catalogs with the same sources by construction.
    stored
        The stored share, from 0 for nothing to 1 for all attributes of exactly its sources.
    population
        What one row is.
    """

    digest: str
    kind: str
    name: str
    is_what: str
    made_from: tuple[str, ...]
    extent: str
    stored: float
    population: str = ""


@dataclass(frozen=True, slots=True)
class Lineage:
    """A catalog and all ancestors; as text, a tree.

    Attributes
    ----------
    steps
        The catalogs, without repetition, and dependents before their dependencies.
    """

    steps: tuple[LineageStep, ...]

    def tree(self, depth: int | None = None) -> str:
        """Return the tree, down to a depth; a subtree is shown only once."""
        steps = {step.digest: step for step in self.steps}
        parts = {step.digest: step.made_from for step in self.steps}
        return "\n".join(
            format_tree_lines(
                self.steps[0].digest,
                parts,
                lambda digest: f"{steps[digest].name}: {steps[digest].is_what}",
                lambda digest: steps[digest].name,
                depth,
            )
        )

    def svg(self, *, inline: bool = False) -> str:
        """Draw the whole lineage; of a very long lineage, only the catalogs nearest to the first.

        Parameters
        ----------
        inline
            Whether to use the colours of the surrounding page.
        """
        steps = {step.digest: step for step in self.steps}
        shown = dict.fromkeys([self.steps[0].digest])
        for digest in (queue := [*shown]):
            new = [part for part in steps[digest].made_from if part not in shown][: _MOST - len(shown)]
            shown |= dict.fromkeys(new)
            queue += new
        edges = [(part, digest) for digest in shown for part in steps[digest].made_from]
        nodes = [
            LineageNode(
                id=step.digest,
                name=step.name,
                kind=step.kind,
                word=find_class(step.kind).profile.word,
                shape=find_class(step.kind).profile.shape,
                what=step.is_what,
                extent=step.extent,
                stored=step.stored,
                focus=step is self.steps[0],
                above=sum(part not in shown for part in step.made_from),
                population=make_plural(step.population),
            )
            for step in map(steps.__getitem__, shown)
        ]
        kept = tuple(edge for edge in edges if edge[0] in shown)
        return lineage_svg(LineagePicture(f"The lineage of {nodes[0].name}", tuple(nodes), kept), inline=inline)

    def _repr_html_(self) -> str:
        return self.svg(inline=True)

    def __str__(self) -> str:
        return self.tree()


def trace_lineage(reading: Reading, catalog: Catalog, user_names: dict[CatalogDigest, str]) -> Lineage:
    """Return the lineage of a catalog of the archive; `user_names` maps the digest to the user's name."""
    members = cone(catalog)
    word = Vocabulary.of(reading, [member.digest for member in members], user_names).word
    stored_identities = fragments.find_attributes_by_extent(reading, {member.extent.digest for member in members})
    return Lineage(
        tuple(
            LineageStep(
                member.digest,
                member.kind,
                word(member.digest),
                describe_definition(member, word),
                tuple(dict.fromkeys(part.digest for part in member.dependencies)),
                member.extent.digest,
                measure_stored_share(member, stored_identities),
                member.population.name,
            )
            for member in reversed(members)
        )
    )
