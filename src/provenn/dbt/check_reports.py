"""The findings of a check for people and programs: text, Markdown, JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from provenn.dbt.findings import Findings, LostRows, SameRows, UnionOverlap
from provenn.dbt.implied_tests import ImpliedTest
from provenn.display.text import join_words

__all__ = ["describe_findings", "encode_findings"]

_UNIONS: Final = {
    "disjoint": "can never share a row",
    "equal": "have the same rows",
    "inside": "share rows: one lies inside the other",
    "unknown": "may share rows",
}


def describe_findings(findings: Findings, *, markdown: bool = False) -> str:
    """Return findings in words, with a heading for each kind."""
    title = f"{findings.models} models, {findings.tests} tests"
    lines = [f"# {title}" if markdown else title]
    for heading, entries in _list_sections(findings, dict(findings.proofs)):
        if entries:
            lines += ["", f"## {heading} ({len(entries)})" if markdown else f"{heading} ({len(entries)}):"]
            lines += ["", *(f"- {entry}" for entry in entries)] if markdown else [f"  {entry}" for entry in entries]
    if len(lines) == 1:
        lines.append("nothing found")
    return "\n".join(lines)


def _list_sections(findings: Findings, proofs: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the kinds of findings, each with its entries."""
    yield (
        "Tests that contradict each other",
        [
            f"{join_words(conflict.tests)}: only if {conflict.table} is empty, "
            + ("all of them pass" if len(conflict.tests) > 1 else "it passes")
            for conflict in findings.contradictions
        ],
    )
    yield "Models without rows, whatever the data", list(findings.empty)
    yield "Models with the same rows", [_describe_same(same) for same in findings.same_rows]
    yield "Rows lost on the way", [_describe_lost(lost) for lost in findings.lost_rows]
    yield "Members of unions", [_describe_union(union) for union in findings.unions]
    yield (
        "Tests that need not run",
        [line for test in findings.implied for line in _describe_implied(test, proofs.get(test.test.unique_id, ()))],
    )
    yield "Not understood", [f"{part.name}: {part.reason}" for part in findings.unread]


def _describe_same(same: SameRows) -> str:
    columns = ", with the same values" if same.same_columns else ""
    tests = ", as long as the tests pass" if same.by_tests else ""
    return f"{join_words(same.models)}{columns}{tests}"


def _describe_lost(lost: LostRows) -> str:
    conditions = f": {'; '.join(lost.conditions)}" if lost.conditions else ""
    return f"{lost.model} may lack rows of {lost.parent}{conditions}"


def _describe_union(union: UnionOverlap) -> str:
    left, right = union.members
    twice = ", and UNION ALL keeps them twice" if union.is_all and union.relation != "disjoint" else ""
    return f"{union.model}: members {left} and {right} {_UNIONS[union.relation]}{twice}"


def _describe_implied(implied: ImpliedTest, proof: tuple[str, ...]) -> list[str]:
    premises = [test.name for test in implied.premises]
    source = f"follows from {join_words(premises)}" if premises else "follows from the definitions"
    lines = [f"{implied.test.name}: {source}"]
    return lines + [f"    {line}" for line in proof]


def encode_findings(findings: Findings) -> dict[str, Any]:
    """Return findings as JSON."""
    proofs = dict(findings.proofs)
    return {
        "models": findings.models,
        "tests": findings.tests,
        "contradictions": [
            {"table": conflict.table, "tests": list(conflict.tests)} for conflict in findings.contradictions
        ],
        "empty": list(findings.empty),
        "same_rows": [
            {"models": list(same.models), "same_columns": same.same_columns, "by_tests": same.by_tests}
            for same in findings.same_rows
        ],
        "lost_rows": [
            {"model": lost.model, "parent": lost.parent, "conditions": list(lost.conditions)}
            for lost in findings.lost_rows
        ],
        "unions": [
            {"model": union.model, "members": list(union.members), "relation": union.relation, "all": union.is_all}
            for union in findings.unions
        ],
        "implied_tests": [
            {
                "test": implied.test.unique_id,
                "name": implied.test.name,
                "follows_from": [test.unique_id for test in implied.premises],
                "proof": list(proofs.get(implied.test.unique_id, ())),
            }
            for implied in findings.implied
        ],
        "unread": [{"name": part.name, "reason": part.reason} for part in findings.unread],
    }
