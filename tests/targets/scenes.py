"""Scenes for tests: catalogs, what is known of them, and what is stored, without an archive."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from provenn.catalogs import Base, Catalog, cone
from provenn.data.fragments import Fragment
from provenn.definitions.ancestors import StoredDefinition
from provenn.files.row_samples import decode_sample
from provenn.knowledge.consequences import TracedKnowledge, build_knowledge
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Statement
from provenn.targets.literal import build_step
from provenn.targets.rewriting import AppliedRule, rewrite_plan
from provenn.targets.row_samples import RowSample
from provenn.targets.rules.examples import list_stated_files
from provenn.targets.scene import Scene
from provenn.targets.steps import FragmentScan, PlanStep

__all__ = ["known", "needed", "planned", "sample_of", "scene_of", "stored"]

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def known(catalogs: Iterable[Catalog], facts: Sequence[Statement] = ()) -> TracedKnowledge:
    """What follows from definitions, and from facts that are held true."""
    definitions = [
        StoredDefinition(
            one.digest,
            one.kind,
            one.population.name,
            one.parameters(),
            one.notes(),
            one.extent.digest,
            tuple(dependency.digest for dependency in one.dependencies),
        )
        for one in cone(*catalogs)
    ]
    return build_knowledge(definitions, [Fact(n, one, "", "declared", "", NOW) for n, one in enumerate(facts, 1)])


def stored(
    catalog: Catalog, identities: Iterable[str] | None = None, *, number: int = 1, rows: int = 10
) -> FragmentScan:
    """A fragment that holds attributes of a catalog, by default all."""
    key = [one.identity for one in catalog.schema.key]
    held = list(dict.fromkeys([*key, *(catalog.schema.by_identity if identities is None else identities)]))
    columns = tuple((identity, f"c{n}") for n, identity in enumerate(held))
    fragment = Fragment(
        number, catalog.digest, catalog.population.name, catalog.extent.digest, columns, "", rows, 0, (), 1.0, NOW, "",
        NOW, 0,
    )  # fmt: skip
    return FragmentScan(fragment, catalog)


def scene_of(
    *catalogs: Catalog,
    fragments: Sequence[FragmentScan] = (),
    facts: Sequence[Statement] = (),
    rows: dict[str, int] | None = None,
) -> Scene:
    """What planning knows of catalogs and fragments."""
    everything = cone(*catalogs, *(fragment.catalog for fragment in fragments))
    samples = tuple(filter(None, (sample_of(base) for base in everything if isinstance(base, Base))))
    return Scene(
        known(everything, facts),
        everything,
        tuple(fragments),
        rows or {},
        samples=samples,
        listed_files=list_stated_files(everything),
    )


def sample_of(base: Base) -> RowSample | None:
    """The sample of the files of a base catalog, as an archive would record it."""
    sampled = {base.schema[name].identity: decode_sample(text) for name, text in base.files.samples}
    return RowSample(base.extent, sampled) if sampled else None


def needed(catalog: Catalog) -> frozenset[str]:
    """The identities of the attributes of a catalog, without the key."""
    return frozenset(
        attribute.identity for attribute in catalog.schema.attributes if not attribute.identity.startswith("key:")
    )


def planned(catalog: Catalog, scene: Scene | None = None) -> tuple[PlanStep, tuple[AppliedRule, ...]]:
    """The plan of a catalog."""
    scene = scene_of(catalog) if scene is None else scene
    before = build_step(catalog)
    scene.note_definitions(before)
    return rewrite_plan(before, needed(catalog), scene)


def bases(*catalogs: Catalog) -> list[Base]:
    """The base catalogs of a lineage."""
    return [one for one in cone(*catalogs) if isinstance(one, Base)]
