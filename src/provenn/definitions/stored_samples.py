"""A few rows of base files and fragments, kept beside the definitions. Estimates rest on them, and nothing else.

Samples are values of data. They are read only for catalogs that the viewer plans, and for fragments that the viewer may
use; they are in no definition, no text and no portable file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from provenn.batches import split_batches
from provenn.catalogs.base import Base
from provenn.criteria import AttributeIdentity
from provenn.database.tables import samples
from provenn.database.transactions import Reading, Writing
from provenn.digests import CatalogDigest

if TYPE_CHECKING:
    from provenn.files.row_samples import SampledKeys

__all__ = ["delete_fragment_sample", "read_samples", "record_base_sample", "record_sample"]

_FILES = 0
"""The number that stands for the files of a base catalog, where others are the numbers of fragments."""


def record_base_sample(writing: Writing, base: Base) -> None:
    """Record the sample of the files of a new base catalog, if they were sampled."""
    names = dict(base.files.samples)
    attributes = [attribute for attribute in base.schema.attributes if attribute.name in names]
    record_sample(writing, base.digest, _FILES, {attribute.identity: names[attribute.name] for attribute in attributes})


def record_sample(
    writing: Writing, catalog: CatalogDigest, fragment: int, columns: Mapping[AttributeIdentity, str]
) -> None:
    """Record a sample: the values of each attribute, in stored form."""
    rows = [
        {"catalog": catalog, "fragment": fragment, "identity": identity, "content": text}
        for identity, text in columns.items()
    ]
    if rows:
        writing.connection.execute(insert(samples), rows)


def delete_fragment_sample(writing: Writing, fragment: int) -> None:
    """Delete the sample of a fragment."""
    writing.connection.execute(delete(samples).where(samples.c.fragment == fragment, samples.c.fragment != _FILES))


def read_samples(
    reading: Reading,
    bases: Iterable[CatalogDigest],
    fragments: Iterable[tuple[CatalogDigest, int]],
    identities: Collection[AttributeIdentity],
) -> dict[tuple[CatalogDigest, int], dict[AttributeIdentity, SampledKeys]]:
    """Return the samples of base files and fragments: values by attribute, by catalog and fragment (0 for files).

    Parameters
    ----------
    reading
        The transaction.
    bases
        The base catalogs, which the viewer sees.
    fragments
        The catalogs and numbers of fragments, which the viewer may use.
    identities
        The attributes whose values are needed.
    """
    from provenn.files.row_samples import decode_sample  # noqa: PLC0415 - a command starts without it

    owners = {*((digest, _FILES) for digest in bases), *fragments}
    columns = (samples.c.catalog, samples.c.fragment, samples.c.identity, samples.c.content)
    sampled: dict[tuple[CatalogDigest, int], dict[AttributeIdentity, SampledKeys]] = {}
    for batch in split_batches(sorted({digest for digest, _ in owners}) if identities else []):
        query = select(*columns).where(samples.c.catalog.in_(batch)).order_by(*columns[:3])
        for catalog, fragment, identity, text in reading.connection.execute(query):
            keys = decode_sample(text) if identity in identities and (catalog, fragment) in owners else None
            if keys is not None:
                sampled.setdefault((catalog, fragment), {})[identity] = keys
    return {owner: columns for owner, columns in sampled.items() if len(set(map(len, columns.values()))) == 1}
