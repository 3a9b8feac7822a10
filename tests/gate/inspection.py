"""Where provenn reads: found by looking at its modules, its commands, its pages and its formats, not at a list."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import provenn

__all__ = ["READING", "SESSION", "import_everything", "reading_modules"]

READING = frozenset(
    {
        *("open", "read_bytes", "read_text", "open_input_stream", "open_input_file", "get_binary_stream", "urlopen"),
        *("create_connection", "GzipFile", "BZ2File", "LZMAFile", "ZipFile", "decompress", "decompressobj"),
        *("b64decode", "a85decode", "copyfileobj", "unpack_archive", "loads", "load", "raw_decode", "safe_load"),
        *("full_load", "get_single_node", "construct_document", "literal_eval", "ParserCreate", "XMLPullParser"),
        *("iterparse", "fromstring", "fromfile", "frombuffer", "ParquetFile", "read_table", "read_schema"),
        *("read_metadata", "open_csv", "read_csv", "read_json", "read_orc", "read_pickle", "import_module", "reload"),
        *("exec", "eval", "compile", "__import__", "run_path", "run_module", "make_function", "Popen", "Form"),
        *("Body", "UploadFile"),
    }
)
"""What is called to read a file, to unpack, to parse, to import or run something, or to take the body of a request."""

SESSION = frozenset({"read", "readStream", "table", "sql", "catalog"})
"""What Spark's session is asked for to read something."""

_ROOT = Path(provenn.__file__).parent


def import_everything() -> None:
    """Import all modules of provenn, so that all ways in are known."""
    for module in pkgutil.walk_packages([str(_ROOT)], "provenn."):
        if not module.name.startswith("provenn.formats.migrations.") and module.name != "provenn.__main__":
            importlib.import_module(module.name)


def reading_modules() -> dict[str, set[str]]:
    """Return the modules of provenn that read, each with the names of the functions that it calls for that."""
    values = {}
    for path in sorted(_ROOT.rglob("*.py")):
        name = ".".join(("provenn", *path.relative_to(_ROOT).with_suffix("").parts)).removesuffix(".__init__")
        calls = set(_called(ast.parse(path.read_text(encoding="utf-8"))))
        if calls:
            values[name] = calls
    return values


def _called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="compile")):
                pass
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in READING:
                yield name
            case ast.Attribute(value=ast.Attribute(attr="session") | ast.Name(id="session"), attr=name) if (
                name in SESSION
            ):
                yield f"session.{name}"
