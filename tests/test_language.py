"""The source names things by what they are: words that fit everything are bound to nothing."""

import ast
from collections.abc import Iterator
from pathlib import Path

import provenn

SOURCE = Path(provenn.__file__).parent
VAGUE = {"each", "found", "given", "here", "made", "one", "ones", "said", "several", "told", "way", "ways"}
PUBLIC = {
    "archive/verbs/knowing.py: given",
    "archive/verbs/knowing.py: said",
    "samp/listening.py: told",
}
"""Parameters that other people's code passes by these names."""


def bound_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the variables and parameters of a module, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def test_variables_are_named_by_what_they_hold():
    vague = [
        f"{place}:{line} {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        if "migrations" not in path.parts
        for place in [path.relative_to(SOURCE).as_posix()]
        for name, line in bound_names(ast.parse(path.read_text()))
        if name in VAGUE and f"{place}: {name}" not in PUBLIC
    ]
    assert vague == []
