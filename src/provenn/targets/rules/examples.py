"""A tiny sky for the examples of the rules: catalogs without files or an archive, and steps written in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from provenn.catalogs import Base, Catalog, Files, PythonCalculator, cone, verbs
from provenn.criteria import AttributeIdentity, parse_type
from provenn.data.fragments import Fragment
from provenn.digests import content_digest
from provenn.files.columns import FileColumn
from provenn.knowledge.consequences import build_knowledge
from provenn.logic import Statement
from provenn.targets.known import build_definition
from provenn.targets.literal import build_step
from provenn.targets.rules.rule import Rule
from provenn.targets.scene import Scene
from provenn.targets.steps import Concat, FragmentScan, PlanStep, Scan, is_key, walk_steps

__all__ = ["BRIGHT", "STARS", "TYCHO", "calculate", "double_values", "make_base", "show_rewrite", "store"]

_THEN = datetime(2026, 1, 1, tzinfo=UTC)


def make_base(name: str, columns: Iterable[str]) -> Base:
    """Return a base catalog of stars with the key ``hip`` and columns of doubles; its files are nowhere."""
    types = {"hip": "bigint", **dict.fromkeys(columns, "double")}
    file_columns = tuple(FileColumn(column, parse_type(type_name), True, "") for column, type_name in types.items())
    files = Files("parquet", (), file_columns, (), content_digest("files", [name]), f"/nowhere/{name}", (), None)
    return Base.of(files, key="hip", population="star")


STARS = make_base("stars", ["vmag", "plx"])
TYCHO = make_base("tycho", ["bt"])
BRIGHT = verbs.select(STARS, "vmag < 6")


def double_values(batch: Any) -> Any:  # noqa: ANN401 - a calculator of pandas
    """Return the doubled values of the first column."""
    return batch.iloc[:, :1].rename(columns=lambda _: "z") * 2


def calculate(catalog: Catalog) -> Catalog:
    """Return a catalog with the attribute z, calculated in Python."""
    return verbs.derive(
        catalog, PythonCalculator.of(double_values, inputs=[catalog.schema.names[-1]], outputs={"z": "double"})
    )


def store(catalog: Catalog, number: int = 1, rows: int = 10) -> FragmentScan:
    """Return the read of a fragment that holds all attributes of a catalog."""
    columns = tuple((identity, f"c{position}") for position, identity in enumerate(catalog.schema.by_identity))
    extent = catalog.extent.digest
    population = catalog.population.name
    fragment = Fragment(
        number, catalog.digest, population, extent, columns, "", rows, 0, (), 1.0, _THEN, "ada", _THEN, 0
    )
    return FragmentScan(fragment, catalog)


def show_rewrite(
    rule: Rule,
    catalog: Catalog,
    *statements: Statement,
    needed: Sequence[AttributeIdentity] | None = None,
    stored: Sequence[FragmentScan] = (),
) -> None:
    """Print the steps of a catalog before and after a rule.

    Parameters
    ----------
    rule
        The rule.
    catalog
        The catalog, whose literal steps the rule rewrites.
    statements
        Further statements that hold, beside the definitions.
    needed
        The names of the needed attributes; by default all.
    stored
        The fragments.
    """
    lineage = cone(catalog, *(scan.catalog for scan in stored))
    known = build_knowledge(map(build_definition, lineage))
    known.knowledge.add(*statements)
    scene = Scene(known, tuple(lineage), tuple(stored))
    step = build_step(catalog)
    for ancestor in walk_steps(step):
        scene.note_definitions(ancestor)
    names = catalog.schema.names if needed is None else needed
    identities = frozenset(catalog.schema[name].identity for name in names)
    rewrite = rule(step, frozenset(identity for identity in identities if not is_key(identity)), scene)
    print(_write_step(step))  # noqa: T201 - an example prints
    if rewrite is not None:
        print(f"-> {_write_step(rewrite.step)}")  # noqa: T201


def _write_step(step: PlanStep) -> str:
    """Return a step and its inputs in one line, such as ``select(stars)``."""
    if isinstance(step, Scan):
        return step.base.files.location.rpartition("/")[2]
    if isinstance(step, FragmentScan):
        return f"fragment #{step.fragment.id}"
    word = f"disjoint {step.word}" if isinstance(step, Concat) and step.is_disjoint else step.word
    return f"{word}({', '.join(map(_write_step, step.inputs))})" if step.inputs else word
