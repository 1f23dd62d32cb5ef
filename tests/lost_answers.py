"""A network that loses the answer to a commit: the database has it, the client never hears so."""

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit


class LossyProxy:
    """Passes a PostgreSQL connection on; once `armed`, the next commit's answer is lost,
    after as many as are to pass before.

    While it is `deaf` nobody gets through any more.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._socket = parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432"
        self._server = socket.create_server(("127.0.0.1", 0))
        self.armed = False
        self.armed_after = 0
        self.deaf = False
        self._clients: list[socket.socket] = []
        port = self._server.getsockname()[1]
        self.url = f"postgresql://postgres@127.0.0.1:{port}{parts.path}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                client = self._server.accept()[0]
            except OSError:
                return
            if self.deaf:
                client.close()
                continue
            self._clients.append(client)
            threading.Thread(target=self._pump, args=(client,), daemon=True).start()

    def _pump(self, client: socket.socket) -> None:
        # Either side may hang up at any time.
        with suppress(OSError), client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._socket)
            while True:
                for each in select.select([client, server], [], [])[0]:
                    data = each.recv(65536)
                    if not data:
                        return
                    if each is server:
                        client.sendall(data)
                        continue
                    server.sendall(data)
                    if self.armed and b"COMMIT\x00" in data:
                        self.armed_after -= 1
                        if self.armed_after >= 0:
                            continue
                        self.armed, self.armed_after = False, 0
                        server.recv(65536)
                        self._hang_up(client)
                        return

    def _hang_up(self, client: socket.socket) -> None:
        for each in self._clients if self.deaf else [client]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def losing_answers(url: str) -> Iterator[LossyProxy]:
    """Give a proxy in front of a PostgreSQL server that listens at a Unix socket."""
    proxy = LossyProxy(url)
    try:
        yield proxy
    finally:
        proxy.close()
