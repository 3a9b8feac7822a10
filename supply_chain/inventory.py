"""The inventory (SBOM) of what is installed, in CycloneDX 1.6."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from supply_chain.installed import Installed

__all__ = ["inventory", "inventory_text"]

_OWN = "provenn"


def inventory(installed: Sequence[Installed]) -> dict[str, Any]:
    """Return the inventory. It is the same wherever and whenever the same is installed."""
    own = next((one for one in installed if one.name == _OWN), None)
    others = [one for one in installed if one.name != _OWN]
    content: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "components": [_component(one) for one in others],
        "dependencies": [_dependency(one, installed) for one in installed],
    }
    if own is not None:
        content["metadata"] = {"component": _component(own) | {"type": "application"}}
    return content


def inventory_text(installed: Sequence[Installed]) -> str:
    """Return the inventory as JSON."""
    return json.dumps(inventory(installed), indent=2) + "\n"


def _component(one: Installed) -> dict[str, Any]:
    licences = {"licenses": [{"license": {"name": one.licence}}]} if one.licence else {}
    return {
        "type": "library",
        "bom-ref": _reference(one),
        "name": one.name,
        "version": one.version,
        "purl": _reference(one),
        **licences,
    }


def _reference(one: Installed) -> str:
    return f"pkg:pypi/{one.name}@{one.version}".replace("+", "%2B")


def _dependency(one: Installed, installed: Sequence[Installed]) -> dict[str, Any]:
    by_name = {other.name: other for other in installed}
    needed = set()
    for text in one.requires:
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        if name in by_name and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            needed.add(_reference(by_name[name]))
    return {"ref": _reference(one), "dependsOn": sorted(needed)}
