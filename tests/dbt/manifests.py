"""Small manifests, as dbt writes them, made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ORDERS = {"id": "integer", "customer_id": "integer", "status": "varchar", "amount": "integer"}
CUSTOMERS = {"id": "integer", "name": "varchar", "country": "varchar"}


class MadeManifest:
    """A manifest that grows."""

    def __init__(self, version: int = 12, adapter: str = "duckdb") -> None:
        self.content: dict[str, Any] = {
            "metadata": {
                "dbt_schema_version": f"https://schemas.getdbt.com/dbt/manifest/v{version}.json",
                "adapter_type": adapter,
                "project_name": "made",
            },
            "nodes": {},
            "sources": {},
            "macros": {},
        }

    def source(self, name: str, columns: Mapping[str, str], *, keyed: bool = True) -> MadeManifest:
        """Add a source, with tests of its key unless it has none."""
        identity = f"source.made.raw.{name}"
        self.content["sources"][identity] = {
            "resource_type": "source",
            "name": name,
            "package_name": "made",
            "relation_name": f'"db"."raw"."{name}"',
            "columns": {column: {"name": column, "data_type": kind} for column, kind in columns.items()},
        }
        if keyed:
            self.test("unique", name, "id")
            self.test("not_null", name, "id")
        return self

    def seed(self, name: str, columns: Mapping[str, str], checksum: str) -> MadeManifest:
        """Add a seed with types of columns, and tests of its key."""
        self.content["nodes"][f"seed.made.{name}"] = {
            "resource_type": "seed",
            "name": name,
            "package_name": "made",
            "relation_name": f'"db"."raw"."{name}"',
            "columns": {column: {"name": column, "data_type": kind} for column, kind in columns.items()},
            "checksum": {"name": "sha256", "checksum": checksum},
        }
        self.test("unique", name, "id")
        return self.test("not_null", name, "id")

    def model(self, name: str, code: str, *parents: str, schema: str = "main", **changes: Any) -> MadeManifest:
        """Add a model; its SQL names tables in braces: ``{orders}``."""
        identities = [self.find(parent) for parent in parents]
        nodes = self.content["nodes"] | self.content["sources"]
        names = {parent: nodes[self.find(parent)]["relation_name"] for parent in parents}
        self.content["nodes"][f"model.made.{name}"] = {
            "resource_type": "model",
            "name": name,
            "package_name": "made",
            "relation_name": f'"db"."{schema}"."{name}"',
            "columns": {},
            "language": "sql",
            "config": {"materialized": "table"},
            "depends_on": {"nodes": identities, "macros": []},
            "compiled_code": code.format(**names),
        } | changes
        return self

    def test(self, kind: str, resource: str, column: str, *others: str, **options: Any) -> MadeManifest:
        """Add a generic test; options in capitals belong to its configuration."""
        config = {key.lower(): value for key, value in options.items() if key.isupper()}
        arguments = {key: value for key, value in options.items() if not key.isupper()}
        name = f"{kind}_{resource}_{column}" + (f"_{len(self.content['nodes'])}" if arguments else "")
        self.content["nodes"][f"test.made.{name}"] = {
            "resource_type": "test",
            "name": name,
            "package_name": "made",
            "config": {"severity": "ERROR", **config},
            "attached_node": self.find(resource),
            "test_metadata": {"name": kind, "namespace": None, "kwargs": {"column_name": column, **arguments}},
            "depends_on": {"nodes": [*map(self.find, others), self.find(resource)], "macros": []},
            "compiled_code": "",
        }
        return self

    def query_test(self, name: str, code: str, *parents: str) -> MadeManifest:
        """Add a test by a query of its own."""
        nodes = self.content["nodes"] | self.content["sources"]
        names = {parent: nodes[self.find(parent)]["relation_name"] for parent in parents}
        self.content["nodes"][f"test.made.{name}"] = {
            "resource_type": "test",
            "name": name,
            "package_name": "made",
            "config": {"severity": "ERROR"},
            "depends_on": {"nodes": [*map(self.find, parents)], "macros": []},
            "compiled_code": code.format(**names),
        }
        return self

    def find(self, name: str) -> str:
        """Return the identity of a source, seed or model."""
        everything = (*self.content["nodes"], *self.content["sources"])
        return next(
            identity
            for identity in everything
            if identity.rpartition(".")[2] == name and not identity.startswith("test.")
        )

    def write(self, folder: Path) -> Path:
        """Write the manifest into a folder, and return the file."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "manifest.json"
        file.write_text(json.dumps(self.content), encoding="utf-8")
        return file


def make_shop(**options: Any) -> MadeManifest:
    """Return a manifest with orders that refer to customers."""
    return MadeManifest(**options).source("orders", ORDERS).source("customers", CUSTOMERS)
