"""What is wrong with a call of a verb, and what to pass instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from inspect import BoundArguments, Parameter, Signature, cleandoc, signature
from numbers import Integral, Real
from os import PathLike
from typing import Any, Final

from provenn.catalogs import Catalog
from provenn.catalogs.schema import Schema
from provenn.criteria.types import INTEGRAL, STRING
from provenn.display.name_lists import join_names
from provenn.errors import ArgumentsError, ProvennError, did_you_mean

__all__ = ["describe_mistake", "find_key_columns"]

_PUBLIC_NAMES: Final = {"open_archive": "open"}
"""The names by which people call functions, where these differ."""

_READING: Final = ("format", "schema", "options", "null")
"""The arguments of `ingest` that say how files are read."""

_MEANINGS: Final = {
    "which": "a catalog, or its name",
    "other": "the other catalog, or its name",
    "others": "the other catalogs, or their names",
    "members": "the catalog that refers to the sources, or its name",
    "left": "the first catalog, or its name",
    "right": "the second catalog, or its name",
    "old": "the earlier catalog, or its name",
    "new": "the later catalog, or its name",
    "name": "a name",
    "criterion": 'a condition in SQL such as "plx > 10", or a region of provenn.sky',
    "fraction": "the share of the sources to keep, between 0 and 1",
    "side": '"left" or "right"',
    "order": 'what sources are sorted by, as in "mjd DESC"',
    "by": "the attributes in which the sources of a group agree",
    "on": "the attributes that hold the key of the other catalog",
    "arrays": "the attributes whose elements become sources",
    "x": "the attribute of the horizontal axis",
    "y": "the attribute of the vertical axis",
    "number": "a number",
    "project": "the name of a project",
    "who": "the name of a person",
    "population": "the kind of object in a row: star, galaxy, visit",
    "attribute": "the name of an attribute",
    "calculator": "a calculator, or the name of one",
    "definition": "the definition of a catalog",
    "spark": "the session of Spark",
    "path": "a file or folder",
}
"""What to pass for an argument that its docstring does not explain."""

_CONTAINERS: Final = {"Any", "object", "Iterable", "Collection"}
_PLAIN: Final[Mapping[type, set[str]]] = {
    type(None): {"Any", "object", "None", "Hashable"},
    bool: {"Any", "object", "bool", "int", "float", "Hashable"},
    int: {"Any", "object", "int", "float", "Hashable"},
    float: {"Any", "object", "float", "Hashable"},
    list: {*_CONTAINERS, "list", "Sequence", "DefinitionStep"},
    tuple: {*_CONTAINERS, "tuple", "Sequence", "Hashable", "DefinitionStep"},
    dict: {*_CONTAINERS, "dict", "Mapping", "Keys"},
    set: {*_CONTAINERS, "set", "Set"},
}
"""Plain types, each with the names in annotations that allow it."""

_CHOICES: Final = {
    *("Literal", "EngineChoice", "Visibility", "Order", "SortOrder", "Trust", "Direction", "Missing", "Keep")
}
_TEXTS: Final = {"str", "left", "right", "best", "all", "mutual", "error", "null", "drop", *_CHOICES}
"""The names in annotations that stand for text."""

_CALLABLES: Final = {"Callable", "CheckProgress", "Later"}
_JUDGED: Final = {
    *("int", "float", "bool", "None", "datetime", "Sequence", "Iterable", "Collection", "Mapping", "PathLike", "Path"),
    *(
        "BinaryIO",
        "Catalog",
        "Pictured",
        "Calculator",
        "Region",
        "Statement",
        "Term",
        "Definition",
        "DefinitionStep",
        "Keys",
        *_TEXTS,
        *_CALLABLES,
    ),
}
"""The names in annotations that say of every object whether it fits; a name that is missing here may mean anything."""

_OF_ATTRIBUTES: Final = ("on", "by", "order", "arrays", "x", "y", "criterion")
"""The arguments that are made of attributes."""


def describe_mistake(
    method: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> ArgumentsError | None:
    """Return the error about the arguments of a call, or None if they fit.

    Parameters
    ----------
    method
        The function that was called.
    arguments, keywords
        The arguments by position, the object itself first, and those by keyword.
    """
    declared = signature(method)
    try:
        bound = declared.bind(*arguments, **keywords)
    except TypeError:
        pass
    else:
        return _describe_unusable(method, bound)
    verb = _name_verb(method)
    unknown = _find_unknown(declared, keywords)
    if unknown:
        return _describe_unknown(verb, declared, unknown)
    passed = _name_arguments(declared, arguments, keywords)
    missing = [name for name in _list_needed(declared) if name not in passed]
    if not missing:
        return _describe_too_many(verb, declared, arguments, keywords)
    hints = [_suggest_value(method, name, passed) for name in missing]
    return ArgumentsError(f"{verb}() needs {' and '.join(missing)}", hint="\n".join(hints))


def _describe_unusable(method: Callable[..., Any], bound: BoundArguments) -> ArgumentsError | None:
    """Return the error about the first argument of a type that its annotation does not name, or None.

    An object of another type is judged where the annotation names nothing but types that are known here: elsewhere, the
    verb decides what it can stand for.
    """
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        for part in _list_values(parameter, value):
            if not _is_usable(part, str(parameter.annotation)):
                hint = f"pass {name}: {_explain_argument(method, name)}{_explain_conversion(part, parameter)}"
                return ArgumentsError(f"{_name_verb(method)}() cannot use {_show_value(part)} as {name}", hint=hint)
    return None


def _name_verb(method: Callable[..., Any]) -> str:
    """Return the name by which people call a function."""
    return _PUBLIC_NAMES.get(method.__name__, method.__name__)


def _list_values(parameter: Parameter, value: Any) -> Iterable[object]:  # noqa: ANN401 - an argument of any verb
    """Return the values of a parameter, to each of which its annotation applies."""
    if parameter.kind is Parameter.VAR_POSITIONAL:
        return tuple(value)
    return tuple(value.values()) if parameter.kind is Parameter.VAR_KEYWORD else (value,)


def _is_usable(value: object, annotation: str) -> bool:
    """Tell whether an annotation names the type of a value and of its members, as far as that can be said."""
    members = re.search(r"\b(?:Sequence|Iterable|Collection)\[(.+?)\](?: |$)", annotation)
    is_list = isinstance(value, Collection) and not isinstance(value, str | bytes)
    if members and is_list and not all(_is_usable(part, members[1]) for part in list(value)):  # type: ignore[call-overload]
        return False
    values = re.search(r"\bMapping\[\w+, (\w+)\]", annotation)
    if values and isinstance(value, Mapping) and not all(_is_usable(part, values[1]) for part in value.values()):
        return False
    words = set(re.findall(r"\w+", re.sub(r"Mapping\[[^\]]*\]", "Mapping", annotation)))
    if isinstance(value, str):
        is_no_path = "\0" in value and "PathLike" in words
        return not words <= _JUDGED or not (words.isdisjoint(_TEXTS) or is_no_path)
    names = _PLAIN.get(type(value))
    if names is None:  # a catalog is no list of catalogs
        words = set(re.findall(r"\w+", re.sub(r"(Mapping|Sequence|Iterable|Collection)\[[^\]]*\]", r"\1", annotation)))
    if names is None and not words <= _JUDGED:
        return True
    return not (_name_types(value) if names is None else names).isdisjoint(words)


def _name_types(value: object) -> set[str]:
    """Return the names of annotations that an object of no plain type fits."""
    names = {cls.__name__ for cls in type(value).__mro__} - {"object"}
    protocols = {
        "int": Integral,
        "float": Real,
        "PathLike": PathLike,
        "Mapping": Mapping,
        "Keys": Mapping,
        "Definition": Catalog,
    }
    names |= {name for name, protocol in protocols.items() if isinstance(value, protocol)}
    names |= _CALLABLES if callable(value) else set()
    names |= {"BinaryIO"} if hasattr(value, "closed") else set()
    is_list = isinstance(value, Iterable) and not isinstance(value, bytes) and "DataFrame" not in names
    return names | ({"Sequence", "Iterable", "Collection"} if is_list else set())


def _show_value(value: object) -> str:
    """Return a value of a plain type as Python writes it; of another object, what it is."""
    if isinstance(value, str | bytes) or type(value) in _PLAIN:
        return f"{value!r:.60}"
    return f"the class {value.__name__}" if isinstance(value, type) else f"an object of type {type(value).__name__}"


def _explain_conversion(value: object, parameter: Parameter) -> str:
    """Return how to pass a list one by one, or make a catalog of a table or a target, where that is needed."""
    if parameter.kind is Parameter.VAR_POSITIONAL and isinstance(value, list | tuple):
        return f"; pass the members of a list one by one: *{parameter.name}"
    if "Catalog" not in str(parameter.annotation) and "Pictured" not in str(parameter.annotation):
        return ""
    if type(value).__name__ == "Target":
        return "; target.catalog() makes a catalog of a target"
    is_table = type(value).__name__ in ("DataFrame", "Table", "QTable")
    return "; make a catalog of a table first: archive.ingest(name, table, key=…, population=…)" if is_table else ""


def _find_unknown(declared: Signature, keywords: Mapping[str, Any]) -> list[str]:
    """Return the keywords of a call that a signature does not have."""
    kinds = {parameter.kind for parameter in declared.parameters.values()}
    if Parameter.VAR_KEYWORD in kinds:
        return []
    return [name for name in keywords if name not in declared.parameters]


def _list_needed(declared: Signature) -> list[str]:
    """Return the arguments without a default."""
    variadic = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return [
        parameter.name
        for parameter in declared.parameters.values()
        if parameter.default is Parameter.empty and parameter.kind not in variadic
    ]


def _name_arguments(declared: Signature, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name, as far as they have one."""
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    places = [parameter.name for parameter in declared.parameters.values() if parameter.kind in positional]
    return {**dict(zip(places, arguments, strict=False)), **keywords}


