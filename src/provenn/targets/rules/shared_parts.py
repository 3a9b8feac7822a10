"""Rule: do not read files of a layer whose sources lie in no chosen file of the core, and the other way round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provenn.criteria import AttributeIdentity
from provenn.digests import CatalogDigest
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Combine, Derive, Exclude, PlanStep, Restrict, Scan, Select

__all__ = ["shared_parts"]


def shared_parts(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Leave out the files of a base catalog that share no part of the sky with the chosen files of another.

    Sound: core and layers have the same keys in each part, which was compared when they were ingested, and a key occurs
    once. So the sources in a part of one are those in the same part of the other. A source in the result of the step
    has a row in a chosen file of the other base catalog, and so its row in this one is in a file of the same part. The
    steps between keep the key of a row, and drop rows.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import NIGHT_LAYER, NIGHTS, show_rewrite
    >>> from provenn.targets.rules.irrelevant_files import irrelevant_files
    >>> night = verbs.select(NIGHTS, "night = 2")
    >>> show_rewrite(shared_parts, verbs.combine(night, NIGHT_LAYER), first=irrelevant_files)
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
            common = [other.parts for other in chosen if other.core == own.core]
            prints = own.choose(frozenset.intersection(*common)) if common else frozenset()
            if prints and len(prints) < scan.file_count:
                dropped = scan.file_count - len(prints)
                files = "the other file is" if dropped == 1 else f"the {dropped:,} other files are"
                because = f"core and layer have the same sources in each part, and {files} of other parts"
                return Rewrite(_replace_scan(step, scan, Scan(scan.base, prints)), because)
    return None


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts that a base catalog shares with a core, by file, and the parts of the files that are read."""

    core: CatalogDigest
    by_file: dict[str, str]
    parts: frozenset[str]

    def choose(self, parts: frozenset[str]) -> frozenset[str]:
        """Return the fingerprints of the files of some parts."""
        return frozenset(text for text, part in self.by_file.items() if part in parts)


def _list_parts(scan: Scan, scene: Scene) -> list[_Parts]:
    """Return the parts of a base catalog, for each core with which it shares them."""
    shared = scene.listed_files.find_parts(scan.base)
    read = set(dict(scan.base.files.fingerprints).values()) if scan.chosen is None else scan.chosen
    return [
        _Parts(core, files, frozenset(part for text, part in files.items() if text in read))
        for core, files in shared.items()
    ]


def _list_scans(step: PlanStep) -> Iterator[Scan]:
    """Yield the base catalogs that have a row with the key of each row of a step."""
    if isinstance(step, Scan):
        yield step
    for place in _find_inner_places(step):
        yield from _list_scans(step.inputs[place])


def _replace_scan(step: PlanStep, old: Scan, new: Scan) -> PlanStep:
    """Return a step with another scan, wherever `_list_scans` finds it."""
    if step is old:
        return new
    places = set(_find_inner_places(step))
    if not places:
        return step
    return step.replace_inputs(
        [_replace_scan(inner, old, new) if place in places else inner for place, inner in enumerate(step.inputs)]
    )


def _find_inner_places(step: PlanStep) -> range:
    """Return the places of the inputs that have a row with the key of each row of a step."""
    if isinstance(step, Combine | Restrict | Select | Derive):
        return range(len(step.inputs))
    return range(1) if isinstance(step, Exclude) else range(0)
