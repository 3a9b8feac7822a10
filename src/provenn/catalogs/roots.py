"""Where base files may lie when others than their owner have them read.

An archive says where its base files are, and how Spark is to read them; whoever can define a catalog could name any
file of the machine, or have Spark call somewhere. A server for others reads below the places that who runs it has
listed, in formats that are files, with options that only say how to read them.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable
from glob import has_magic
from pathlib import Path
from urllib.parse import unquote

from provenn.catalogs.base import Base
from provenn.catalogs.file_listing import listed
from provenn.catalogs.files import GIVEN, TABLE, Files
from provenn.errors import BaseFilesError

__all__ = ["Roots", "check_roots", "within"]

Roots = tuple[str, ...]
"""Folders, by path; elsewhere than on disk, URIs; tables of Spark's catalog as ``table://NAME``."""

_FORMATS = frozenset({"csv", "fits", "json", "orc", "parquet", "text", "votable"})
_OPTIONS = """
    allowbackslashescapinganycharacter allowcomments allownonnumericnumbers allownumericleadingzeros allowsinglequotes
    allowunquotedcontrolchars allowunquotedfieldnames chartoescapequoteescaping comment compression dateformat delimiter
    emptyvalue encoding charset enforceschema escape hdu header ignoreleadingwhitespace ignoretrailingwhitespace
    inferschema linesep locale maxcharspercolumn maxcolumns mergeschema mode multiline nanvalue negativeinf nullvalue
    positiveinf primitivesasstring quote sep table timestampformat timestampntzformat timezone unescapedquotehandling
"""


def check_roots(bases: Iterable[Base], roots: Roots | None) -> None:
    """Make sure that the files of base catalogs lie where they may be read; nothing elsewhere is looked at.

    Parameters
    ----------
    bases
        The catalogs.
    roots
        Where files may lie; None for anywhere.

    Raises
    ------
    BaseFilesError
        If some lie elsewhere, or would be read in a way that is not known to be harmless. It names the catalog, and
        does not tell whether there is such a file.
    """
    for base in bases:
        if roots is not None and not _may_be_read(base.files, roots):
            raise BaseFilesError(
                f"the files of the base catalog {base.digest[:12]} are not among those that this server reads",
                hint="who runs it says which they are: provenn serve --root PATH",
            )


def _may_be_read(files: Files, roots: Roots) -> bool:
    if files.format == TABLE:
        return within(f"{TABLE}://{files.location}", roots)
    if files.format == GIVEN:  # in the archive's own store, by its digest
        return True
    if files.format not in _FORMATS or not {name for name, _ in files.options} <= set(_OPTIONS.split()):
        return False
    # Links inside a folder lead where they like, so every file counts, too.
    return within(files.location, roots) and all(within(one.address, roots) for one in listed(files.location))


def within(location: str, roots: Roots) -> bool:
    """Whether a file, a folder or a glob lies below a root, wherever links lead.

    >>> within("/data/survey/*.parquet", ("/data/survey",)), within("/data/survey/../other", ("/data/survey",))
    (True, False)
    >>> within("s3://b/x", ("/data",)), within("s3://bucket/a/x", ("s3://bucket/a",)), within("file:/etc", ("/etc",))
    (False, True, False)
    """
    if not location.startswith("/"):
        plain = ".." not in unquote(location).split("/")
        return plain and any(
            location == one or location.startswith(f"{one.rstrip('/')}/") for one in roots if _is_uri(one)
        )
    parts = location.split("/")
    before = next((place for place, part in enumerate(parts) if has_magic(part)), len(parts))
    # A name with a star in it may be a glob, or the name of a file.
    places = {_real("/".join(parts[:before]) or "/"), _real(location)}
    return all(any(place.is_relative_to(_real(one)) for one in roots if not _is_uri(one)) for place in places)


def _is_uri(root: str) -> bool:
    return "://" in root


def _real(path: str) -> Path:
    return Path(os.path.realpath(path))
