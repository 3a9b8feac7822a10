"""What is known, in the user's words: names instead of digests, attributes instead of identities."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from provenn.archive.sentences import sentence
from provenn.catalogs import Catalog
from provenn.catalogs.caveats import caveat_words
from provenn.catalogs.cross_match import match_words
from provenn.criteria import abridged, plain_text
from provenn.logic import Explanation, Statement, statement
from provenn.store import bases, names
from provenn.store.catalog_store import get_all, resolve
from provenn.store.database import Reading
from provenn.store.facts import Fact, fact
from provenn.store.knowledge import Because, Origin

__all__ = [
    "SHORT",
    "SUPPOSED",
    "Reason",
    "Vocabulary",
    "as_statement",
    "by_name",
    "criterion_words",
    "declared_in",
    "in_names",
    "resolved",
]

SHORT = 12
"""How many digits of a digest name a catalog that has no name."""

SUPPOSED = 0
"""The number of a fact that is held true for one question only, and is not recorded."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Reason:
    """A fact that a proof uses.

    Attributes
    ----------
    statement
        What it says, in names.
    because
        Where it comes from, in words.
    catalogs
        The catalogs that it mentions: what they are called, and their digests.
    fact
        The fact as it was recorded, with names in its statement, if it was declared or observed.
    """

    statement: Statement
    because: str
    catalogs: tuple[tuple[str, str], ...] = ()
    fact: Fact | None = None

    def __str__(self) -> str:
        return f"{self.statement}  ({self.because})"

    def _repr_html_(self) -> str:
        from provenn.display.catalog import reason_html  # noqa: PLC0415 - only a notebook needs it

        return reason_html(str(self.statement), self.because)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words for labels, which are digests of catalogs and criteria over identities.

    Parameters
    ----------
    words
        What to call catalogs, by digest.
    attributes
        What to call attributes, by identity.
    catalogs
        The catalogs whose definitions can be told, by digest.
    """

    words: Mapping[str, str]
    attributes: Mapping[str, str]
    catalogs: Mapping[str, Catalog]

    @classmethod
    def of(
        cls,
        reading: Reading,
        digests: Iterable[str],
        asked: Mapping[str, str],
        facts: Iterable[Statement] = (),
        definitions: Iterable[str] = (),
    ) -> Vocabulary:
        """Gather words for catalogs.

        Parameters
        ----------
        reading
            The transaction.
        digests
            Catalogs to call by name.
        asked
            What the user calls some of them, by digest.
        facts
            Facts to say in words, with the criteria in them.
        definitions
            Catalogs whose definitions are told besides those that the facts mention.
        """
        labels = dict.fromkeys([*definitions, *(label for said in facts for label in said.labels)])
        cited = [label for label in labels if _DIGEST.fullmatch(label)]
        catalogs = get_all(reading, cited) if cited else {}
        made_from = (one.digest for digest in cited for one in catalogs[digest].dependencies)
        matched = {found[1] for label in labels if (found := match_words(label))} - {None}
        near = (digest for digest, one in catalogs.items() if one.extent.digest in matched)
        called = list(dict.fromkeys([*digests, *cited, *made_from, *near]))
        # Where an attribute has several names, the first it had is taken.
        attributes = {
            one.identity: one.name for catalog in reversed(catalogs.values()) for one in catalog.schema.attributes
        }
        return cls(_words(reading, called) | dict(asked), attributes, catalogs)

    def word(self, label: str) -> str:
        """Return the word for a label."""
        return self.words.get(label) or self._match_words(label) or criterion_words(label, self.attributes)

    def _match_words(self, label: str) -> str | None:
        """Return the words for what a match makes; None for anything else."""
        found = match_words(label)
        if found is None or found[1] is None:
            return found and found[0]
        alike = (one for one in self.catalogs.values() if one.extent.digest == found[1])
        called = sorted((" " in word, word) for one in alike if (word := self.words.get(one.digest)))
        return f"{found[0]} {called[0][1] if called else 'the other catalog'}"

    def said(self, statement: Statement) -> Statement:
        """Return a statement in these words."""
        return statement.relabelled(self.word)

    def told(self, fact: Fact) -> Fact:
        """Return a fact with its statement in these words."""
        return replace(fact, statement=self.said(fact.statement))

    def explained(self, explanation: Explanation) -> Explanation:
        """Return an explanation in these words."""
        conclusion = explanation.conclusion and self.said(explanation.conclusion)
        return Explanation(tuple(map(self.said, explanation.facts)), explanation.open_universe, conclusion)

    def reasons(self, reading: Reading, because: Iterable[Because]) -> tuple[Reason, ...]:
        """Return facts and where they come from, in these words."""
        return tuple(self._reason(reading, said, origin) for said, origin in because)

    def _reason(self, reading: Reading, said: Statement, origin: Origin) -> Reason:
        recorded = self.told(fact(reading, origin.fact)) if origin.fact else None
        return Reason(self.said(said), self._origin(origin, recorded), self._mentioned(said), recorded)

    def caveats(self, reading: Reading, digests: Iterable[str], because: Iterable[Because] = ()) -> tuple[str, ...]:
        """Return what an answer takes on trust of base files, a sentence each.

        Parameters
        ----------
        reading
            The transaction.
        digests
            The catalogs that it speaks of.
        because
            The facts that it follows from. The catalogs that they mention count as well.
        """
        labels = (label for said, _ in because for label in said.labels if _DIGEST.fullmatch(label))
        found = bases.caveats(reading, list(dict.fromkeys([*digests, *labels])))
        words = dict(self.words) | _words(reading, [digest for digest in found if digest not in self.words])
        return tuple(caveat_words(words[digest], caveat) for digest, caveat in found.items())

    def _mentioned(self, said: Statement) -> tuple[tuple[str, str], ...]:
        return tuple((self.word(label), label) for label in said.labels if _DIGEST.fullmatch(label))

    def _origin(self, origin: Origin, recorded: Fact | None) -> str:
        if recorded is not None:
            why = f": {recorded.reason}" if recorded.reason else ""
            return f"fact #{recorded.id}, {recorded.origin} by {recorded.declared_by}{why}"
        match origin:
            case Origin("definition", catalog=str(digest)):
                return f"{self.word(digest)}: {sentence(self.catalogs[digest], self.word)}"
            case Origin(fact=0):  # SUPPOSED
                return "given"
            case Origin("criterion"):
                return "by the order of values"
            case Origin("sky"):
                return "by their places on the sky"
            case _:
                return "no base catalog holds everything there is"


def declared_in(reasons: Iterable[Reason]) -> tuple[Fact, ...]:
    """Return the declared facts among reasons, by number."""
    facts = {one.fact.id: one.fact for one in reasons if one.fact is not None and one.fact.origin == "declared"}
    return tuple(facts[number] for number in sorted(facts))


def as_statement(said: str | Statement) -> Statement:
    """Return a statement, read if it is text."""
    return statement(said) if isinstance(said, str) else said


def resolved(reading: Reading, said: Iterable[str | Statement]) -> tuple[list[Statement], dict[str, str]]:
    """Return statements with digests for names, and what the user calls these catalogs, by digest.

    Raises
    ------
    UnknownCatalogError
        If there is no catalog of such a name.
    """
    read = [as_statement(one) for one in said]
    digests = {label: resolve(reading, label) for one in read for label in one.labels}
    asked = {digest: label for label, digest in reversed(digests.items())}
    return [one.relabelled(digests.__getitem__) for one in read], asked


def in_names(reading: Reading, found: Iterable[Fact]) -> list[Fact]:
    """Return facts with names in their statements."""
    known = list(found)
    vocabulary = Vocabulary.of(reading, {label for one in known for label in one.statement.labels}, {})
    return [vocabulary.told(one) for one in known]


def by_name(reading: Reading, digests: Collection[str]) -> list[str]:
    """Return the digests of catalogs, those with a name first, by name."""
    called = names.names_of(reading, digests)
    return sorted(digests, key=lambda one: (one not in called, called.get(one, ()), one))


def _words(reading: Reading, digests: Collection[str]) -> dict[str, str]:
    named = names.names_of(reading, digests)
    return {digest: named[digest][0] if digest in named else digest[:SHORT] for digest in digests}


def criterion_words(label: str, attributes: Mapping[str, str]) -> str:
    """Return the label of a criterion as people write it: attributes by name, numbers without the type's suffix."""
    return abridged(plain_text(label, attributes))
