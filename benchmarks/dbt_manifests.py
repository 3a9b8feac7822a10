"""Manifests of dbt with any number of models, as dbt writes them: staging models, filters, joins, unions and groups."""

# ruff: noqa: S608 - SQL is made of constants
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

__all__ = ["generate_manifest"]

_STATUSES = ("placed", "shipped", "completed", "returned", "lost")
_COLUMNS = {
    "id": "bigint",
    "customer_id": "bigint",
    "status": "varchar",
    "amount": "integer",
    "discount": "integer",
    "country": "varchar",
    "ordered_on": "date",
    "weight": "double",
}


@dataclass(slots=True)
class _Project:
    """A project that grows."""

    nodes: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, Any] = field(default_factory=dict)

    def add_source(self, name: str, columns: dict[str, str]) -> str:
        """Add a source with a tested key, and return its identity."""
        identity = f"source.made.raw.{name}"
        self.sources[identity] = {
            "resource_type": "source",
            "name": name,
            "package_name": "made",
            "relation_name": f'"db"."raw"."{name}"',
            "columns": {column: {"name": column, "data_type": kind} for column, kind in columns.items()},
        }
        self.add_test(identity, "unique", "id")
        self.add_test(identity, "not_null", "id")
        return identity

    def add_model(self, name: str, code: str, parents: Sequence[str]) -> str:
        """Add a model, and return its identity."""
        identity = f"model.made.{name}"
        self.nodes[identity] = {
            "resource_type": "model",
            "name": name,
            "package_name": "made",
            "relation_name": f'"db"."main"."{name}"',
            "columns": {},
            "language": "sql",
            "config": {"materialized": "table"},
            "depends_on": {"nodes": list(parents)},
            "compiled_code": code,
        }
        return identity

    def add_test(self, resource: str, kind: str, column: str, *others: str, **options: Any) -> None:
        """Add a generic test."""
        name = f"{kind}_{resource.rpartition('.')[2]}_{column}"
        self.nodes[f"test.made.{name}"] = {
            "resource_type": "test",
            "name": name,
            "package_name": "made",
            "config": {"severity": "ERROR"},
            "attached_node": resource,
            "test_metadata": {"name": kind, "namespace": None, "kwargs": {"column_name": column, **options}},
            "depends_on": {"nodes": [*others, resource]},
            "compiled_code": "",
        }


def generate_manifest(models: int, *, changed: int = 0, seed: int = 1) -> dict[str, Any]:
    """Return a manifest with some number of models and about two tests for each.

    Parameters
    ----------
    models
        How many models it has.
    changed
        In how many models a condition differs from that in the manifest without changes.
    seed
        The seed of all choices.
    """
    random, project = Random(seed), _Project()
    customers = project.add_source("customers", {"id": "bigint", "name": "varchar", "country": "varchar"})
    project.add_test(customers, "accepted_values", "country", values=["GB", "FR", "DE"])
    project.add_model(
        "stg_customers", 'select id as customer_id, name, country from "db"."raw"."customers"', [customers]
    )
    made, source, family = 1, 0, list[tuple[str, str]]()
    edited = set(Random(seed + 1).sample(range(models), changed))
    while made < models:
        if made % 20 == 1:
            source += 1
            table = project.add_source(f"orders_{source}", _COLUMNS)
            project.add_test(table, "accepted_values", "status", values=list(_STATUSES))
            project.add_test(table, "not_null", "status")
            project.add_test(
                table, "relationships", "customer_id", customers, to="source('raw', 'customers')", field="id"
            )
            name = f"stg_orders_{source}"
            code = f'select *, amount - discount as net from "db"."raw"."orders_{source}"'
            family = [(name, project.add_model(name, code, [table]))]
        else:
            name = f"model_{made}"
            identity = _add_derived_model(project, name, family, random, is_changed=made in edited)
            if identity is not None:
                family.append((name, identity))
        made += 1
    return {
        "metadata": {
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
            "adapter_type": "duckdb",
            "project_name": "made",
        },
        "nodes": project.nodes,
        "sources": project.sources,
        "macros": {},
    }


def _add_derived_model(
    project: _Project, name: str, family: Sequence[tuple[str, str]], random: Random, *, is_changed: bool
) -> str | None:
    """Add a model that reads others of its family; return its identity if others may read it."""
    parent, identity = random.choice(family)
    limit = random.randrange(0, 500, 50) + is_changed
    match random.randrange(10):
        case 0 | 1 | 2:
            code = f'select * from "db"."main"."{parent}" where amount >= {limit}'
            model = project.add_model(name, code, [identity])
            project.add_test(model, "not_null", "amount")
        case 3 | 4:
            status = random.choice(_STATUSES)
            code = f'select * from "db"."main"."{parent}" where status = \'{status}\' and net > {limit}'
            model = project.add_model(name, code, [identity])
            project.add_test(model, "accepted_values", "status", values=list(_STATUSES))
        case 5:
            code = (
                f'with kept as (select * from "db"."main"."{parent}" where net < {limit})\n'
                "select id, customer_id, status, amount, discount, country, ordered_on, weight, net from kept"
            )
            model = project.add_model(name, code, [identity])
        case 6:
            code = (
                f'select * from "db"."main"."{parent}" where amount < {limit}\n'
                f'union all\nselect * from "db"."main"."{parent}" where amount >= {limit}'
            )
            model = project.add_model(name, code, [identity])
            project.add_test(model, "not_null", "status")
        case 7 | 8:
            code = (
                f'select o.*, c.name as customer, c.country as home from "db"."main"."{parent}" as o\n'
                f'join "db"."main"."stg_customers" as c on o.customer_id = c.customer_id where o.weight < {limit}'
            )
            model = project.add_model(name, code, [identity, "model.made.stg_customers"])
            project.add_test(model, "accepted_values", "home", values=["GB", "FR", "DE"])
            project.add_test(model, "unique", "id")
            return None
        case _:
            code = (
                f'select status, count(*) as orders, sum(net) as net from "db"."main"."{parent}"\n'
                f"where amount > {limit} group by status"
            )
            model = project.add_model(name, code, [identity])
            project.add_test(model, "unique", "status")
            project.add_test(model, "not_null", "status")
            return None
    project.add_test(model, "unique", "id")
    return model
