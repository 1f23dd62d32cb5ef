"""The operator's wallet over HTTP: debit, credit and cancel by a reference, as seamless wallets do.

`POST /debit`, `/credit` and `/cancel` take a JSON object of `reference`, `round`, `player`,
`amount_minor`, `currency` and `exponent`. The answer 200 is a JSON object of `transaction`,
`cash_minor`, `incentive_minor` and `balance_minor`, of which the first and last may be null: the
movement was made, now or when it was first asked for. The answers 402, 403, 404, 409 and 422 say
that it was not made and never will be under this reference. Whatever else comes, or nothing, leaves
open what the wallet did: the same is asked a few times more, and then `WalletUnanswered` raised.
`GET /balance?player=…&currency=…` answers `{"balance_minor": …}`; a wallet without it is asked no
more than the stakes. `GET /movements?from=…` answers `{"movements": […]}`, each with `reference`,
`at`, `change_minor` (what left the player is negative, a cancellation a movement back), `currency`
and `exponent`.
"""

import time
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import msgspec

from shoeproof.ledger.files.foreign import read_json
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import Funds
from shoeproof.ledger.store.intents import Direction
from shoeproof.replay.currency import code_and_exponent, currency_unit, decimal_places
from shoeproof.replay.errors import SettingsRefused, WalletUnanswered
from shoeproof.replay.wallet.reconcile import WalletLine

TRIES: Final = 3
SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.2
_DEFINITE: Final = frozenset({402, 403, 404, 409, 422})
_LONGEST_ANSWER: Final = 1 << 16
_LONGEST_LIST: Final = 1 << 30


class _Moved(msgspec.Struct, frozen=True):
    transaction: str | None
    cash_minor: int
    incentive_minor: int
    balance_minor: int | None = None


class _Balance(msgspec.Struct, frozen=True):
    balance_minor: int | None


class _Listed(msgspec.Struct, frozen=True):
    reference: str
    at: str
    change_minor: int
    currency: str
    exponent: int | None = None


class _Movements(msgspec.Struct, frozen=True):
    movements: list[_Listed]


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: money is only asked for where the operator said."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_open = build_opener(_NoRedirect).open


class HttpWallet:
    """A wallet service at a URL; threads may share it, and each call is a connection of its own."""

    def __init__(
        self,
        url: str,
        unit: str = "",
        *,
        token: str | None = None,
        seconds: float = SECONDS,
        tries: int = TRIES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Ask the service at `url`, with `token` as its bearer token if one is given.

        Each of `tries` may take `seconds`. Raises SettingsRefused if it is not an HTTP URL, and for
        a password in it.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.password:
            raise SettingsRefused(
                f"a wallet is not asked at {parts.scheme}://{parts.hostname or ''}: give https://…,"
                " without a password"
            )
        self._url, self._unit, self._token = url.rstrip("/"), unit, token
        self._seconds, self._tries, self._sleep = seconds, tries, sleep

    def in_unit(self, unit: str) -> "HttpWallet":
        """Return it as the wallet of amounts of this unit."""
        return HttpWallet(
            self._url,
            unit,
            token=self._token,
            seconds=self._seconds,
            tries=self._tries,
            sleep=self._sleep,
        )

    def balance_minor(self, player: str) -> int | None:
        """Return what the player can still stake, None where the wallet does not say."""
        query = urlencode({"player": player, **self._currency()})
        try:
            status, body = self._once("GET", f"/balance?{query}", None)
            return read_json(body, _Balance).balance_minor if status == 200 else None
        except (OSError, HTTPException, ValueError):
            return None

    def debit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Take a stake."""
        return self._move("debit", player, amount_minor, reference)

    def credit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Pay out."""
        return self._move("credit", player, amount_minor, reference)

    def cancel(self, player: str, reference: str) -> None:
        """Undo the movement of that reference, also where it comes in later."""
        status, _ = self._insist("/cancel", self._asking(player, None, reference))
        if status != 200 and status != 404:
            raise WalletUnanswered(f"the wallet did not cancel {reference}: it answered {status}")

    def movements(self, since: datetime) -> list[WalletLine]:
        """Return what the wallet moved from a time on, as the lines of a statement.

        Raises WalletUnanswered for no answer, and for one that cannot be read.
        """
        query = urlencode({"from": format_time(since)})
        try:
            status, body = self._once("GET", f"/movements?{query}", None, _LONGEST_LIST)
            if status != 200:
                raise WalletUnanswered(f"the wallet lists no movements: it answered {status}")
            listed = read_json(body, _Movements).movements
            return [_line(number, each) for number, each in enumerate(listed, 1)]
        except (OSError, HTTPException, ValueError) as error:
            raise WalletUnanswered(f"the wallet lists no movements: {error}") from error

    def _move(self, direction: Direction, player: str, amount_minor: int, reference: str) -> Funds:
        asking = self._asking(player, amount_minor, reference)
        status, body = self._insist(f"/{direction}", asking)
        if status in _DEFINITE:
            return Funds(direction, amount_minor, 0, None, f"declined ({status})", None)
        moved = read_json(body, _Moved)
        return Funds(
            direction,
            moved.cash_minor,
            moved.incentive_minor,
            moved.transaction,
            "accepted",
            moved.balance_minor,
        )

    def _asking(self, player: str, amount_minor: int | None, reference: str) -> bytes:
        return msgspec.json.encode(
            {
                "reference": reference,
                "round": reference.partition("/")[0],
                "player": player,
                "amount_minor": amount_minor,
                **self._currency(),
            }
        )

    def _currency(self) -> dict[str, str | int | None]:
        currency, exponent = code_and_exponent(self._unit)
        return {"currency": currency, "exponent": exponent}

    def _insist(self, path: str, asking: bytes) -> tuple[int, bytes]:
        """Ask until there is a definite answer; raise WalletUnanswered where none comes."""
        why = ""
        for number in range(self._tries):
            if number:
                self._sleep(_PAUSE_SECONDS * 2**number)
            try:
                status, body = self._once("POST", path, asking)
            except (OSError, HTTPException) as error:
                why = " ".join(str(error).split()) or type(error).__name__
                continue
            if status in _DEFINITE or (status == 200 and _is_answer(path, body)):
                return status, body
            why = f"it answered {status}" if status != 200 else "its answer cannot be read"
        raise WalletUnanswered(
            f"the wallet did not answer {path[1:]} in {self._tries} tries: {why}"
        )

    def _once(
        self, method: str, path: str, body: bytes | None, longest: int = _LONGEST_ANSWER
    ) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        request = Request(self._url + path, data=body, headers=headers, method=method)
        try:
            with _open(request, timeout=self._seconds) as answer:
                return answer.status, answer.read(longest)
        except HTTPError as error:
            with error:
                return error.code, error.read(_LONGEST_ANSWER)


def _line(number: int, listed: _Listed) -> WalletLine:
    places = decimal_places(currency_unit(listed.currency, listed.exponent)) or 0
    at = format_time(datetime.fromisoformat(listed.at))
    return WalletLine(listed.reference, at, Decimal(listed.change_minor).scaleb(-places), number)


def _is_answer(path: str, body: bytes) -> bool:
    if path == "/cancel":
        return True
    try:
        read_json(body, _Moved)
    except ValueError:
        return False
    return True
