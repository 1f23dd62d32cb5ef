"""A witness's HTTP interface (C2SP tlog-witness): `add-checkpoint`, and what was cosigned last.

A thin edge: whatever is decided is decided in `ledger.witness`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ledger import errors
from ledger.witness import Witness
from ledger.witness_request import LARGEST_REQUEST, parse_request

SIZE_TYPE = "text/x.tlog.size"

STATUS: Mapping[type[errors.LedgerError], int] = MappingProxyType(
    {
        errors.NoteRefused: 400,
        errors.NotSignedByLog: 403,
        errors.UnknownLog: 404,
        errors.OldSizeDiffers: 409,
        errors.NotConsistent: 422,
        errors.ClockBehind: 503,
        errors.StoreDamaged: 503,
    }
)
"""The status that answers each refusal; the specification asks for the first five."""


def witness_app(witness: Witness) -> Starlette:
    """Return the application that serves a witness."""

    async def add_checkpoint(http: HttpRequest) -> Response:
        body = b""
        async for chunk in http.stream():
            body += chunk
            if len(body) > LARGEST_REQUEST:
                return PlainTextResponse("the request is too long\n", 413)
        try:
            line = await run_in_threadpool(_cosign, witness, body)
        except errors.OldSizeDiffers as error:
            # As a header, since a media type of text would have a character set added.
            return Response(f"{error.size}\n", 409, {"content-type": SIZE_TYPE})
        except tuple(STATUS) as error:
            return PlainTextResponse(f"{error}\n", STATUS[type(error)])
        except OSError:
            return PlainTextResponse("the witness cannot write to its disk\n", 503)
        return Response(line, media_type="text/plain; charset=utf-8")

    async def last(http: HttpRequest) -> Response:
        note = await run_in_threadpool(witness.last, http.path_params["digest"])
        if note is None:
            return PlainTextResponse("nothing of that log was cosigned\n", 404)
        return Response(note, media_type="text/plain; charset=utf-8")

    return Starlette(
        routes=[
            Route("/add-checkpoint", add_checkpoint, methods=["POST"]),
            Route("/{digest:str}/checkpoint", last),
        ]
    )


def _cosign(witness: Witness, body: bytes) -> bytes:
    return witness.cosign(parse_request(body))
