"""Descriptions of steps in words: names instead of digests, criteria as people write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from provenn.catalogs import Catalog, Extent, cone
from provenn.catalogs.calculators import WindowFunctions
from provenn.catalogs.sample_sources import parse_sample_rule
from provenn.criteria import AttributeIdentity, abridged, plain_text
from provenn.digests import is_digest
from provenn.display.name_lists import join_names
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.match_steps import Match, Matched
from provenn.targets.opaque_steps import FilterBySql, QueryBySql
from provenn.targets.reference_steps import Explode, First, Group, Lookup, Partnered
from provenn.targets.scene import Scene, split_intersection
from provenn.targets.steps import (
    Attributes,
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    Fill,
    FragmentScan,
    Nothing,
    PlanStep,
    Restrict,
    Scan,
    Select,
    is_key,
)
from provenn.words.reference_words import shorten_directions

if TYPE_CHECKING:
    from provenn.knowledge.consequences import CitedFact
    from provenn.logic import Statement

__all__ = ["DIGESTS", "Digests", "Words", "describe_step"]


class Words(Protocol):
    """The vocabulary of the reader of a plan."""

    def word(self, label: str, /) -> str:
        """Return the name for a catalog digest or for the label of a criterion."""

    def describe_proof(self, because: Sequence[CitedFact], conclusion: Statement, /) -> tuple[str, ...]:
        """Return the facts of a proof with their origins, in words."""


class Digests:
    """A vocabulary without names: it shortens digests."""

    def word(self, label: str, /) -> str:
        """Return the beginning of a digest; the label of a criterion as it is."""
        return label[:12] if is_digest(label) else label

    def describe_proof(self, because: Sequence[CitedFact], conclusion: Statement, /) -> tuple[str, ...]:  # noqa: ARG002 - the words do not depend on it
        """Return the facts of a proof, each with the kind of its origin and the number of the recorded fact, if any."""
        kinds = [f"{origin.kind}, fact #{origin.fact}" if origin.fact else origin.kind for _, origin in because]
        return tuple(f"{fact.relabelled(self.word)}  ({kind})" for (fact, _), kind in zip(because, kinds, strict=True))


DIGESTS = Digests()


def describe_step(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene, words: Words) -> str:
    """Return the operation of a step, in words.

    Parameters
    ----------
    step
        The step.
    needed
        The needed attributes of the step.
    scene
        The knowledge for planning.
    words
        The vocabulary of the reader.
    """
    match step:
        case Scan(base=base):
            files = f" from {step.file_count:,} of {len(base.files.fingerprints):,} files"
            chosen = files if step.chosen is not None else ""
            return f"read {_list_read_names(step, needed)} of {words.word(base.digest)}{chosen}"
        case FragmentScan(fragment=fragment, catalog=catalog):
            stored = f"stored {fragment.stored_at:%Y-%m-%d} by {fragment.stored_by}"
            names, sources = _list_read_names(step, needed), _name_sources(catalog, words)
            return f"read {names} from fragment #{fragment.id}, {stored} for {sources}"
        case Nothing():
            return "no data are read"
        case Select(condition=condition):
            conditions = _ConditionWriter(scene, step.input.attributes, words.word)
            return f"select {conditions.write_all(dict(split_intersection(condition)))}"
        case Derive(attribute=attribute, expression=expression):
            return f"derive {attribute.name} = {_write_expression(expression.canonical, step.input.attributes)}"
        case Calculate(outputs=outputs, calculator=WindowFunctions() as windows):
            texts = [_write_expression(window.canonical, step.input.attributes) for window in windows.outputs]
            return f"derive {join_names([output.name for output in outputs])} = {', '.join(texts)}"
        case Calculate(outputs=outputs, calculator=calculator):
            return f"calculate {join_names([output.name for output in outputs])} by {calculator.function}"
        case Restrict():
            return f"keep the sources that the second input also has, by {_list_key_names(step)}"
        case Exclude():
            return f"leave out the sources that the second input has, by {_list_key_names(step)}"
        case Match(catalog=catalog):
            choice = "; ".join([catalog.rule.describe_choice(), *catalog.describe_placements()])
            return f"match on the sky {catalog.describe_distance()}: {choice}"
        case ContinuedMatch(catalog=catalog):
            sides = "; ".join([_list_new_sides(step), *catalog.describe_placements()])
            return f"match on the sky {catalog.describe_distance()} what is new: {sides}"
        case Matched():
            return f"keep the sources that occur in pairs, by {_list_key_names(step)}"
        case Partnered() | Lookup() | Group() | First() | Explode():
            return _describe_reference_step(step, needed)
        case FilterBySql(selection=selection):
            return f"keep the sources that fulfil SQL that is not understood: {abridged(selection.text)}"
        case QueryBySql(query=query):
            return f"run SQL that is not understood: {abridged(query.text)}"
        case Combine():
            return f"join on {_list_key_names(step)}"
        case Concat(is_disjoint=disjoint):
            return "put together" if disjoint else f"concatenate, each {_list_key_names(step)} once"
        case Fill(missing=missing):
            return f"no value for {join_names([attribute.name for attribute in missing])}"
    raise AssertionError(step.word)


def _describe_reference_step(
    step: Partnered | Lookup | Group | First | Explode, needed: frozenset[AttributeIdentity]
) -> str:
    """Return the operation of a step that follows references, in words."""
    attributes = step.inputs[0].attributes
    match step:
        case Partnered(own=own, others=others, is_in=is_in):
            partners = f"{_list_names(others, step.other.attributes)} of the second input"
            kept = "keep" if is_in else "leave out"
            return f"{kept} the sources whose {_list_names(own, attributes)} is {partners}"
        case Lookup(reference=reference, keeps_all=keeps_all):
            columns = step.find_columns(needed)
            names = sorted(attribute.name for attribute, _ in step.columns if attribute.identity in columns)
            looked_up = f"look up {join_names(names)}" if names else "look up partners"
            without = ", NULL without a partner" if keeps_all else ""
            return f"{looked_up} by {_list_names(reference.identities, attributes)}{without}"
        case Group(reference=reference, values=values):
            asked = [
                f"{attribute.name} = {_write_expression(shorten_directions(aggregate.canonical), attributes)}"
                for attribute, aggregate in values
                if attribute.identity in needed
            ]
            groups = f"group by {_list_names(reference.identities, attributes)}"
            return f"{groups}: {', '.join(asked)}" if asked else groups
        case First(by=by, order=order, number=number):
            first = "the first source" if number == 1 else f"the first {number} sources"
            texts = (shorten_directions(ordering.canonical) for ordering in order)
            ordered = ", ".join(_write_expression(text, attributes) for text in texts)
            return f"keep {first} of each {_list_names(by, attributes)} by {ordered}"
        case Explode(arrays=arrays):
            return f"take the elements of {_list_names(arrays, attributes)}"


def _list_names(identities: Sequence[AttributeIdentity], attributes: Attributes) -> str:
    """Return the names of attributes of a step."""
    return join_names([attributes[identity].name for identity in identities])


def _list_read_names(step: PlanStep, needed: frozenset[AttributeIdentity]) -> str:
    """Return the names of the key and of the needed attributes."""
    key = [attribute.name for identity, attribute in step.attributes.items() if is_key(identity)]
    return join_names(key + sorted(step.attributes[identity].name for identity in needed if not is_key(identity)))


def _name_sources(catalog: Catalog, words: Words) -> str:
    """Return the name of a catalog's sources: from the catalog, or from an ancestor with the same sources."""
    candidates = [catalog, *(candidate for candidate in cone(catalog) if candidate.extent == catalog.extent)]
    words_used = [words.word(candidate.digest) for candidate in candidates]
    names = (
        word
        for candidate, word in zip(candidates, words_used, strict=True)
        if " " not in word and not candidate.digest.startswith(word)
    )
    return next(names, words_used[1])


