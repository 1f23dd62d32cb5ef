"""An operator's wallet as an HTTP service, which fails as it is told."""

import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from shoeproof.replay.wallet.wallet import MemoryWallet, is_accepted

Failure = Literal["503", "503 after", "garbage", "late", "hang up", "402", "other amount"]


class WalletServer(ThreadingHTTPServer):
    """The service: `failures` befall the next requests to move money, in their order.

    `journal` is every movement there was, cancellations among them, by reference and amount.
    """

    daemon_threads = True
    request_queue_size = 128
    late_seconds = 0.5

    def __init__(self, opening_minor: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.wallet = MemoryWallet(opening_minor)
        self.journal: list[tuple[str, int]] = []
        self.failures: deque[Failure | None] = deque()
        self.asked: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/wallet"

    @property
    def stands(self) -> dict[str, int]:
        """What was moved and stands, by reference."""
        return {reference: change for reference, (change, _) in self.wallet._moved.items()}

    def next_failure(self) -> Failure | None:
        """Return what befalls the request that came now."""
        return self.failures.popleft() if self.failures else None


class _Handler(BaseHTTPRequestHandler):
    server: WalletServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/wallet/movements":
            at = datetime.now(UTC).isoformat()
            keys = ("reference", "at", "change_minor", "currency", "exponent")
            rows = [(name, at, change, "EUR", 2) for name, change in self.server.stands.items()]
            self._answer(200, {"movements": [dict(zip(keys, row, strict=True)) for row in rows]})
            return
        if parts.path != "/wallet/balance":
            self._answer(404, {})
            return
        player = parse_qs(parts.query)["player"][0]
        with self.server.lock:
            self._answer(200, {"balance_minor": self.server.wallet.balance_minor(player)})

    def do_POST(self) -> None:
        try:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        except (OSError, ValueError):
            # Whoever asked died in the middle of it.
            return
        act = self.path.rsplit("/", 1)[1]
        with self.server.lock:
            self.server.asked.append({"act": act, **asked})
            failure = self.server.next_failure()
            if failure == "503":
                self._answer(503, {})
                return
            if failure == "402" and act == "debit":
                self._answer(402, {"error": "no"})
                return
            status, answer = self._journalled(act, asked)
        if failure == "late":
            time.sleep(self.server.late_seconds)
        if failure == "hang up":
            self.close_connection = True
        elif failure == "503 after":
            self._answer(503, {})
        elif failure == "garbage":
            self._send(200, b"<html>all is well</html>")
        elif failure == "other amount":
            self._answer(200, answer | {"cash_minor": 1})
        else:
            self._answer(status, answer)

    def _journalled(self, act: str, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        wallet, player = self.server.wallet, asked["player"]
        before = wallet.balance_minor(player)
        told = self._move(act, asked)
        if change := wallet.balance_minor(player) - before:
            self.server.journal.append((asked["reference"], change))
        return told

    def _move(self, act: str, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        wallet, player, reference = self.server.wallet, asked["player"], asked["reference"]
        if act == "cancel":
            wallet.cancel(player, reference)
            return 200, {}
        move = wallet.debit if act == "debit" else wallet.credit
        funds = move(player, asked["amount_minor"], reference)
        if not is_accepted(funds.answer):
            return 409, {"error": "cancelled"}
        return 200, {
            "transaction": f"t-{reference}",
            "cash_minor": funds.cash_minor,
            "incentive_minor": funds.incentive_minor,
            "balance_minor": funds.balance_after_minor,
        }

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        self._send(status, json.dumps(body).encode())

    def _send(self, status: int, body: bytes) -> None:
        with suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)


@contextmanager
def serving_wallet(
    opening_minor: int = 100_000, kind: type[WalletServer] = WalletServer
) -> Iterator[WalletServer]:
    """Serve a wallet while the block runs."""
    with kind(opening_minor) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
