"""What a step does, in words: names instead of digests, criteria as people write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from provenn.catalogs import Catalog, Extent, cone
from provenn.catalogs.sample_sources import sample_rule
from provenn.criteria import abridged, plain_text
from provenn.store.knowledge import Origin
from provenn.targets.match_steps import Match, Matched
from provenn.targets.scene import Scene, parts
from provenn.targets.steps import (
    Attributes,
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
)

__all__ = ["DIGESTS", "Digests", "Words", "in_words", "listed"]


class Words(Protocol):
    """What things are called by whoever looks at a plan."""

    def word(self, label: str, /) -> str:
        """Return what to call a catalog, by its digest, or a criterion, by its label."""

    def where_from(self, origin: Origin, /) -> str:
        """Return where a fact comes from."""


class Digests:
    """What things are called where nobody knows their names."""

    def word(self, label: str, /) -> str:
        """Return the beginning of a digest; the label of a criterion as it is."""
        return label[:12] if re.fullmatch(r"[0-9a-f]{64}", label) else label

    def where_from(self, origin: Origin, /) -> str:
        """Return its kind, and its number if it has one."""
        return origin.kind if origin.fact is None else f"{origin.kind}, fact #{origin.fact}"


DIGESTS = Digests()


def in_words(step: Step, needed: frozenset[str], scene: Scene, words: Words) -> str:
    """Return what a step does.

    Parameters
    ----------
    step
        The step.
    needed
        The attributes that are needed of it.
    scene
        What is known.
    words
        What things are called.
    """
    match step:
        case Scan(base=base):
            return f"read {_names(step, needed)} of {words.word(base.digest)}"
        case Stored(fragment=one, catalog=catalog):
            stored = f"stored {one.stored_at:%Y-%m-%d} by {one.stored_by}"
            return f"read {_names(step, needed)} from fragment #{one.id}, {stored} for {_sources(catalog, words)}"
        case Nothing():
            return "no data are read"
        case Select(condition=condition):
            return f"select {_Conditions(scene, step.input.attributes, words.word).all_of(dict(parts(condition)))}"
        case Derive(attribute=one, expression=expression):
            return f"derive {one.name} = {_expression(expression.canonical, step.input.attributes)}"
        case Calculate(outputs=outputs, calculator=calculator):
            return f"calculate {listed([one.name for one in outputs])} by {calculator.function}"
        case Restrict():
            return f"keep the sources that the second one has too, by {_key(step)}"
        case Exclude():
            return f"leave out the sources that the second one has, by {_key(step)}"
        case Match(catalog=catalog):
            which = "all pairs" if catalog.matches == "all" else "the nearest of the second for each of the first"
            return f"match on the sky within {catalog.radius:g} arcsec: {which}"
        case Matched():
            return f"keep the sources that occur in pairs, by {_key(step)}"
        case Combine():
            return f"join on {_key(step)}"
        case Concat(disjoint=disjoint):
            return "put together" if disjoint else f"put together, each {_key(step)} once"
        case Fill(missing=missing):
            return f"no value of {listed([one.name for one in missing])}"
    raise AssertionError(step.word)


def listed(names: list[str], most: int = 8) -> str:
    """Return names with commas between them.

    >>> listed(["g", "r"]), listed(list("abcdefghij"))
    ('g, r', 'a, b, c, d, e, f, g, h and 2 more')
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def _names(step: Step, needed: frozenset[str]) -> str:
    key = [one.name for identity, one in step.attributes.items() if is_key(identity)]
    return listed(key + sorted(step.attributes[one].name for one in needed if not is_key(one)))


def _sources(catalog: Catalog, words: Words) -> str:
    """Return what to call the sources of a catalog: by its name, or as that in its lineage which has the same ones."""
    same = [catalog, *(one for one in cone(catalog) if one.extent == catalog.extent)]
    called = [words.word(one.digest) for one in same]
    named = (
        word for one, word in zip(same, called, strict=True) if " " not in word and not one.digest.startswith(word)
    )
    return next(named, called[1])


def _key(step: Step) -> str:
    return listed([one.name for identity, one in step.attributes.items() if is_key(identity)])


def _expression(text: str, attributes: Attributes) -> str:
    return plain_text(text, {identity: one.name for identity, one in attributes.items()})


class _Conditions:
    """Writes conditions: as somebody wrote them, where a catalog selects by just that, and otherwise by their parts."""

    def __init__(self, scene: Scene, attributes: Attributes, word: Callable[[str], str]) -> None:
        self.scene = scene
        self.names = {identity: one.name for identity, one in attributes.items()}
        self.word = word

    def all_of(self, left: dict[str, Extent]) -> str:
        """Return that a row is in all of some sets."""
        texts = []
        for extent, catalog in self.scene.selections:
            own = parts(extent)
            if own.keys() <= left.keys():
                texts.append(abridged(" ".join(catalog.text.split())))
                left = {digest: one for digest, one in left.items() if digest not in own}
        texts += sorted(self._one(one) for one in left.values())
        if len(texts) > 1:
            texts = [f"({one})" if re.search(r"\bor\b", one, re.IGNORECASE) else one for one in texts]
        return " and ".join(texts) or "all"

    def _one(self, one: Extent) -> str:
        if one.label is None:  # the complement of an intersection: a row is outside one of its sets
            return " or ".join(sorted(self.all_of(dict(parts(~each))) for each in one.parts)) or "none"
        rule = sample_rule(one.label)
        if rule is None:
            text = self.word(abridged(plain_text(one.label, self.names)))
        else:
            text = f"a sample of {rule[1] / 2**63:.4g} with seed {rule[0]}"
        return f"not ({text})" if one.complemented else text
