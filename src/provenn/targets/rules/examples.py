"""A tiny sky for the examples of the rules: catalogs without files or an archive, and steps written in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from provenn.catalogs import Base, Catalog, Files, PythonCalculator, cone, list_bases, verbs
from provenn.criteria import AttributeIdentity, parse_type
from provenn.data.fragments import Fragment
from provenn.digests import content_digest
from provenn.files.column_bounds import bound_folder_values
from provenn.files.columns import FileColumn
from provenn.files.file_bounds import encode_file_bounds, encode_file_parts
from provenn.files.file_set import compute_files_digest
from provenn.knowledge.consequences import build_knowledge
from provenn.logic import Statement
from provenn.targets.known import build_definition
from provenn.targets.listed_files import ListedFiles
from provenn.targets.literal import build_step
from provenn.targets.row_samples import find_needed_attributes
from provenn.targets.rules.rule import Rule
from provenn.targets.scene import Scene
from provenn.targets.steps import Concat, FragmentScan, PlanStep, Scan, is_key, walk_steps

__all__ = [
    "BRIGHT",
    "DETECTIONS",
    "NIGHTS",
    "NIGHT_LAYER",
    "STARS",
    "TYCHO",
    "calculate",
    "double_values",
    "list_stated_files",
    "make_base",
    "show_rewrite",
    "store",
]

_THEN = datetime(2026, 1, 1, tzinfo=UTC)


def make_base(
    name: str, columns: Iterable[str], key: str = "hip", population: str = "star", references: Iterable[str] = ()
) -> Base:
    """Return a base catalog with a key, references, and columns of doubles; its files are nowhere."""
    types = {key: "bigint", **dict.fromkeys(references, "bigint"), **dict.fromkeys(columns, "double")}
    file_columns = tuple(FileColumn(column, parse_type(type_name), True, "") for column, type_name in types.items())
    files = Files("parquet", (), file_columns, (), content_digest("files", [name]), f"/nowhere/{name}", (), None)
    return Base.of(files, key=key, population=population)


def _make_nights() -> Base:
    """Return a base catalog of three files, each of which states its night: 1, 2 or 3."""
    kind = parse_type("bigint")
    prints = tuple((f"night={night}/stars.parquet", f"blake3:{night}") for night in range(1, 4))
    digest = compute_files_digest(text for _, text in prints)
    stated = [{"night": bound_folder_values([str(night)], kind)} for night in range(1, 4)]
    columns = tuple(FileColumn(name, kind, True, "") for name in ("hip", "night"))
    files = Files("parquet", (), columns, (), digest, "/nowhere/nights", prints, None)
    return Base.of(
        replace(files, file_bounds=encode_file_bounds(digest, stated, ["night"])), key="hip", population="star"
    )


def _make_layer() -> Base:
    """Return a base catalog of three files with the keys of the nights, each in one night."""
    prints = tuple((f"{night}.parquet", f"blake3:layer {night}") for night in range(1, 4))
    digest = compute_files_digest(text for _, text in prints)
    columns = tuple(FileColumn(name, parse_type("bigint"), True, "") for name in ("hip", "seeing"))
    files = Files("parquet", (), columns, (), digest, "/nowhere/layer", prints, None)
    return Base.of(files, key="hip", population="star")


STARS = make_base("stars", ["vmag", "plx"])
TYCHO = make_base("tycho", ["bt"])
DETECTIONS = make_base("detections", ["mag", "mjd"], "id", "detection", ["star"])
NIGHTS = _make_nights()
NIGHT_LAYER = _make_layer()
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
    first: Rule | None = None,
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
    first
        A rule that is applied to every step before.
    """
    lineage = cone(catalog, *(scan.catalog for scan in stored))
    known = build_knowledge(map(build_definition, lineage))
    known.knowledge.add(*statements)
    scene = Scene(known, tuple(lineage), tuple(stored), listed_files=list_stated_files(lineage))
    step = build_step(catalog)
    for ancestor in walk_steps(step):
        scene.note_definitions(ancestor)
    names = catalog.schema.names if needed is None else needed
    identities = frozenset(catalog.schema[name].identity for name in names)
    read = frozenset(identity for identity in identities if not is_key(identity))
    if first is not None:
        step = _apply_everywhere(first, step, read, scene)
    rewrite = rule(step, read, scene)
    print(_write_step(step))  # noqa: T201 - an example prints
    if rewrite is not None:
        print(f"-> {_write_step(rewrite.step)}")  # noqa: T201


def list_stated_files(lineage: Sequence[Catalog]) -> ListedFiles:
    """Return what the files of base catalogs state, as an archive would record it."""
    bases = list_bases(lineage)
    texts = {(base.digest, name): text for base in bases for name, text in base.files.file_bounds}
    for base in (NIGHTS, NIGHT_LAYER):
        prints = [text for _, text in base.files.fingerprints]
        column, text = encode_file_parts(compute_files_digest(prints), NIGHTS.digest, "nights", ["0/1", "0/2", "0/3"])
        texts[base.digest, column] = text
    return ListedFiles(find_needed_attributes(lineage), texts)


def _apply_everywhere(rule: Rule, step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> PlanStep:
    rewrite = rule(step, needed, scene)
    step = step if rewrite is None else rewrite.step
    reads = zip(step.inputs, step.reads(needed), strict=True)
    return step.replace_inputs([_apply_everywhere(rule, inner, read, scene) for inner, read in reads])


def _write_step(step: PlanStep) -> str:
    """Return a step and its inputs in one line, such as ``select(stars)``."""
    if isinstance(step, Scan):
        name, count = step.base.files.location.rpartition("/")[2], len(step.base.files.fingerprints)
        return name if step.chosen is None else f"{len(step.chosen)} of {count} files of {name}"
    if isinstance(step, FragmentScan):
        return f"fragment #{step.fragment.id}"
    word = f"disjoint {step.word}" if isinstance(step, Concat) and step.is_disjoint else step.word
    return f"{word}({', '.join(map(_write_step, step.inputs))})" if step.inputs else word