def _describe_unknown(verb: str, declared: Signature, unknown: Sequence[str]) -> ArgumentsError:
    """Return the error about keywords that a verb does not have."""
    known = [name for name in declared.parameters if name != "self"]
    near = did_you_mean(unknown[0], known)
    hint = near or f"its arguments are {', '.join(known)}" if known else "it takes no arguments"
    return ArgumentsError(f"{verb}() has no argument {' or '.join(unknown)}", hint=hint)


def _describe_too_many(
    verb: str, declared: Signature, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> ArgumentsError:
    """Return the error about arguments by position that have no place, or that are also passed by keyword."""
    places = list(_name_arguments(declared, [None] * len(declared.parameters), {}))
    twice = [name for name in places[: len(arguments)] if name in keywords]
    if twice:
        return ArgumentsError(f"{verb}() got {twice[0]} twice", hint="pass it by position or by keyword, not both")
    named = [name for name, parameter in declared.parameters.items() if parameter.kind is Parameter.KEYWORD_ONLY]
    surplus = ", ".join(repr(value)[:40] for value in arguments[len(places) :])
    hint = f"write the name of the argument: {', '.join(f'{name}=…' for name in named)}" if named else ""
    return ArgumentsError(f"{verb}() has no place for {surplus}", hint=hint)


def _suggest_value(method: Callable[..., Any], name: str, passed: Mapping[str, Any]) -> str:
    """Return what to pass for an argument that is missing in a call."""
    if method.__name__ == "ingest" and name == "key":
        return _suggest_key(passed)
    text = f"pass {name}: {_explain_argument(method, name)}"
    if method.__name__ == "ingest" and name == "population":
        known = _read_or_nothing(passed["self"].populations)
        return text + (f"; this archive has {join_names(known)}" if known else "")
    attributes = _read_or_nothing(lambda: _list_attributes(method.__name__, name, passed))
    return text + (f"; there are {join_names(attributes)}" if attributes else "")


def _suggest_key(passed: Mapping[str, Any]) -> str:
    """Return which columns may be the key of what is ingested."""
    columns = find_key_columns(passed)
    if not columns:
        return "pass key: the columns that identify a source, or None if no column does"
    return (
        f'pass key="{columns[0]}", or what else identifies a source, or key=None if no column does; '
        f"columns that could be a key: {join_names(columns)}"
    )


def find_key_columns(passed: Mapping[str, Any]) -> Sequence[str]:
    """Return the columns that could be the key of what is ingested; none if it cannot be read.

    Parameters
    ----------
    passed
        The arguments of `Archive.ingest` by name, ``self`` and ``path`` among them.
    """
    return _read_or_nothing(lambda: _list_key_columns(passed))


def _list_key_columns(passed: Mapping[str, Any]) -> list[str]:
    """Return the columns of files or of a table with integers or texts, those named like an identifier first."""
    path = passed.get("path")
    if path is None:
        return []
    if isinstance(path, str | PathLike):
        reading = {option: passed[option] for option in _READING if passed.get(option) is not None}
        files = passed["self"].context.workshop.inspect_files(path, **reading, trust="metadata")
        names = [column.name for column in files.columns if column.type in (*INTEGRAL, STRING)]
    else:
        from pyarrow import types  # noqa: PLC0415 - takes a while to import

        from provenn.files.in_memory import convert_to_arrow  # noqa: PLC0415 - see above

        fits = (types.is_integer, types.is_string, types.is_large_string)
        names = [field.name for field in convert_to_arrow(path).schema if any(fit(field.type) for fit in fits)]
    return sorted(names, key=lambda name: not re.search(r"(^|_)(id|key|hip|tic|name|no|nr)$|id$", name, re.IGNORECASE))


def _list_attributes(verb: str, name: str, passed: Mapping[str, Any]) -> Sequence[str]:
    """Return the attributes of which an argument is made; none for other arguments."""
    if name not in _OF_ATTRIBUTES:
        return ()
    holder = passed["self"]
    if verb in ("having", "without"):  # there the other catalog refers to this one
        holder = holder.archive.catalog(passed["members"]) if "members" in passed else None
    schema = getattr(holder, "schema", None)
    if not isinstance(schema, Schema):
        return ()
    if name == "arrays":
        return [attribute.name for attribute in schema.attributes if str(attribute.type).startswith("array<")]
    return schema.names


def _read_or_nothing(read: Callable[[], Sequence[str]]) -> Sequence[str]:
    """Return names for a suggestion, or none if they cannot be read: the mistake in the call is told first."""
    try:
        return read()
    except (ProvennError, OSError, TypeError, ValueError, AttributeError):
        return ()


def _explain_argument(method: Callable[..., Any], name: str) -> str:
    """Return what an argument is: from the docstring of its method, or from the words of this module."""
    text = cleandoc(method.__doc__ or "")
    section = text.partition("Parameters\n----------\n")[2]
    entry = re.search(rf"^(?:\w+, )*{name}(?:, \w+)*\n((?: +.*\n?|\n)+)", section, re.MULTILINE)
    if entry is None:
        return _MEANINGS.get(name, "see help()")
    explained = " ".join(entry[1].split()).replace("``", "").rstrip(".")
    return explained[:1].lower() + explained[1:]
