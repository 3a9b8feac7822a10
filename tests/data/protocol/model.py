"""A model of leases, pins, commits and garbage collection, small enough to try every order of steps.

Writers want the same fragment, readers read one, collectors delete garbage; each does one atomic step at a time: a
transaction, or an operation on a folder. A process may die before any step. One may be stopped for long: what it holds
expires, and its files become old. The answer to a commit may be lost, while the commit still lands, or never does.

`explore` visits every state that some order of steps leads to, and returns the first that breaks an invariant, with the
steps that lead there. `tests.data.protocol.replay` does such steps with the functions of `provenn.data`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

__all__ = ["Broken", "Explored", "Protocol", "State", "Step", "explore", "start", "successors"]

Place = tuple[str, str]
"""Whether it is temporary or that of a fragment, and which process writes it."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """Who takes part, and which precautions are taken; without one of them an invariant breaks.

    Parameters
    ----------
    writers, readers, collectors
        The processes. A collector deletes the files of every fragment that nobody reads, as with ``gc --limit 0``.
    checks_pins
        Whether a writer makes sure that its pins were never forgotten before it registers a fragment.
    waits_for_commit
        Whether a writer waits for a commit whose answer was lost before it deletes its files.
    stops, loses_answers
        Whether processes are stopped for long, and whether answers to commits are lost.
    """

    writers: tuple[str, ...] = ("ada", "bob")
    readers: tuple[str, ...] = ()
    collectors: tuple[str, ...] = ("gc",)
    checks_pins: bool = True
    waits_for_commit: bool = True
    stops: bool = True
    loses_answers: bool = True

    @property
    def everybody(self) -> tuple[str, ...]:
        """All processes."""
        return self.writers + self.readers + self.collectors


@dataclass(frozen=True, slots=True)
class State:
    """Everything that matters, at one moment.

    Parameters
    ----------
    at
        Where each process stands.
    files
        What lies in the data folder.
    old
        Those of the files that nobody has changed for long.
    pins, leases
        What is held: holder and place; holders.
    expired
        The processes whose pins, or whose leases, have expired.
    fragments
        The registered fragments, by writer: "used", "dropped" or "removed".
    forgotten
        The processes whose pins others have forgotten, and that have noticed it.
    in_flight
        The writers whose commit lost its answer and has not ended.
    seen
        What each collector saw when it looked at the folder, and then what it has still to delete.
    seen_old
        What each collector saw that nobody had changed for long: it may be newer, or elsewhere, by now.
    finishing
        Collectors, and the fragments whose files they delete.
    stopped, dead
        Processes that were stopped once, and that died.
    """

    at: tuple[tuple[str, str], ...]
    files: frozenset[Place] = frozenset()
    old: frozenset[Place] = frozenset()
    pins: frozenset[tuple[str, Place]] = frozenset()
    leases: frozenset[str] = frozenset()
    expired: frozenset[tuple[str, str]] = frozenset()
    fragments: frozenset[tuple[str, str]] = frozenset()
    forgotten: frozenset[str] = frozenset()
    in_flight: frozenset[str] = frozenset()
    seen: frozenset[tuple[str, Place]] = frozenset()
    seen_old: frozenset[tuple[str, Place]] = frozenset()
    finishing: frozenset[tuple[str, str]] = frozenset()
    stopped: frozenset[str] = frozenset()
    dead: frozenset[str] = frozenset()

    def stage(self, who: str) -> str:
        """Return where a process stands."""
        return dict(self.at)[who]

    def moved(self, who: str, stage: str, **changes: object) -> State:
        """Return the state in which a process stands elsewhere, and other things changed."""
        at = tuple((item, stage if item == who else now) for item, now in self.at)
        return replace(self, at=at, **changes)  # type: ignore[arg-type]

    def alive(self, who: str) -> bool:
        """Whether a process lives."""
        return who not in self.dead

    @property
    def used(self) -> frozenset[str]:
        """The writers whose fragments are in use."""
        return frozenset(who for who, status in self.fragments if status == "used")

    def holds(self, who: str, kind: str) -> bool:
        """Whether the pins of a process, or its lease, count."""
        return self.alive(who) and (who, kind) not in self.expired

    def held(self) -> frozenset[Place]:
        """Return the places that are pinned."""
        return frozenset(place for who, place in self.pins if self.holds(who, "pin"))


@dataclass(frozen=True, slots=True)
class Step:
    """A process does something; `place` tells what a collector deletes."""

    who: str
    what: str
    place: Place | None = None


def start(protocol: Protocol) -> State:
    """Return the first state: nothing is stored."""
    return State(tuple((who, "begin") for who in protocol.everybody))


def successors(protocol: Protocol, state: State) -> Iterator[tuple[Step, State]]:
    """Give every step that can be next, and the state after it."""
    for who in sorted(state.in_flight):
        fragment = (who, "used")
        yield (
            Step(who, "land"),
            replace(state, fragments=state.fragments | {fragment}, in_flight=state.in_flight - {who}),
        )
        yield Step(who, "vanish"), replace(state, in_flight=state.in_flight - {who})
    for who in protocol.everybody:
        stage = state.stage(who)
        if not state.alive(who) or stage in ("end", "refused"):
            continue
        if who in protocol.writers:
            yield from _writer_steps(protocol, state, who, stage)
        elif who in protocol.readers:
            yield from _reader_steps(state, who, stage)
        else:
            yield from _collector_steps(state, who, stage)
        if stage != "begin":
            yield Step(who, "die"), replace(state, dead=state.dead | {who})
            if protocol.stops:
                yield from _stop_steps(state, who)


def _free(state: State) -> bool:
    """Whether a transaction that writes can begin: they take turns."""
    return not state.in_flight


def _stop_steps(state: State, who: str) -> Iterator[tuple[Step, State]]:
    mine = frozenset(place for holder, place in state.pins if holder == who)
    if (mine or who in state.leases) and who not in state.stopped:
        old = state.old | (mine & state.files)
        kinds = {(who, "pin")} if mine else set()
        kinds |= {(who, "lease")} if who in state.leases else set()
        changes = {"expired": state.expired | kinds, "stopped": state.stopped | {who}, "old": old}
        yield Step(who, "stop"), replace(state, **changes)
    stage = state.stage(who)
    if who in state.stopped and _free(state) and stage in ("write", "publish", "register", "read"):
        there = {place for holder, place in state.pins if holder == who}
        pins = state.pins if there else state.pins | {(who, place) for place in _own_places(state, who)}
        forgotten = state.forgotten if there else state.forgotten | {who}
        leases = state.leases if stage == "read" else state.leases | {who}
        renewed = replace(state, pins=pins, forgotten=forgotten, expired=_without(state, who), leases=leases)
        if renewed != state:
            yield Step(who, "renew"), renewed


def _without(state: State, who: str, *kinds: str) -> frozenset[tuple[str, str]]:
    """Return what has expired but for what a process held."""
    return frozenset(item for item in state.expired if item[0] != who or item[1] not in (kinds or ("pin", "lease")))


def _own_places(state: State, who: str) -> set[Place]:
    stage = state.stage(who)
    if stage == "read":
        return {place for item, place in state.seen if item == who}
    return {("_temporary", who), ("fragments", who)}


def _writer_steps(protocol: Protocol, state: State, who: str, stage: str) -> Iterator[tuple[Step, State]]:
    temporary, target = ("_temporary", who), ("fragments", who)
    if stage == "begin" and _free(state):
        others = {lease for lease in state.leases if state.holds(lease, "lease")}
        if state.used:
            yield Step(who, "find"), state.moved(who, "end")
        elif not others:
            yield Step(who, "take"), state.moved(who, "look", leases=frozenset(others | {who}))
    elif stage == "look":
        yield Step(who, "look"), state.moved(who, "let go" if state.used else "pin")
    elif stage == "pin" and _free(state):
        yield Step(who, "pin"), state.moved(who, "write", pins=state.pins | {(who, temporary), (who, target)})
    elif stage == "write":
        yield Step(who, "write"), state.moved(who, "publish", files=state.files | {temporary})
    elif stage == "publish":
        if temporary in state.files:
            old = state.old - {temporary} | ({target} if temporary in state.old else set())
            files = state.files - {temporary} | {target}
            yield Step(who, "publish"), state.moved(who, "register", files=files, old=old)
        else:
            yield Step(who, "publish"), state.moved(who, "clean up")
    elif stage == "register" and _free(state):
        yield from _register_steps(protocol, state, who)
    elif stage == "clean up" and (_free(state) or not protocol.waits_for_commit):
        files = state.files if who in state.used else state.files - {temporary, target}
        yield Step(who, "clean up"), state.moved(who, "unpin", files=files, old=state.old & files)
    elif stage == "unpin" and _free(state):
        pins = frozenset(pin for pin in state.pins if pin[0] != who)
        yield Step(who, "unpin"), state.moved(who, "let go", pins=pins, expired=_without(state, who, "pin"))
    elif stage == "let go" and _free(state):
        yield (
            Step(who, "let go"),
            state.moved(who, "end", leases=state.leases - {who}, expired=_without(state, who, "lease")),
        )


def _register_steps(protocol: Protocol, state: State, who: str) -> Iterator[tuple[Step, State]]:
    target = ("fragments", who)
    unbroken = {(who, ("_temporary", who)), (who, target)} <= state.pins and who not in state.forgotten
    if protocol.checks_pins and not unbroken:
        yield Step(who, "register"), state.moved(who, "clean up")
    elif state.used:
        yield Step(who, "register"), state.moved(who, "unpin", files=state.files - {target}, old=state.old - {target})
    else:
        yield Step(who, "register"), state.moved(who, "unpin", fragments=state.fragments | {(who, "used")})
        if protocol.loses_answers:
            yield Step(who, "lose answer"), state.moved(who, "clean up", in_flight=state.in_flight | {who})


def _reader_steps(state: State, who: str, stage: str) -> Iterator[tuple[Step, State]]:
    if stage == "begin" and _free(state):
        for writer in sorted(state.used):
            place = ("fragments", writer)
            yield (
                Step(who, "pin", place),
                state.moved(who, "read", pins=state.pins | {(who, place)}, seen=state.seen | {(who, place)}),
            )
    elif stage == "read":
        ((_, place),) = (item for item in state.seen if item[0] == who)
        yield Step(who, "read", place), state.moved(who, "unpin" if place in state.files else "unpin all the same")
    elif stage in ("unpin", "unpin all the same") and _free(state):
        pins = frozenset(pin for pin in state.pins if pin[0] != who)
        yield (
            Step(who, "unpin"),
            state.moved(who, "end" if stage == "unpin" else "refused", pins=pins, expired=_without(state, who)),
        )


def _collector_steps(state: State, who: str, stage: str) -> Iterator[tuple[Step, State]]:
    if stage == "begin":
        seen = state.seen | {(who, place) for place in state.files}
        seen_old = state.seen_old | {(who, place) for place in state.old}
        yield Step(who, "list"), state.moved(who, "plan", seen=seen, seen_old=seen_old)
    elif stage == "plan" and _free(state):
        yield Step(who, "plan"), _planned(state, who)
    elif stage == "delete":
        mine = sorted(place for item, place in state.seen if item == who)
        for place in mine[:1]:
            left = {"files": state.files - {place}, "old": state.old - {place}, "seen": state.seen - {(who, place)}}
            yield Step(who, "delete", place), state.moved(who, "delete" if mine[1:] else "finish", **left)
    elif stage == "finish" and _free(state):
        mine = {item for collector, item in state.finishing if collector == who}
        removed = {(fragment, "removed" if fragment in mine else status) for fragment, status in state.fragments}
        yield Step(who, "finish"), state.moved(who, "end", fragments=frozenset(removed))


def _planned(state: State, who: str) -> State:
    held = state.held()
    files = {place for item, place in state.seen if item == who}
    abandoned = {place for holder, place in state.pins if not state.alive(holder)}
    dropped = {item for item in state.used if ("fragments", item) not in held}
    fragments = frozenset(
        (fragment, "dropped" if fragment in dropped else status) for fragment, status in state.fragments
    )
    gone = {
        ("fragments", fragment)
        for fragment, status in fragments
        if status == "dropped" and ("fragments", fragment) not in held
    }
    referred = {("fragments", fragment) for fragment, status in state.fragments if status != "removed"}
    leftovers = {
        place
        for place in files
        if place not in referred and place not in held and ((who, place) in state.seen_old or place in abandoned)
    }
    others = frozenset(item for item in state.seen if item[0] != who)
    todo = frozenset((who, place) for place in gone | leftovers)
    kept = frozenset(pin for pin in state.pins if state.holds(pin[0], "pin"))
    leases = frozenset(lease for lease in state.leases if state.holds(lease, "lease"))
    stage = "delete" if todo else "finish"
    finishing = state.finishing | {(who, writer) for _, writer in gone}
    seen = others | todo
    changes = {"seen": seen, "seen_old": frozenset(item for item in state.seen_old if item[0] != who)}
    return state.moved(who, stage, fragments=fragments, pins=kept, leases=leases, finishing=finishing, **changes)


# --- what must hold ---


@dataclass(frozen=True, slots=True)
class Broken:
    """An invariant that does not hold, and the steps after which it does not."""

    what: str
    steps: tuple[Step, ...]


@dataclass(slots=True)
class Explored:
    """How many states and steps there are, the broken invariant if there is one, and a way to every state.

    Parameters
    ----------
    states, steps
        The counts.
    broken
        The first broken invariant.
    before
        The step and the state before each state.
    """

    states: int = 0
    steps: int = 0
    broken: Broken | None = None
    before: dict[State, tuple[Step, State] | None] = field(default_factory=dict)

    def way(self, state: State) -> tuple[Step, ...]:
        """Return the shortest way to a state."""
        results = []
        before = self.before[state]
        while before is not None:
            results.append(before[0])
            before = self.before[before[1]]
        return tuple(reversed(results))


def explore(protocol: Protocol) -> Explored:
    """Visit every state, the nearest first, until an invariant breaks."""
    first = start(protocol)
    explored = Explored(states=1, before={first: None})
    waiting = deque([first])
    while waiting:
        state = waiting.popleft()
        nexts = list(successors(protocol, state))
        problem = _problem(protocol, state) or ("" if nexts else _last_problem(protocol, state))
        if problem:
            explored.broken = Broken(problem, explored.way(state))
            return explored
        for step, after in nexts:
            explored.steps += 1
            problem = _step_problem(state, step)
            if problem:
                explored.broken = Broken(problem, (*explored.way(state), step))
                return explored
            if after not in explored.before:
                explored.before[after] = (step, state)
                explored.states += 1
                waiting.append(after)
    return explored


def _problem(protocol: Protocol, state: State) -> str:
    if any(("fragments", who) not in state.files for who in state.used):
        return "a registered fragment has no data"
    if len([who for who in state.leases if state.holds(who, "lease") and who not in state.stopped]) > 1:
        return "two hold the lease that were never stopped"
    for who in protocol.readers:
        if state.stage(who) == "refused" and who not in state.stopped:
            return "a reader that had pinned a fragment did not find its data"
    return ""


def _step_problem(state: State, step: Step) -> str:
    if step.what != "delete" or step.place is None:
        return ""
    holders = {who for who, place in state.pins if place == step.place and state.holds(who, "pin")}
    if holders - state.stopped:
        return "what a process holds is deleted"
    return "what is registered is deleted" if step.place[1] in state.used and step.place[0] == "fragments" else ""


def _last_problem(protocol: Protocol, state: State) -> str:
    """Return what is wrong when nobody can do anything: something is never deleted, or somebody waits for ever."""
    for who in protocol.writers:
        if state.alive(who) and state.stage(who) not in ("end", "begin"):
            return f"{who} waits for ever"
    quiet = replace(state, old=state.files, dead=frozenset(protocol.everybody))
    collector = replace(Protocol(), writers=(), collectors=("last",))
    last = replace(quiet, at=(("last", "begin"),))
    while any(stage != "end" for _, stage in last.at):
        _, last = next(iter(successors(collector, last)))
    return "garbage is never deleted" if last.files else ""
