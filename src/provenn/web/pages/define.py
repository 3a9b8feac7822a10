"""The page that defines: a selection with a preview of what is proved about it, a query in SQL, and names."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse, Response

from provenn.archive import Archive
from provenn.archive.previewing import SelectionPreview, preview_query, preview_selection
from provenn.archive.relation import WORDS
from provenn.catalogs import Schema
from provenn.errors import CatalogNameError, ProvennError, SparkNeededError, UnknownCatalogError
from provenn.gate.entrances import entrance
from provenn.people.visibility import Visibility
from provenn.web.asking import FormProblem, LiveAnswer, add_form, make_problem, refuse_live
from provenn.web.pages.catalog import CatalogLink
from provenn.web.pages.compare import suggest_names
from provenn.web.rendering import ServedArchive, make_catalog_url, render

__all__ = ["router"]

router = APIRouter()

Word = Annotated[str, Query(max_length=500)]
Text = Annotated[str, Query(max_length=2000)]
QueryText = Annotated[str, Query(max_length=4000)]
FormWord = Annotated[str, Form(max_length=500)]
Dialect = Literal["spark", "adql"]


@dataclass(frozen=True, slots=True)
class DefinitionRequest:
    """The fields of the page, as the user filled them in."""

    sources: str = ""
    criterion: str = ""
    name: str = ""
    query: str = ""
    dialect: Dialect = "spark"
    query_name: str = ""
    catalog: str = ""
    new_name: str = ""
    visibility: str = ""


@dataclass(frozen=True, slots=True)
class OfferedAttribute:
    """An attribute for a criterion: its name, type and unit."""

    name: str
    type: str
    unit: str


@dataclass(frozen=True, slots=True)
class ProvedRelation:
    """A proved relation of the selection: words, and the catalog."""

    words: str
    catalog: CatalogLink


@dataclass(frozen=True, slots=True)
class Preview:
    """What is proved of a catalog that is not defined yet.

    Attributes
    ----------
    what, words
        The catalog in words, and what is proved of it in one sentence.
    sources, relations
        Its size, and its relations.
    attributes
        Its attributes.
    remarks
        The parts of a query that are not understood, or left out.
    """

    what: str
    words: str
    sources: str
    relations: tuple[ProvedRelation, ...]
    attributes: tuple[OfferedAttribute, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DefinePage:
    """The page.

    Attributes
    ----------
    wanted
        The fields.
    suggested
        Names of the newest catalogs.
    attributes
        The attributes of the catalog of the sources, if there is one.
    preview, query_preview
        The previews of the selection and of the query; None without a valid criterion, and without a valid query.
    problem
        The error in the input.
    """

    wanted: DefinitionRequest
    suggested: tuple[str, ...]
    attributes: tuple[OfferedAttribute, ...] = ()
    preview: Preview | None = None
    query_preview: Preview | None = None
    problem: FormProblem | None = None


def preview_definition(
    archive: ServedArchive,
    *,
    sources: Word = "",
    criterion: Text = "",
    name: Word = "",
    query: QueryText = "",
    dialect: Dialect = "spark",
    query_name: Word = "",
    catalog: Word = "",
) -> DefinePage:
    """Preview a selection or a query: what is proved of its sources. Nothing is defined."""
    return _make_page(archive, DefinitionRequest(sources, criterion, name, query, dialect, query_name, catalog))


def check_definition(archive: ServedArchive, *, sources: Word = "", criterion: Text = "") -> LiveAnswer:
    """Check a criterion while it is typed."""
    if not sources.strip() or not criterion.strip():
        return LiveAnswer(True, "")
    page = _make_page(archive, DefinitionRequest(sources, criterion))
    return _answer_live(page.problem, page.preview)


def check_query(archive: ServedArchive, *, query: QueryText = "", dialect: Dialect = "spark") -> LiveAnswer:
    """Check a query while it is typed."""
    page = _make_page(archive, DefinitionRequest(query=query, dialect=dialect))
    return _answer_live(page.problem, page.query_preview)


def _answer_live(problem: FormProblem | None, preview: Preview | None) -> LiveAnswer:
    """Return the error, with its place, or what is proved."""
    if problem is not None:
        return refuse_live(problem)
    return LiveAnswer(True, "" if preview is None else "; ".join((preview.words, *preview.remarks)))


def _make_page(archive: Archive, wanted: DefinitionRequest) -> DefinePage:
    """Return the page with the preview of a selection, or with the error in its fields."""
    page = DefinePage(wanted, suggest_names(archive))
    field = "query"
    try:
        if wanted.query.strip():
            page = replace(page, query_preview=_preview_query(archive, wanted.query, wanted.dialect))
        if not wanted.sources.strip():
            return page
        field = "sources"
        catalog = archive.catalog(wanted.sources)
        page, field = replace(page, attributes=_list_attributes(catalog.schema)), "criterion"
        if wanted.criterion.strip():
            page = replace(page, preview=_show_preview(preview_selection(catalog, wanted.criterion)))
    except ProvennError as error:
        return replace(page, problem=make_problem(field, error))
    return page


def _preview_query(archive: Archive, query: str, dialect: Dialect) -> Preview:
    """Return the preview of a query; if a part needs Spark, it says so."""
    try:
        return _show_preview(preview_query(archive, query, dialect))
    except SparkNeededError as error:
        words = f"nothing is proved before it is defined: {error.message}"
        return Preview("A query with a part that provenn does not understand", words, "not known", ())


def _list_attributes(schema: Schema) -> tuple[OfferedAttribute, ...]:
    return tuple(
        OfferedAttribute(attribute.name, str(attribute.type), attribute.unit) for attribute in schema.attributes
    )


def _show_preview(preview: SelectionPreview) -> Preview:
    relations = tuple(
        ProvedRelation(WORDS[relation.summary], CatalogLink(relation.name, relation.digest))
        for relation in preview.relations
    )
    attributes = _list_attributes(preview.schema)
    return Preview(preview.what, preview.words, preview.sources, relations, attributes, preview.remarks)


add_form(router, "/define", preview_definition, "define.html")
router.get("/api/define/check", name="check_definition")(check_definition)
router.get("/api/define/check-query", name="check_query")(check_query)


@router.post("/define/select", include_in_schema=False)
@entrance("form for a selection", "length", "criteria")
def define_selection(
    archive: ServedArchive,
    *,
    sources: FormWord = "",
    criterion: Annotated[str, Form(max_length=2000)] = "",
    name: FormWord = "",
    visibility: Annotated[Visibility | None, Form()] = None,
) -> Response:
    """Define a selection, and go to its page."""
    wanted = DefinitionRequest(sources, criterion, name, visibility=visibility or "")
    fields = {CatalogNameError: "name", UnknownCatalogError: "sources"}
    try:
        catalog = archive.catalog(sources).select(criterion)
        if name.strip():
            archive.name(catalog, name.strip(), visibility=visibility)
    except ProvennError as error:
        return _refuse(
            archive, wanted, next((fields[kind] for kind in fields if isinstance(error, kind)), "criterion"), error
        )
    return RedirectResponse(make_catalog_url(name.strip() or catalog.digest, catalog.digest), 303)


@router.post("/define/sql", include_in_schema=False)
@entrance("form for a query", "length", "criteria")
def define_query(
    archive: ServedArchive,
    *,
    query: Annotated[str, Form(max_length=20_000)] = "",
    dialect: Annotated[Dialect, Form()] = "spark",
    query_name: FormWord = "",
    preview: Annotated[bool, Form()] = False,
) -> Response:
    """Define the catalog that a query means, and go to its page; or only preview it."""
    wanted = DefinitionRequest(query=query, dialect=dialect, query_name=query_name)
    if preview:
        page = _make_page(archive, wanted)
        status = 200 if page.problem is None else page.problem.status
        return render("define.html", {"content": page, "json": "/api/define"}, status)
    try:
        catalog = archive.sql(query, dialect=dialect, name=query_name.strip() or None)
    except ProvennError as error:
        return _refuse(archive, wanted, "query_name" if isinstance(error, CatalogNameError) else "query", error)
    return RedirectResponse(make_catalog_url(query_name.strip() or catalog.digest, catalog.digest), 303)


@router.post("/define/name", include_in_schema=False)
@entrance("form for a name", "length", "types")
def name_catalog(
    archive: ServedArchive,
    *,
    catalog: FormWord = "",
    new_name: FormWord = "",
    move: Annotated[bool, Form()] = False,
    visibility: Annotated[Visibility | None, Form()] = None,
) -> Response:
    """Name a catalog, and go to its page."""
    try:
        named = archive.name(catalog, new_name.strip(), move=move, visibility=visibility)
    except ProvennError as error:
        field = "catalog" if isinstance(error, UnknownCatalogError) else "new_name"
        wanted = DefinitionRequest(catalog=catalog, new_name=new_name, visibility=visibility or "")
        return _refuse(archive, wanted, field, error)
    return RedirectResponse(make_catalog_url(new_name.strip(), named.digest), 303)


def _refuse(archive: Archive, wanted: DefinitionRequest, field: str, error: ProvennError) -> Response:
    """Return the page again, with the error beside its field, and the preview if only the name is refused."""
    problem = make_problem(field, error)
    tried = wanted if field in ("name", "query_name") else replace(wanted, criterion="", query="")
    page = replace(_make_page(archive, tried), wanted=wanted, problem=problem)
    return render("define.html", {"content": page, "json": "/api/define"}, problem.status)
