"""The distributions that are installed in an environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.utils import canonicalize_name

__all__ = ["Installed", "installed_in"]


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed distribution.

    Parameters
    ----------
    name, version
        Its canonical name and its version.
    licence
        What its metadata say of its licence: an SPDX expression, classifiers, or the first line of a text.
    requires
        The requirements it states.
    distribution
        Its metadata.
    """

    name: str
    version: str
    licence: str
    requires: tuple[str, ...]
    distribution: Distribution


def installed_in(paths: Iterable[Path] | None = None) -> list[Installed]:
    """Return what is installed, by name: in some folders, or by default in the running environment."""
    found = distributions() if paths is None else distributions(path=[str(path) for path in paths])
    by_name = {one.name: one for one in _read(found)}
    return [by_name[name] for name in sorted(by_name)]


def _read(found: Iterable[Distribution]) -> Iterator[Installed]:
    for one in found:
        yield Installed(
            canonicalize_name(one.metadata["Name"]), one.version, _licence(one), tuple(one.requires or ()), one
        )


def _licence(one: Distribution) -> str:
    metadata = one.metadata
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    classifiers = [text for text in metadata.get_all("Classifier") or () if text.startswith("License :: ")]
    names = [text.rpartition(" :: ")[2] for text in classifiers]
    if names:
        return " AND ".join(names)
    text = metadata["License"] if "License" in metadata else ""  # noqa: SIM401 - the type of metadata has no `get`
    return text.strip().split("\n")[0]
