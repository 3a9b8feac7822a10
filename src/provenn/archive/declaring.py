"""Declaring and retracting facts about catalogs, with notices about the implications of a declaration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from provenn.archive import questions
from provenn.archive.context import Context
from provenn.archive.implications import Declared, Implied, find_implications
from provenn.archive.listed_facts import ListedFact, list_facts_by_name
from provenn.archive.notices import make_implication_notices, make_repetition_notices
from provenn.archive.references import CatalogReference, find_digest
from provenn.database.transactions import Reading, Writing
from provenn.errors import ArgumentsError
from provenn.knowledge import declarations, stored_facts
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Statement
from provenn.people.visibility import Visibility
from provenn.targets.doubts import refuse_by_counts
from provenn.words.vocabulary import Vocabulary, name_facts, resolve_statements

__all__ = ["declare_statement", "list_facts", "retract_fact"]


def declare_statement(
    context: Context, statement: str | Statement, reason: str, *, visibility: Visibility, project: str | None
) -> Declared:
    """Declare a statement about catalogs; see `Archive.declare`."""
    _require_text(reason)
    with context.database.writing() as writing:
        (plain,), user_names = resolve_statements(writing, [statement])
        latest = stored_facts.find_latest_number(writing)
        with questions.translate_contradictions(writing, user_names):
            fact = declarations.declare_fact(writing, plain, reason, visibility=visibility, project=project)
            refuse_by_counts(writing, fact)
        repeated = fact.id <= latest
        new = Implied() if repeated else find_implications(writing, [fact])
        translated = Vocabulary.of(writing, fact.catalogs, user_names).translate_fact(fact)
    values = {field.name: getattr(translated, field.name) for field in fields(translated)}
    declared = Declared(**values, empties=new.empties, equates=new.equates, complete=new.complete, repeated=repeated)
    if repeated:
        context.workshop.notices.tell(make_repetition_notices(declared, reason, visibility))
    context.workshop.notices.tell(make_implication_notices(f"by {declared.words}", new, [declared]))
    return declared


def retract_fact(writing: Writing, number: int, reason: str) -> Fact:
    """Retract a fact, and return the fact with names in the statement."""
    _require_text(reason)
    return name_facts(writing, [declarations.retract_fact(writing, number, reason)])[0]


def _require_text(reason: object) -> None:
    """Raise an error if a reason is no text."""
    if not isinstance(reason, str):
        raise ArgumentsError(f"expected the reason as text, got {reason!r}", hint="pass a text, or leave it out")


def list_facts(reading: Reading, which: CatalogReference | None, *, retracted: bool) -> Sequence[ListedFact]:
    """Return the facts about a catalog, or all facts, with names in their statements."""
    if which is None:
        return list_facts_by_name(reading, stored_facts.find_all_facts(reading, retracted=retracted))
    digest = find_digest(reading, which)
    return list_facts_by_name(reading, stored_facts.find_facts_about(reading, digest, retracted=retracted))
