"""A plan, told: its steps as trees, what becomes of each and why, what is skipped, created and kept, and the proofs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from provenn.display.plan import PlanNode, PlanPicture
from provenn.display.rows import Rows
from provenn.logic import Statement, equal
from provenn.logic.statements import Comparison
from provenn.targets.bounds import bounded_rows
from provenn.targets.costs import cost
from provenn.targets.gathering import reused
from provenn.targets.literal import literals
from provenn.targets.match_steps import Match, Matched
from provenn.targets.plan import Plan
from provenn.targets.rewriting import Applied
from provenn.targets.running import parts_kept
from provenn.targets.steps import (
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    Fill,
    Nothing,
    Restrict,
    Scan,
    Select,
    Step,
    Stored,
    is_key,
    walk,
)
from provenn.targets.ways import giving_steps
from provenn.targets.wording import in_words, listed

__all__ = ["Argument", "arguments", "picture"]

_DEEPEST = 40
"""How many steps below one another are shown."""

Doing = tuple[object, ...]
"""What a step does by itself, whatever it is made from."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Why a rule could be applied.

    Attributes
    ----------
    rule
        The name of the rule.
    because
        Why, in words.
    statements
        What it leans on, in names; all of it is proved.
    """

    rule: str
    because: str
    statements: tuple[Statement, ...]
    _said: tuple[Statement, ...] = field(repr=False)
    _plan: Plan = field(repr=False, compare=False)

    @property
    def proof(self) -> tuple[str, ...]:
        """The facts from which the statements follow, a line each, and where they come from. It is looked for now."""
        known, words = self._plan.scene.known, self._plan.words
        facts = dict.fromkeys(each for said in self._said for each in known.because(said))
        because = sorted(facts, key=lambda one: one[1].kind != "definition")
        return tuple(f"{fact.relabelled(words.word)}  ({words.where_from(origin)})" for fact, origin in because)

    def __str__(self) -> str:
        told = "; ".join(map(str, self.statements))
        return f"{told}: {self.because}" if told else self.because


def arguments(plan: Plan) -> tuple[Argument, ...]:
    """Return why a plan may be changed to what is executed, each argument once, in the order of use."""
    found: dict[tuple[object, ...], Argument] = {}
    same = _same_sources(plan)
    if same is not None:
        found[()] = _argument(plan, "same_sources", "it has the same sources", (same,))
    for one in plan.applied:
        place = (one.rule, one.because, tuple(map(str, one.said)))
        if place not in found:
            found[place] = _argument(plan, one.rule, one.because, one.said)
    return tuple(found.values())


def _argument(plan: Plan, rule: str, because: str, said: tuple[Statement, ...]) -> Argument:
    told = (one.relabelled(plan.words.word) for one in said)
    named = {str(one): one for one in told if not (isinstance(one, Comparison) and one.left == one.right)}
    return Argument(rule, because, tuple(named.values()), said, plan)


def _same_sources(plan: Plan) -> Statement | None:
    """Return the statement that what is asked for has the sources of a catalog with another definition."""
    other = None if plan.catalog is None else plan.scene.term(plan.catalog.extent).label
    if plan.catalog is None or other is None or plan.words.word(other) == plan.words.word(plan.catalog.digest):
        return None
    return equal(plan.catalog.digest, other)


def picture(plan: Plan) -> PlanPicture:
    """Return a plan as it is shown."""
    told = _Telling(plan)
    notes = {
        "Attributes": tuple(told.ways()),
        "Proved": tuple(str(one) for one in arguments(plan) if one.statements),
        "Rests on": tuple(fact.words for fact in plan.rests_on),
        "Created": tuple(_created(plan)),
        "Kept": tuple(_kept(plan)),
        "Chosen": tuple(_chosen(plan)),
        "Taken on trust": plan.caveats,
    }
    names = listed([one.name for one in plan.columns if not is_key(one.identity)]) or "the key"
    return PlanPicture(
        f"{names} of {plan.what}",
        told.before(plan.before, plan.needed),
        told.after(plan.after, plan.needed),
        tuple((heading, lines) for heading, lines in notes.items() if lines),
    )


@dataclass(frozen=True, slots=True)
class _Dropped:
    """Why a step is not done: by which rule, if it was by one, and in words."""

    by: Applied | None
    because: str


class _Telling:
    """Builds the trees of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.done = {doing for one in walk(plan.after) for doing in _doing(one)}
        self.dropped, self.introduced = _changes(plan.applied)
        called: dict[int, list[str]] = {}
        for digest, one in literals(*plan.scene.catalogs).items():
            called.setdefault(one.signature, []).append(plan.words.word(digest))
        # Of several catalogs that are made by the same steps, the one whose name says most with least.
        self.called = {one: min(several, key=lambda word: (" " in word, len(word))) for one, several in called.items()}

    # -- what would be done --------------------------------------------------------------------------------------

    def before(
        self, step: Step, needed: frozenset[str], above: _Dropped | None = None, seen: set[int] | None = None
    ) -> PlanNode:
        """Return the steps as they are defined, and what becomes of each; `above` is what became of the last one."""
        seen = set() if seen is None else seen
        dropped = self._why_dropped(step) if self._is_dropped(step) else None
        label = "compute" if dropped is None else "skip"
        name = self.called.get(step.signature, "")
        what = in_words(step, needed, self.plan.scene, self.plan.words)
        what = what if not name or isinstance(step, Scan) else f"{what} ({name})"
        if id(step) in seen and step.inputs:
            return PlanNode(label, what, step=step.signature, again=True)
        seen.add(id(step))
        reads = zip(step.inputs, step.reads(needed), strict=True)
        inputs = tuple(self.before(one, read, dropped, seen) for one, read in reads) if len(seen) < _DEEPEST else ()
        cut = () if len(inputs) == len(step.inputs) else (_more(step),)
        told = "" if dropped is None or (above is not None and above.by is dropped.by) else dropped.because
        return PlanNode(label, what, self._rows(step), told, (*inputs, *cut), step=step.signature)

    def _is_dropped(self, step: Step) -> bool:
        return not _doing(step) & self.done

    def _why_dropped(self, step: Step) -> _Dropped:
        """Return why a step is not done. A rule speaks of the sources of the step to which it was applied."""
        found = [self.dropped[doing] for doing in _doing(step) if doing in self.dropped]
        if not found:
            return _Dropped(None, "nothing that is left needs it")
        by = found[-1]
        if by.before.extent.digest == step.extent.digest:
            return _Dropped(by, by.because)
        read = sorted(reused(by.after) - reused(by.before))
        return _Dropped(by, f"fragment #{read[0]} is read instead" if read else "nothing that is left needs it")

    # -- what is done --------------------------------------------------------------------------------------------

    def after(self, step: Step, needed: frozenset[str], said: str = "", seen: set[int] | None = None) -> PlanNode:
        """Return the steps that are executed."""
        seen = set() if seen is None else seen
        what = in_words(step, needed, self.plan.scene, self.plan.words)
        label, part = self._label(step)
        if id(step) in seen and step.inputs:
            return PlanNode(label, what, part=part, step=step.signature, again=True)
        seen.add(id(step))
        changed = self._why_there(step)
        because = changed if changed and changed != said else self._usual(step)
        reads = zip(step.inputs, step.reads(needed), strict=True)
        inputs = (
            tuple(self.after(one, read, changed or said, seen) for one, read in reads) if len(seen) < _DEEPEST else ()
        )
        cut = () if len(inputs) == len(step.inputs) else (_more(step),)
        return PlanNode(label, what, self._rows(step), because, (*inputs, *cut), part, step.signature)

    def _label(self, step: Step) -> tuple[str, float]:
        if isinstance(step, Nothing):
            return "skip", 0.0
        if isinstance(step, Stored):
            return "reuse", 1.0
        if not isinstance(step, Concat):
            return "compute", 0.0
        stored = [self._rows(one) for one in step.members if _from_store(one)]
        if not stored:
            return "compute", 0.0
        if len(stored) == len(step.members):
            return "reuse", 1.0
        some, every = sum(stored, Rows.counted(0)), self._rows(step)
        if some.estimate is None or not every.estimate:
            return "partial reuse", 0.0
        return f"partial reuse ({some} of {every})", min(1.0, some.estimate / every.estimate)

    def _why_there(self, step: Step) -> str:
        for doing in _doing(step):
            found = self.introduced.get((doing, step.extent.digest))
            if found is not None:
                return found.because
        return ""

    def _usual(self, step: Step) -> str:
        """Return the reason for a step that no rule has put there."""
        match step:
            case Scan():
                return "the files hold it"
            case Stored():
                return "it was computed before"
            case Calculate(outputs=outputs):
                held = self.plan.scene.stored(one.identity for one in outputs)
                return "no fragment holds it for these sources" if held else "no fragment holds it"
            case Derive():
                return "SQL costs little: nothing is stored for it"
            case Select():
                return "it tells which sources are asked for"
            case Combine():
                return "no rows hold, or give, all of it"
            case Restrict() | Exclude() | Matched():
                return "rows alone do not tell which sources remain"
            case Match():
                return "no fragment holds these pairs"
            case Concat():
                return "its sources come from several places"
            case Fill():
                return "these sources do not have it"
        return "no source can be in it"

    def _rows(self, step: Step) -> Rows:
        """Return how many rows a step gives; none, if that is proved."""
        scene = self.plan.scene
        return Rows.counted(0) if scene.is_empty(step.extent) else bounded_rows(scene, step)

    # -- attributes ----------------------------------------------------------------------------------------------

    def ways(self) -> Iterator[str]:
        """Yield how each attribute that is asked for is obtained."""
        if self.plan.empty:
            return
        found: dict[str, list[str]] = {}
        for one in self.plan.columns:
            if not is_key(one.identity):
                ways = list(dict.fromkeys(map(self._way, giving_steps(self.plan.after, one.identity))))
                stored = sorted(ways, key=lambda way: "fragment" not in way)
                found.setdefault("; the rest ".join(stored), []).append(one.name)
        for way, names in found.items():
            yield f"{listed(names)}: {way}"

    def _way(self, step: Step) -> str:
        """Return how a step gives an attribute."""
        match step:
            case Scan(base=base):
                return f"read from {self.plan.words.word(base.digest)}"
            case Stored(fragment=fragment):
                return f"read from fragment #{fragment.id}"
            case Derive():
                return "derived by SQL"
            case Calculate(calculator=calculator):
                return f"calculated in Python by {calculator.function}"
            case Fill():
                return "without a value"
        return "computed by the match"


