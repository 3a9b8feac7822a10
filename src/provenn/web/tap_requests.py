"""Requests to the TAP service: parameters and uploaded parts, the rights of the caller, and the parts of answers."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Annotated, Final

from fastapi import Depends, Request, Response
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import FormParser, MultiPartException, MultiPartParser

from provenn.errors import NotYoursError, TapError
from provenn.gate.entrances import entrance
from provenn.tap.answering import TapAnswer
from provenn.tap.datalink import format_service
from provenn.tap.parameters import LONGEST_VALUE, Parameters, list_upload_parts
from provenn.tap.votable_writing import VOTableNotes
from provenn.web.accounts import get_current_account
from provenn.web.people import People
from provenn.web.tap_jobs import TapJobs
from provenn.web.tap_running import Annotate

__all__ = [
    "ServedTapJobs",
    "TapRequest",
    "check_may_compute",
    "find_address",
    "link_lineage",
    "make_xml",
    "read_address",
    "read_request",
]

_MOST_FIELDS: Final = 200
_SEND_AGAIN: Final = "send parameters as application/x-www-form-urlencoded, or with tables as multipart/form-data"


def _find_tap_jobs(request: Request) -> TapJobs:
    people: People = request.app.state.people
    return people.tap_jobs


ServedTapJobs = Annotated[TapJobs, Depends(_find_tap_jobs)]
"""The parameter type of a view that receives the TAP jobs of the person of the request."""


@dataclass(frozen=True, slots=True)
class TapRequest:
    """The parameters of a request, and its parts with tables by their names."""

    parameters: Parameters = field(default_factory=Parameters)
    uploads: dict[str, bytes] = field(default_factory=dict)


@entrance("request to the TAP service", "length", "types")
async def read_request(request: Request) -> TapRequest:
    """Return the parameters of a request: those of its address, and those of its form.

    A table may come as a file or, without the name of a file, as text in a part that UPLOAD names.

    Raises
    ------
    TapError
        If there are too many parameters, one is too long, or the form is not whole.
    """
    parameters = read_address(request)
    fields: list[tuple[str, str]] = []
    uploads: dict[str, bytes] = {}
    if request.method == "POST":
        async with aclosing(request.stream()) as stream:
            form = await _read_form(request, stream)
        try:
            for name, value in form.multi_items():
                if isinstance(value, UploadFile):
                    uploads[name] = await value.read()
                else:
                    fields.append((name, value))
        finally:
            await form.close()
    parts = list_upload_parts([*parameters.pairs, *fields])
    texts = {name: value.encode(errors="replace") for name, value in fields if name in parts and name not in uploads}
    pairs = [*parameters.pairs, *((name, value) for name, value in fields if name not in texts)]
    return TapRequest(_check_parameters(pairs), texts | uploads)


class _PartsReader(MultiPartParser):
    """Reads a form in parts, and notes whether its end has come: a form that breaks off has lost parameters."""

    is_whole = False

    def on_end(self) -> None:
        self.is_whole = True


async def _read_form(request: Request, stream: AsyncGenerator[bytes, None]) -> FormData:
    """Return the form in the body of a request; an empty body is an empty form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind == "multipart/form-data":
            reader = _PartsReader(
                request.headers,
                stream,
                max_files=_MOST_FIELDS,
                max_fields=_MOST_FIELDS,
                max_part_size=4 * LONGEST_VALUE,
            )
            form = await reader.parse()
            if not reader.is_whole:
                await form.close()
                raise TapError("the form of this request breaks off before its end", hint=_SEND_AGAIN)
            return form
        if kind == "application/x-www-form-urlencoded":
            limits = {"max_fields": _MOST_FIELDS, "max_part_size": 4 * LONGEST_VALUE}
            return await FormParser(request.headers, stream, **limits).parse()
    except MultiPartException as error:
        raise TapError(f"the form of this request cannot be read: {error.message}", hint=_SEND_AGAIN) from error
    async for chunk in stream:
        if chunk:
            named = f"of the type {kind[:60]!r}" if kind else "without a type"
            raise TapError(f"expected parameters as a form, got a body {named}", hint=_SEND_AGAIN)
    return FormData()


def read_address(request: Request) -> Parameters:
    """Return the parameters in the address of a request.

    Raises
    ------
    TapError
        If there are too many parameters, or one is too long.
    """
    return _check_parameters(request.query_params.multi_items())


def _check_parameters(pairs: Sequence[tuple[str, str]]) -> Parameters:
    if len(pairs) > _MOST_FIELDS:
        raise TapError(f"the request has more than {_MOST_FIELDS} parameters")
    return Parameters.of(pairs)


def check_may_compute() -> None:
    """Refuse a query that computes, if the caller is a reader.

    Raises
    ------
    NotYoursError
        If the caller may only look.
    """
    account = get_current_account()
    if account is not None and not account.may("author"):
        raise NotYoursError(
            "this query computes data, which needs a token with the role author",
            hint="readers may ask TAP_SCHEMA and counts that are known; ask the administrator for another token",
        )


def find_address(request: Request, path: str) -> str:
    """Return the address of a path of this server, as the client wrote the host."""
    return str(request.base_url).rstrip("/") + path


def make_xml(content: bytes, media_type: str = "text/xml", status: int = 200) -> Response:
    """Return an answer in XML."""
    return Response(content, status, media_type=media_type)


def link_lineage(request: Request) -> Annotate:
    """Return the function that links an answer with the lineage of its catalog."""
    address = find_address(request, "/datalink/links")

    def annotate(notes: VOTableNotes, answer: TapAnswer) -> VOTableNotes:
        return replace(notes, services=format_service(address, answer.digest)) if answer.digest else notes

    return annotate
