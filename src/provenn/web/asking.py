"""Pages with a form: page and JSON report an invalid input next to the field."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from provenn.errors import ProvennError
from provenn.hints import find_page_target, phrase_for_page
from provenn.web.failures import find_status
from provenn.web.remembering import Remembering, ViewAnswer, answer_unchanged, mark_remembered, remember_view
from provenn.web.rendering import make_page, render_text

__all__ = ["FormProblem", "LiveAnswer", "add_form", "make_problem", "refuse_live"]


@dataclass(frozen=True, slots=True)
class FormProblem:
    """An error in the input of a form.

    Attributes
    ----------
    field
        The field with the invalid input.
    message, hint
        The error, and how to correct the input.
    status
        The HTTP status of the answer.
    target
        The page that the hint leads to, as a path; or an empty text.
    """

    field: str
    message: str
    hint: str
    status: int
    target: str = ""


@dataclass(frozen=True, slots=True)
class LiveAnswer:
    """The answer while the user types: whether the input is valid, what it says, and what to do."""

    valid: bool
    words: str
    hint: str = ""


def refuse_live(problem: FormProblem) -> LiveAnswer:
    """Return the answer to an invalid input while it is typed: what is wrong, in one line, and the hint."""
    return LiveAnswer(False, problem.message.partition("\n")[0].removesuffix(", in"), problem.hint)


def make_problem(field: str, error: ProvennError) -> FormProblem:
    """Return the form problem for an error in a field."""
    target = find_page_target(error.hint)
    return FormProblem(field, error.message, phrase_for_page(error.hint), find_status(error), target)


def add_form(
    router: APIRouter,
    path: str,
    view: Callable[..., Any],
    template: str,
    draw_pictures: Callable[[Any], dict[str, str]] = lambda _: {},
    *,
    remembering: Remembering | None = None,
) -> None:
    """Add a page with a form, and the JSON of its view under ``/api``.

    Parameters
    ----------
    router, path, view, template, remembering
        As for `provenn.web.rendering.add_page`; the result of the view has an attribute `problem`, which may be None.
    draw_pictures
        Returns the pictures for the template by name. The JSON does not contain them.
    """
    result_type = get_type_hints(view)["return"]
    name = view.__name__
    answer_view = remember_view(view, remembering)

    @router.get(f"/api{path}", response_model=result_type, name=name, summary=(view.__doc__ or name).split("\n")[0])
    def as_json(answer: Annotated[ViewAnswer, Depends(answer_view)], request: Request, response: Response) -> Any:  # noqa: ANN401 - the result of the view
        problem = answer.content.problem
        if problem is not None:
            return JSONResponse({"error": {"message": problem.message, "hint": problem.hint}}, problem.status)
        headers, unchanged = answer_unchanged(request, answer)
        response.headers.update(headers)
        return unchanged or answer.content

    @router.get(path, response_class=HTMLResponse, include_in_schema=False, name=f"{name}_page")
    def as_page(answer: Annotated[ViewAnswer, Depends(answer_view)], request: Request) -> Response:
        content = answer.content
        headers, unchanged = answer_unchanged(request, answer, template)
        if content.problem is None and unchanged is not None:
            return unchanged
        json_address = f"/api{path}?{request.url.query}" if request.url.query else f"/api{path}"

        def render_page() -> str:
            return render_text(template, {"content": content, "json": json_address, **draw_pictures(content)})

        if content.problem is not None:
            return HTMLResponse(render_page(), content.problem.status)
        return make_page(request, headers, render_page, is_remembered=remembering is not None)

    if remembering is not None:
        mark_remembered(as_json, as_page)
