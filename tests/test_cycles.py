"""No module of provenn imports, by whatever way, a module that imports it: lazy and typing imports count."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import provenn

SOURCE = Path(provenn.__file__).parent
MODULES = {
    ".".join(("provenn", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
    if "migrations" not in path.parts  # alembic imports these, in an order of its own
}


@cache
def find_imports(name: str) -> set[str]:
    """Return the modules that a module imports, wherever in it the import stands."""
    imported = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively, which this test does not follow"
            targets = {f"{node.module}.{alias.name}" for alias in node.names}
            imported |= {target if target in MODULES else str(node.module) for target in targets}
    return imported & MODULES.keys() - {name}


def find_path(start: str, end: str) -> list[str] | None:
    """Return a shortest chain of imports from a module to another, both included; None if there is none."""
    came_from, waiting = {start: start}, [start]
    for name in waiting:  # it grows meanwhile
        for imported in sorted(find_imports(name)):
            if imported == end:
                chain = [end, name]
                while chain[-1] != start:
                    chain.append(came_from[chain[-1]])
                return chain[::-1]
            if imported not in came_from:
                came_from[imported] = name
                waiting.append(imported)
    return None


def find_cycles() -> Iterator[list[str]]:
    """Yield, for each module in a cycle, the shortest cycle through it."""
    for name in MODULES:
        cycle = find_path(name, name)
        if cycle is not None:
            yield cycle


def test_no_module_imports_itself_through_others():
    assert [" -> ".join(cycle) for cycle in find_cycles()] == []


def test_cycles_would_be_seen():
    """So that a change of layout cannot make the test above pass by finding no imports."""
    assert find_path("provenn.cli", "provenn.errors")
    assert find_path("provenn", "provenn.logic.terms"), "a lazy import counts"
    assert find_path("provenn.errors", "provenn.cli") is None
