"""A witness's HTTP interface (C2SP tlog-witness): `add-checkpoint`, and what was cosigned last.

A thin edge: whatever is decided is decided in `shoeproof.ledger.witness.cosigner`. Anybody may
connect, so a connection lasts seconds, there are so many at a time, and who has not said yet what
is wanted gives way.
"""

import asyncio
import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from shoeproof.ledger import errors
from shoeproof.ledger.witness.cosigner import Witness
from shoeproof.ledger.witness.request import LARGEST_REQUEST, parse_request

SIZE_TYPE = "text/x.tlog.size"

SECONDS: Final = 10
"""How long a connection lasts: a request fits into one packet or few, and is answered at once."""

MOST_CONNECTIONS: Final = 512
"""How many there are at a time: a process may have 1,024 files open on most systems."""

BACKLOG: Final = 128
"""How many are taken on before any of them is read: far fewer than would push one out unread."""

_log: Final = logging.getLogger("uvicorn.error")

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
        try:
            async for chunk in http.stream():
                body += chunk
                if len(body) > LARGEST_REQUEST:
                    return PlainTextResponse("the request is too long\n", 413)
        except ClientDisconnect:
            _log.warning("a request ended before it was whole, or took too long")
            return PlainTextResponse("the request was cut short\n", 400)
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


class _Connection(H11Protocol):
    """A connection that ends after so many seconds, and earlier where room is needed."""

    # uvicorn's own method, which this one extends, narrows its parameter in the same way.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._ends = self.loop.call_later(SECONDS, transport.abort)
        if len(self.connections) > MOST_CONNECTIONS:
            ours = [each for each in self.connections if isinstance(each, _Connection)]
            min(filter(_Connection._is_waiting, ours), key=_Connection._end).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ends.cancel()
        super().connection_lost(exc)

    def _end(self) -> float:
        return self._ends.when()

    def _is_waiting(self) -> bool:
        """Tell whether no whole request has come, or the last one is answered."""
        return self.cycle is None or self.cycle.more_body or self.cycle.response_complete


def serve(witness: Witness, host: str, port: int) -> None:
    """Serve a witness until the process is told to end."""
    uvicorn.run(
        witness_app(witness),
        host=host,
        port=port,
        http=_Connection,
        ws="none",
        lifespan="off",
        log_level="warning",
        backlog=BACKLOG,
    )


def _cosign(witness: Witness, body: bytes) -> bytes:
    return witness.cosign(parse_request(body))
