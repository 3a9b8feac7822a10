"""Pages with a form: what is wrong with what was asked is told beside it, by the page and by its JSON."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from provenn.errors import ProvennError
from provenn.web.failures import status_of
from provenn.web.rendering import render

__all__ = ["Problem", "add_form", "problem_of"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with what was asked.

    Attributes
    ----------
    field
        What of it is wrong.
    message, hint
        What is wrong with it, and what to do.
    status
        The status of the answer.
    """

    field: str
    message: str
    hint: str
    status: int


def problem_of(field: str, error: ProvennError) -> Problem:
    """Return an error as a problem with a field."""
    return Problem(field, error.message, error.hint or "", status_of(error))


def add_form(
    router: APIRouter,
    path: str,
    view: Callable[..., Any],
    template: str,
    drawn: Callable[[Any], dict[str, str]] = lambda _: {},
) -> None:
    """Add a page with a form, and what it shows as JSON.

    Parameters
    ----------
    router, path, view, template
        As for `provenn.web.rendering.add_page`; what the view returns has a `problem`, or None.
    drawn
        Returns the pictures for the template, by name. They are not part of the JSON.
    """
    shown = get_type_hints(view)["return"]
    name = view.__name__

    @router.get(f"/api{path}", response_model=shown, name=name, summary=(view.__doc__ or name).split("\n")[0])
    def as_json(found: Annotated[Any, Depends(view)]) -> Any:  # noqa: ANN401 - what the view returns
        wrong = found.problem
        if wrong is None:
            return found
        return JSONResponse({"error": {"message": wrong.message, "hint": wrong.hint}}, wrong.status)

    @router.get(path, response_class=HTMLResponse, include_in_schema=False, name=f"{name}_page")
    def as_page(found: Annotated[Any, Depends(view)], request: Request) -> Response:  # noqa: ANN401 - see above
        beside = f"/api{path}?{request.url.query}" if request.url.query else f"/api{path}"
        status = 200 if found.problem is None else found.problem.status
        return render(template, {"found": found, "json": beside, **drawn(found)}, status)
