"""Knowledge in the user's words: names instead of digests, attributes instead of identities."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from provenn.catalogs import Catalog, cone
from provenn.catalogs.caveats import describe_caveat
from provenn.catalogs.match_sets import describe_match
from provenn.catalogs.pair_sets import split_lifted_label
from provenn.catalogs.set_labels import is_derived_set, parse_file_label, parse_opaque_label
from provenn.criteria import AttributeIdentity, identities_in
from provenn.definitions import base_locations, catalog_names
from provenn.definitions.attributes import find_names_by_identity
from provenn.definitions.catalog_store import find_entries, get_catalogs, resolve_catalog
from provenn.digests import CatalogDigest, is_catalog_label
from provenn.display.text import join_words
from provenn.knowledge.stored_facts import Fact, get_fact
from provenn.logic import statement
from provenn.logic.statements import SetComparison
from provenn.words.definition_words import describe_definition
from provenn.words.proof_chains import Reason, build_chain
from provenn.words.reference_words import (
    MemberSets,
    describe_criterion,
    describe_reference_fact,
    list_label_identities,
    list_label_parts,
    name_attribute,
)
from provenn.words.restating import RestatedFact, restate_definition, restate_proof

if TYPE_CHECKING:
    from provenn.database.transactions import Reading
    from provenn.knowledge.consequences import CitedFact, FactOrigin
    from provenn.logic import Explanation, Statement

__all__ = [
    "SHORT",
    "SUPPOSED",
    "Vocabulary",
    "choose_names",
    "describe_criterion",
    "name_facts",
    "parse_statement",
    "resolve_statements",
    "sort_by_name",
]

SHORT = 12
"""The number of digits of a digest that stand for an unnamed catalog."""

SUPPOSED = 0
"""The number of a supposition: a fact for one question only, which is not recorded."""

_BY_LOGIC = "whatever the values are"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words for labels, which are digests of catalogs or criteria over identities.

    Parameters
    ----------
    words
        The names of catalogs, by digest.
    attributes
        The names of attributes, by identity.
    catalogs
        The catalogs whose definitions can be described, by digest.
    """

    words: Mapping[str, str]
    attributes: Mapping[AttributeIdentity, str]
    catalogs: Mapping[CatalogDigest, Catalog]
    _cached_members: list[MemberSets] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        reading: Reading,
        digests: Iterable[CatalogDigest],
        user_names: Mapping[CatalogDigest, str],
        facts: Iterable[Statement] = (),
        definitions: Collection[CatalogDigest] = (),
    ) -> Vocabulary:
        """Collect the words for catalogs.

        Parameters
        ----------
        reading
            The transaction.
        digests
            The catalogs to name.
        user_names
            The user's names of catalogs, by digest.
        facts
            The facts to describe, with their criteria.
        definitions
            Further catalogs to describe, besides the catalogs of the facts.
        """
        whole_labels = [*definitions, *(label for statement in facts for label in statement.labels)]
        lifted = [lifted_parts[1] for label in whole_labels if (lifted_parts := split_lifted_label(label))]
        targets = (target for label in (*whole_labels, *lifted) for target in list_label_parts(label))
        labels = dict.fromkeys([*whole_labels, *lifted, *targets])
        mentioned = [label for label in labels if is_catalog_label(label)]
        # An archive need not hold the earlier version that a part of a base catalog belongs to.
        held = find_entries(reading, mentioned) if mentioned else {}
        cited = [digest for digest in mentioned if digest in held]
        catalogs = get_catalogs(reading, cited) if cited else {}
        defined = [catalogs[digest] for digest in dict.fromkeys(definitions) if digest in catalogs]
        labels |= dict.fromkeys(label for catalog in defined for label in catalog.extent.labels)
        if any(map(is_derived_set, labels)):  # members of groups are named by any catalog of the lineage that has them
            catalogs |= {
                catalog.digest: catalog for catalog in cone(*catalogs.values()) if catalog.digest not in catalogs
            }
        made_from = (dependency.digest for digest in cited for dependency in catalogs[digest].dependencies)
        matched = {match_parts[1] for label in labels if (match_parts := describe_match(label))} - {None}
        near = (digest for digest, catalog in catalogs.items() if catalog.extent.digest in matched)
        named_digests = list(dict.fromkeys([*digests, *cited, *made_from, *near, *catalogs]))
        # If an attribute has several names, its first name is used.
        attributes = {
            attribute.identity: attribute.name
            for catalog in reversed(catalogs.values())
            for attribute in catalog.schema.attributes
        }
        # A proof may go down to attributes that no cited catalog has.
        identities = {identity for label in labels for identity in list_label_identities(label)}
        attributes |= find_names_by_identity(reading, identities - attributes.keys())
        words: dict[str, str] = dict(choose_names(reading, named_digests).items())
        words.update(user_names.items())
        return cls(words, attributes, catalogs)

    def word(self, label: str) -> str:
        """Return the word for a label."""
        lifted_parts = split_lifted_label(label)
        if lifted_parts is not None:
            side, inner = lifted_parts
            return f"{side} in {self.word(inner)}" if is_catalog_label(inner) else f"{side} where {self.word(inner)}"
        file = parse_file_label(label)
        if file is not None:
            return f"file {file[1]} of {self.word(file[0])}"
        opaque = parse_opaque_label(label)
        if opaque is not None:
            return f"fulfilling the opaque condition {opaque}"
        if is_catalog_label(label):
            return self.words.get(label, label[:SHORT])
        return (
            self.words.get(label)
            or self._describe_match(label)
            or self._get_member_sets().describe(label, self.word, self.attributes)
            or describe_criterion(label, self.attributes)
        )

    def _get_member_sets(self) -> MemberSets:
        """Return the sets that labels name by the digest of an extent; collect them at the first call."""
        if not self._cached_members:
            self._cached_members.append(MemberSets.of(self.catalogs.values(), self.words))
        return self._cached_members[0]

    def _describe_match(self, label: str) -> str | None:
        """Return the words for the label of a cross-match; None for another label."""
        match_parts = describe_match(label)
        if match_parts is None or match_parts[1] is None:
            return match_parts and match_parts[0]
        alike = (catalog for catalog in self.catalogs.values() if catalog.extent.digest == match_parts[1])
        candidates = sorted((" " in word, word) for catalog in alike if (word := self.words.get(catalog.digest)))
        return f"{match_parts[0]} {candidates[0][1] if candidates else 'the other catalog'}"

    def translate_statement(self, statement: Statement) -> Statement:
        """Return a statement in these words."""
        return statement.relabelled(self.word)

    def translate_fact(self, fact: Fact) -> Fact:
        """Return a fact with its statement in these words."""
        return replace(fact, statement=self.translate_statement(fact.statement))

    def translate_explanation(self, explanation: Explanation) -> Explanation:
        """Return an explanation in these words."""
        from provenn.logic import Explanation  # noqa: PLC0415 - a command starts without it

        conclusion = explanation.conclusion and self.translate_statement(explanation.conclusion)
        restated = restate_proof(explanation.facts, explanation.conclusion, self.catalogs)
        facts = tuple(map(self._translate_restated, restated))
        return Explanation(facts, explanation.open_universe, conclusion)

    def describe_reasons(self, reading: Reading, because: Iterable[CitedFact]) -> tuple[Reason, ...]:
        """Return facts with their origins, in these words."""
        return tuple(self._describe_reason(reading, statement, origin) for statement, origin in because)

    def describe_proof(
        self, reading: Reading, because: Sequence[CitedFact], conclusion: Statement
    ) -> tuple[tuple[Reason, ...], tuple[Reason, ...]]:
        """Return the facts of a proof over the user's criteria, and the proof as a chain ending in its conclusion."""
        facts, texts = self._restate_reasons(reading, because, conclusion)
        grounds = {
            statement: parse_statement(origin.premise)
            for statement, origin in because
            if origin.premise is not None and statement in facts
        }

        def describe(statement: Statement) -> Reason:
            words = self._translate_restated(RestatedFact(statement, (), texts))
            return Reason(words, "", self._list_mentioned_catalogs(statement))

        chain = build_chain(facts, conclusion, grounds, describe)
        return tuple(facts.values()), chain

    def describe_facts(
        self, reading: Reading, because: Sequence[CitedFact], conclusion: Statement
    ) -> tuple[Reason, ...]:
        """Return the facts of a proof over the user's criteria."""
        return tuple(self._restate_reasons(reading, because, conclusion)[0].values())

    def _restate_reasons(
        self, reading: Reading, because: Sequence[CitedFact], conclusion: Statement
    ) -> tuple[dict[Statement, Reason], frozenset[str]]:
        """Return the facts of a proof over the user's criteria, by their statements over labels, and these criteria."""
        reasons = {statement: self._describe_reason(reading, statement, origin) for statement, origin in because}
        restated = restate_proof([*reasons], conclusion, self.catalogs)
        facts = {
            fact.statement: self._restate_reason(fact, [reasons[replaced] for replaced in fact.replaced])
            for fact in restated
        }
        return facts, frozenset(text for fact in restated for text in fact.texts)

    def _restate_reason(self, restated: RestatedFact, reasons: Sequence[Reason]) -> Reason:
        """Return a fact of a restated proof, with the origins of the facts that it stands for."""
        statement = self._translate_restated(restated)
        if len(reasons) == 1:
            return replace(reasons[0], statement=statement)
        return Reason(statement, "; ".join(dict.fromkeys(reason.because for reason in reasons)) or _BY_LOGIC)

    def state_definition(self, fact: Statement) -> Statement:
        """Return a fact of a definition in these words, with the criterion of a selection as the user wrote it."""
        return self._translate_restated(restate_definition(fact, self.catalogs))

    def _translate_restated(self, restated: RestatedFact) -> Statement:
        """Return a restated fact in these words; the user's words stay as they are."""
        return restated.statement.relabelled(lambda label: label if label in restated.texts else self.word(label))

    def _describe_reason(self, reading: Reading, statement: Statement, origin: FactOrigin) -> Reason:
        """Return a fact with its origin, in these words."""
        recorded = self.translate_fact(get_fact(reading, origin.fact)) if origin.fact else None
        return Reason(
            self.translate_statement(statement),
            self._describe_reduction(statement, *origin.reduction)
            if origin.reduction
            else self._describe_origin(statement, origin, recorded),
            self._list_mentioned_catalogs(statement),
            recorded,
        )

    def _describe_reduction(self, statement: Statement, label: str, condition: str) -> str:
        """Return what a criterion on a term is in terms of the parts of the term, in words."""
        if not condition:
            return "by the members of the concatenation"
        match statement:
            case SetComparison("=="):
                word = "is"
            case SetComparison(left=left) if left.label == label:
                word = "lies in"
            case _:
                word = "contains"
        return f"{self.word(label)} {word} {describe_criterion(condition, self.attributes)}"

    def describe_caveats(
        self, reading: Reading, digests: Iterable[CatalogDigest], because: Iterable[CitedFact] = ()
    ) -> tuple[str, ...]:
        """Return the assumptions of an answer about base files, a sentence each.

        Parameters
        ----------
        reading
            The transaction.
        digests
            The catalogs of the answer.
        because
            The facts that prove the answer. Their catalogs are included.
        """
        labels = (label for statement, _ in because for label in statement.labels if is_catalog_label(label))
        caveats_by_base = base_locations.find_caveats(reading, list(dict.fromkeys([*digests, *labels])))
        words = dict(self.words) | choose_names(
            reading, [digest for digest in caveats_by_base if digest not in self.words]
        )
        return tuple(describe_caveat(words[digest], caveat) for digest, caveat in caveats_by_base.items())

    def _list_mentioned_catalogs(self, statement: Statement) -> tuple[tuple[str, CatalogDigest], ...]:
        """Return the names and digests of the catalogs in a statement."""
        return tuple((self.word(label), label) for label in statement.labels if is_catalog_label(label))

    def _describe_origin(self, statement: Statement, origin: FactOrigin, recorded: Fact | None) -> str:
        """Return the origin of a fact in words."""
        from provenn.knowledge.consequences import FactOrigin  # noqa: PLC0415 - a command starts without it

        if recorded is not None:
            why = f": {recorded.reason}" if recorded.reason else ""
            return f"fact #{recorded.id}, {recorded.origin} by {recorded.declared_by}{why}"
        match origin:
            case FactOrigin("definition", catalog=str(digest)) if digest not in self.catalogs:
                return f"{self.word(digest)}: by the files that versions of a base catalog share"  # the viewer sees one
            case FactOrigin("definition", catalog=str(digest)):
                return f"{self.word(digest)}: {describe_definition(self.catalogs[digest], self.word)}"
            case FactOrigin(fact=0):  # SUPPOSED
                return "given"
            case FactOrigin("criterion"):
                identities = dict.fromkeys(chain.from_iterable(map(identities_in, statement.labels)))
                words = {identity: name_attribute(identity, self.attributes) for identity in identities}
                names = [word for identity, word in words.items() if word != identity]
                if len(names) > 1:
                    return f"by the values of {join_words(names)}"
                return "by the order of the values"
            case FactOrigin("values"):
                return "by the values that occur together"
            case FactOrigin("reference"):
                return describe_reference_fact(statement)
            case FactOrigin("sky"):
                return "by their positions on the sky"
            case FactOrigin("footers", catalog=str(digest)):
                return f"by the footers of the files of {self.word(digest)}"
            case FactOrigin("folders", catalog=str(digest)):
                return f"by the names of the folders of {self.word(digest)}"
            case FactOrigin("pixels", catalog=str(digest)):
                return f"by the pixels of the files of {self.word(digest)}"
            case _:
                return "no base catalog holds every object"