def _doing(step: Step) -> frozenset[Doing]:
    match step:
        case Scan(base=base):
            return frozenset({("scan", base.digest)})
        case Stored(fragment=fragment):
            return frozenset({("reuse", fragment.id)})
        case Select(condition=condition):
            return frozenset(("select", label) for label in condition.labels)
        case Derive(attribute=one):
            return frozenset({("derive", one.identity)})
        case Calculate(outputs=outputs):
            return frozenset({("calculate", *(one.identity for one in outputs))})
        case Restrict(other=other) | Exclude(other=other):
            return frozenset({(step.word, other.extent.digest)})
        case Match(catalog=catalog):
            return frozenset({("match", catalog.digest)})
        case Matched(condition=condition):
            return frozenset({("matched", condition.digest)})
    return frozenset({(step.word,)})


def _changes(applied: Iterable[Applied]) -> tuple[dict[Doing, Applied], dict[tuple[Doing, str], Applied]]:
    """Return what rules have dropped and what they have introduced, each with the last rule that did so."""
    dropped: dict[Doing, Applied] = {}
    introduced: dict[tuple[Doing, str], Applied] = {}
    for one in applied:
        had = {(doing, step.extent.digest): None for step in walk(one.before) for doing in _doing(step)}
        has = {(doing, step.extent.digest): None for step in walk(one.after) for doing in _doing(step)}
        left = {doing for doing, _ in has}
        dropped.update((doing, one) for doing, _ in had if doing not in left)
        introduced.update((place, one) for place in has if place not in had)
    return dropped, introduced


