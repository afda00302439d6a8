"""HTTP by the standard library, over connections that are kept open and shared by threads."""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

# Connections that are kept open.
_IDLE_MAX = 64


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes


class TransportError(Exception):
    """Why a request has no answer. `unsent`: the server cannot have got it. `lost`: it may have. `fatal`: no retry
    will help."""

    def __init__(self, kind: str, cause: BaseException) -> None:
        super().__init__(str(cause) or type(cause).__name__)
        self.kind = kind


class Transport:
    def __init__(self, url: str, tls: ssl.SSLContext | None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(f"'{url}' is not an address such as http://127.0.0.1:7380")
        self._host, self._port = parts.hostname, parts.port
        self._base = parts.path.rstrip("/")
        self._tls = (tls or ssl.create_default_context()) if parts.scheme == "https" else None
        self._idle: list[http.client.HTTPConnection] = []
        self.url = url

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        """A new connection."""
        connection: http.client.HTTPConnection
        if self._tls is None:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        else:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)
        try:
            connection.connect()
            # A request goes out in two writes; the second must not wait for an answer to the first.
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except ssl.SSLCertVerificationError as error:
            raise TransportError("fatal", error) from error
        except OSError as error:
            raise TransportError("unsent", error) from error
        return connection

    def begin(self, connection: http.client.HTTPConnection, request: Request) -> http.client.HTTPResponse:
        """Sends a request; gives the head of the answer."""
        try:
            connection.request(request.method, self._base + request.path, request.body, dict(request.headers))
            return connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise TransportError("lost", error) from error

    def send(self, request: Request, timeout: float) -> Response:
        until = time.monotonic() + timeout
        try:
            connection = self._idle.pop()
            connection.sock.settimeout(timeout)
        except IndexError:
            connection = self.connect(timeout)
        response = self.begin(connection, request)
        sock, parts = connection.sock, []
        try:
            while True:
                if sock is not None:
                    sock.settimeout(max(0.001, until - time.monotonic()))
                part = response.read(1 << 16)
                if not part:
                    break
                parts.append(part)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise TransportError("lost", error) from error
        headers = {name.lower(): value for name, value in response.headers.items()}
        if connection.sock is None or len(self._idle) >= _IDLE_MAX:
            connection.close()
        else:
            self._idle.append(connection)
        body = b"".join(parts)
        length = headers.get("content-length", "")
        if length.isdecimal() and len(body) != int(length):
            raise TransportError("lost", ConnectionError("the answer broke off"))
        return Response(response.status, headers, body)

    def close(self) -> None:
        """Closes idle connections."""
        while self._idle:
            self._idle.pop().close()
