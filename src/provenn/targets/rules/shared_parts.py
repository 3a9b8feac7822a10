"""Rule: do not read files of a layer whose sources lie in no chosen file of the core, and the other way round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from provenn.catalogs import Base
from provenn.criteria import AttributeIdentity
from provenn.digests import CatalogDigest
from provenn.logic import Statement
from provenn.targets.listed_files import DividedCore
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Combine, Derive, Exclude, PlanStep, Restrict, Scan, Select

__all__ = ["shared_parts"]


def shared_parts(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Leave out the files of a base catalog that share no part of the sky with the chosen files of another.

    Sound: core and layers have the same keys in each part, which was compared when they were ingested, and a key occurs
    once. So the sources in a part of one are those in the same part of the other. A source in the result of the step
    has a row in a chosen file of the other base catalog, and so its row in this one is in a file of the same part. The
    steps between keep the key of a row, and drop rows: with fewer files their sets are smaller, and that of the step
    stays the same. Whoever compared the keys observed that core and layer have the same sources: a viewer who does
    not know this fact learns nothing from the parts.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import NIGHT_LAYER, NIGHTS, show_rewrite
    >>> from provenn.logic import equal
    >>> from provenn.targets.rules.irrelevant_files import irrelevant_files
    >>> both = verbs.combine(verbs.select(NIGHTS, "night = 2"), NIGHT_LAYER)
    >>> show_rewrite(shared_parts, both, equal(NIGHTS.digest, NIGHT_LAYER.digest), first=irrelevant_files)
    combine(select(1 of 3 files of nights), layer)
    -> combine(select(1 of 3 files of nights), 1 of 3 files of layer)
    """
    if not isinstance(step, Combine | Restrict):
        return None
    scans = list(_list_scans(step))
    chosen = [parts for scan in scans if scan.chosen is not None for parts in _list_parts(scan, scene)]
    for scan in scans if chosen else ():
        if scan.chosen is not None:
            continue
        for own in _list_parts(scan, scene):
            others = [other for other in chosen if other.core == own.core]
            common = frozenset.intersection(*(other.parts for other in others)) if others else frozenset()
            prints = own.choose(common)
            if prints and len(prints) < scan.file_count:
                smaller = _narrow_scan(step, scan, Scan(scan.base, prints))
                statements = tuple(dict.fromkeys(chain(own.statements, *(other.statements for other in others))))
                return Rewrite(smaller, _explain_dropped_files(scan.file_count - len(prints)), statements)
    return None


def _explain_dropped_files(number: int) -> str:
    files = "the other file is" if number == 1 else f"the {number:,} other files are"
    return f"core and layer have the same sources in each part, and {files} of other parts"


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts that a base catalog shares with a core, by file, and the parts of the files that are read.

    The statements are the proved ones that the base catalog has the sources of the core; none for the core itself.
    """

    core: DividedCore
    by_file: dict[str, str]
    parts: frozenset[str]
    statements: tuple[Statement, ...]

    def choose(self, parts: frozenset[str]) -> frozenset[str]:
        """Return the fingerprints of the files of some parts."""
        return frozenset(text for text, part in self.by_file.items() if part in parts)


def _list_parts(scan: Scan, scene: Scene) -> list[_Parts]:
    """Return the parts of a base catalog, for each core with which the viewer may know that it shares them."""
    shared_parts = []
    for core, files in scene.listed_files.find_parts(scan.base).items():
        statements = _state_same_sources(scan.base, core[0], scene)
        if all(map(scene.is_certain, statements)):
            parts = frozenset(part for text, part in files.items() if scan.chosen is None or text in scan.chosen)
            shared_parts.append(_Parts(core, files, parts, statements))
    return shared_parts


def _state_same_sources(base: Base, core: CatalogDigest, scene: Scene) -> tuple[Statement, ...]:
    """Return the statement that a base catalog has the sources of a core; none for the core itself."""
    return () if base.digest == core else (scene.state_equal(scene.find_catalog(core).extent, base.extent),)


def _list_scans(step: PlanStep) -> Iterator[Scan]:
    """Yield the base catalogs that have a row with the key of each row of a step."""
    if isinstance(step, Scan):
        yield step
    for place in _find_inner_places(step):
        yield from _list_scans(step.inputs[place])


def _narrow_scan(step: Combine | Restrict, old: Scan, new: Scan) -> PlanStep:
    """Return a step that reads fewer files wherever `_list_scans` finds a scan, and has the same sources."""
    smaller = _replace_scan(step, old, new)
    return replace(smaller, sources=step.extent) if isinstance(smaller, Combine | Restrict) else smaller


def _replace_scan(step: PlanStep, old: Scan, new: Scan) -> PlanStep:
    """Return a step with another scan, wherever `_list_scans` finds it, and with the sources that the scan leaves."""
    if step is old:
        return new
    places = set(_find_inner_places(step))
    inputs = [_replace_scan(inner, old, new) if place in places else inner for place, inner in enumerate(step.inputs)]
    if all(new_input is inner for new_input, inner in zip(inputs, step.inputs, strict=True)):
        return step
    smaller = step.replace_inputs(inputs)
    if isinstance(smaller, Select | Combine | Restrict) and smaller.sources is not None:
        return replace(smaller, sources=smaller.sources & new.extent)
    return smaller


def _find_inner_places(step: PlanStep) -> range:
    """Return the places of the inputs that have a row with the key of each row of a step."""
    if isinstance(step, Combine | Restrict | Select | Derive):
        return range(len(step.inputs))
    return range(1) if isinstance(step, Exclude) else range(0)
