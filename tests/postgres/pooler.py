"""A pooler in transaction mode, as small as can be: its clients share one server process, a transaction at a time."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

READY, IDLE = b"Z", b"I"


class Pooler:
    """Listens on a port of its own; behind it are connections to the server that whoever comes next is given."""

    def __init__(self, dsn: str) -> None:
        self.parts = urlsplit(dsn)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.idle: list[socket.socket] = []
        self.servers: list[socket.socket] = []
        self.greeting = b""
        self.lock = threading.Lock()

    @property
    def dsn(self) -> str:
        """The address through the pooler."""
        user = f"{self.parts.username}@" if self.parts.username else ""
        return urlunsplit(self.parts._replace(netloc=f"{user}127.0.0.1:{self.listener.getsockname()[1]}"))

    def serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._client, args=(client,), daemon=True).start()

    def _client(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError, EOFError):
            startup = self._startup(client)
            with self.lock:
                server = self.idle.pop() if self.idle else self._server(startup)
                self.idle.append(server)
            client.sendall(self.greeting)
            self._relay(client)

    def _startup(self, client: socket.socket) -> bytes:
        while True:
            size = exactly(client, 4)
            body = exactly(client, struct.unpack("!I", size)[0] - 4)
            if struct.unpack("!I", body[:4])[0] == 196608:
                return size + body
            client.sendall(b"N")  # no encryption

    def _server(self, startup: bytes) -> socket.socket:
        server = socket.create_connection((self.parts.hostname, self.parts.port))
        self.servers.append(server)
        server.sendall(startup)
        self.greeting = b"".join(until_ready(server))
        return server

    def _relay(self, client: socket.socket) -> None:
        server: socket.socket | None = None
        while True:
            kind, message = received(client)
            if kind == b"X":
                return
            if server is None:
                with self.lock:
                    server = self.idle.pop() if self.idle else None
                if server is None:
                    raise EOFError
            server.sendall(message)
            if kind not in {b"Q", b"S"}:
                continue
            answers = list(until_ready(server))
            if answers[-1][-1:] == IDLE:
                # Free for others before the client knows: it could else come back sooner than that.
                with self.lock:
                    self.idle.append(server)
                server = None
            client.sendall(b"".join(answers))


def exactly(stream: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = stream.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def received(stream: socket.socket) -> tuple[bytes, bytes]:
    """The kind of a message, and all of it."""
    head = exactly(stream, 5)
    return head[:1], head + exactly(stream, struct.unpack("!I", head[1:])[0] - 4)


def until_ready(stream: socket.socket) -> Iterator[bytes]:
    """All messages up to the one that says that a statement is done."""
    kind = b""
    while kind != READY:
        kind, message = received(stream)
        yield message


@contextlib.contextmanager
def pooled(dsn: str) -> Iterator[str]:
    """The address of a server through a pooler in transaction mode."""
    pooler = Pooler(dsn)
    thread = threading.Thread(target=pooler.serve, daemon=True)
    thread.start()
    try:
        yield pooler.dsn
    finally:
        pooler.listener.shutdown(socket.SHUT_RDWR)
        pooler.listener.close()
        thread.join()
        for server in pooler.servers:
            server.close()