def _from_store(step: Step) -> bool:
    """Whether what is costly in a step comes from a fragment."""
    steps = list(walk(step))
    return any(isinstance(one, Stored) for one in steps) and not any(isinstance(one, Calculate) for one in steps)


def _more(step: Step) -> PlanNode:
    number = len(list(walk(*step.inputs)))
    return PlanNode("compute", f"… {number:,} more step{'s' * (number != 1)}")


def _created(plan: Plan) -> Iterator[str]:
    for one in plan.created:
        new = [name for name in one.schema.names if name not in one.dependencies[0].schema.names]
        given = f", which gives {listed(list(new))}" if new else ""
        yield f"{plan.words.word(one.digest)}{given}: nobody had defined it; it holds for all sources it can be had for"


def _kept(plan: Plan) -> Iterator[str]:
    if plan.keep is None:
        return
    for part in parts_kept(plan, plan.keep):
        number = bounded_rows(plan.scene, part.step).of("source")
        yield f"the result{f' for {number}' if number else ''}, as a fragment (keep: {plan.keep})"


def _chosen(plan: Plan) -> Iterator[str]:
    """Yield why this way was chosen: what it costs compared with the steps as they are defined."""
    if plan.empty:
        yield "nothing is computed: the answer is proved to be empty"
        return
    if not plan.applied:
        yield "the steps as they are defined: nothing costs less"
        return
    share = cost(plan.scene, plan.after, plan.needed) / max(cost(plan.scene, plan.before, plan.needed), 1.0)
    kinds = [
        ("what is stored is read", bool(plan.fragments)),
        ("SQL is derived", any(isinstance(one, Derive) for one in walk(plan.after))),
        ("Python is called last", bool(plan.calculations)),
    ]
    said = ", ".join(text for text, there in kinds if there) or "only files are read"
    about = "as much as" if share > 0.95 else f"~{max(share * 100, 0.01):.2g} % of"
    yield f"{said}; it costs {about} the steps as they are defined"
