"""Trees as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

__all__ = ["format_tree_lines"]


def format_tree_lines(
    root: str,
    parts: Mapping[str, Collection[str]],
    line: Callable[[str], str],
    again: Callable[[str], str],
    depth: int | None = None,
) -> Iterator[str]:
    """Yield the lines of a tree.

    Parameters
    ----------
    root
        The root node.
    parts
        The children of each node.
    line, again
        Return the text of a node, and the text of a node whose subtree was shown already.
    depth
        The largest depth to show.
    """
    shown: set[str] = set()
    stack = [(root, "", "", 0)]
    while stack:
        node, branch, indent, level = stack.pop()
        below = parts.get(node, ())
        if node in shown and below:
            yield f"{branch}{again(node)} (see above)"
            continue
        shown.add(node)
        cut = depth is not None and level >= depth and bool(below)
        yield f"{branch}{line(node)}" + " …" * cut
        for place, part in reversed(list(enumerate(() if cut else below, start=1))):
            last = place == len(below)
            stack.append(
                (part, indent + ("└── " if last else "├── "), indent + ("    " if last else "│   "), level + 1)
            )