def _list_new_sides(step: ContinuedMatch) -> str:
    """Return which sources a continued match matches, in words."""
    again = [
        "new sources of the left side" if step.new_left is not None else "",
        "the sources near new ones of the right side" if step.new_right is not None else "",
        "the sources without their stored partner" if step.may_lose_partner else "",
    ]
    return ", and ".join(filter(None, again)) or "nothing"


def _list_key_names(step: PlanStep) -> str:
    return join_names([attribute.name for identity, attribute in step.attributes.items() if is_key(identity)])


def _write_expression(text: str, attributes: Attributes) -> str:
    return plain_text(text, {identity: attribute.name for identity, attribute in attributes.items()})


def _is_null_test(part: Extent) -> bool:
    """Tell whether a set is that of the sources with a value of an attribute."""
    return part.label is not None and not part.complemented and part.label.endswith(" IS NOT NULL")


class _ConditionWriter:
    """Writes conditions: as a catalog's criterion where one matches, and otherwise by their parts."""

    def __init__(self, scene: Scene, attributes: Attributes, word: Callable[[str], str]) -> None:
        self.scene = scene
        self.names = {identity: attribute.name for identity, attribute in attributes.items()}
        self.word = word

    def write_all(self, remaining: dict[str, Extent]) -> str:
        """Return the text of the condition that a row is in all of some sets."""
        texts = []
        for condition, _ in self.scene.selections:
            own = split_intersection(condition.extent)
            tested = {digest: part for digest, part in own.items() if not _is_null_test(part)} or own
            if tested.keys() <= remaining.keys():  # a test for NULL is left out where no value is NULL
                texts.append(abridged(" ".join(condition.text.split())))
                remaining = {digest: part for digest, part in remaining.items() if digest not in own}
        texts += sorted(self._write_condition(part) for part in remaining.values())
        if len(texts) > 1:
            texts = [f"({text})" if re.search(r"\bor\b", text, re.IGNORECASE) else text for text in texts]
        return " and ".join(texts) or "all"

    def _write_condition(self, extent: Extent) -> str:
        """Return the text of the condition that a row is in a set."""
        if extent.label is None:  # the complement of an intersection: a row is outside one of its sets
            return (
                " or ".join(sorted(self.write_all(dict(split_intersection(~part))) for part in extent.parts)) or "none"
            )
        rule = parse_sample_rule(extent.label)
        if rule is None:
            text = self.word(abridged(plain_text(extent.label, self.names)))
        else:
            text = f"a sample of {rule[1] / 2**63:.4g} with seed {rule[0]}"
        return f"not ({text})" if extent.complemented else text