def parse_statement(value: str | Statement) -> Statement:
    """Return a statement; a text is parsed."""
    return statement(value) if isinstance(value, str) else value


def resolve_statements(
    reading: Reading, statements: Iterable[str | Statement]
) -> tuple[list[Statement], dict[CatalogDigest, str]]:
    """Return statements with digests instead of names, and the user's names by digest.

    Raises
    ------
    UnknownCatalogError
        If no catalog has a name in a statement.
    """
    parsed = [parse_statement(value) for value in statements]
    digests = {label: resolve_catalog(reading, label) for statement in parsed for label in statement.labels}
    user_names = {digest: label for label, digest in reversed(digests.items())}
    return [statement.relabelled(digests.__getitem__) for statement in parsed], user_names


def name_facts(reading: Reading, facts: Iterable[Fact]) -> list[Fact]:
    """Return facts with names in their statements."""
    fact_list = list(facts)
    vocabulary = Vocabulary.of(reading, {digest for fact in fact_list for digest in fact.catalogs}, {})
    return [vocabulary.translate_fact(fact) for fact in fact_list]


def sort_by_name(reading: Reading, digests: Collection[CatalogDigest]) -> list[CatalogDigest]:
    """Return the digests of catalogs sorted by name, named catalogs first."""
    names_by_digest = catalog_names.find_names_by_digest(reading, digests)
    named = sorted(names_by_digest, key=lambda digest: (names_by_digest[digest], digest))
    # Sorting digests without a key is much faster, and most of very many catalogs have no name.
    return [*named, *sorted(digest for digest in digests if digest not in names_by_digest)]


def choose_names(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, str]:
    """Return the first name of each catalog, or the beginning of its digest."""
    names_by_digest = catalog_names.find_names_by_digest(reading, digests)
    return {digest: names_by_digest[digest][0] if digest in names_by_digest else digest[:SHORT] for digest in digests}
