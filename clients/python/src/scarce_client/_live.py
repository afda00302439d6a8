"""Live channels: all of a balance, a sale or a book, then each change, over connections that come and go."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from . import _generated
from ._codec import decode
from ._exchange import Exchange
from ._outcome import ScarceError
from ._transport import Request, TransportError

# The server says something every 15 seconds.
_SILENCE = 45.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderChange:
    """What happened to one of an owner's orders. Which of the optional members it has depends on `change`."""

    change: str
    """`placed`, `traded`, `rested`, `reduced`, `replaced` or `cancelled`"""
    order: str
    remaining: int
    """What is open of the order after it; 0 when the order is over."""
    sequence: int
    at: int
    side: str | None = None
    price: int | None = None
    quantity: int | None = None
    tif: str | None = None
    stp: str | None = None
    role: str | None = None
    trade: int | None = None
    by: int | None = None
    by_self_trade: bool | None = None
    keeps_priority: bool | None = None
    unfilled: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class OwnOrders:
    """What the channel of an owner's orders shows."""

    orders: Sequence[_generated.OrderGetRow]
    """The resting orders, in a snapshot."""
    changes: Sequence[OrderChange]
    """What happened to any of the owner's orders, oldest first."""


@dataclass(frozen=True, slots=True)
class Update:
    """A change of a channel."""

    channel: str
    type: str
    """`snapshot`: what was there before is void, since changes may have been missed. Otherwise `delta`."""
    data: Any
    """All that the channel shows now, as the command that reads it answers; `None` if there is no such resource.
    Of trades and of changes of orders, only those that are new, oldest first."""
    epoch: int
    sequence: int


class _View:
    """What is known of a channel."""

    def __init__(self, channel: str) -> None:
        self.type, self.sequence = _type_of(channel), -1
        self._data: Mapping[str, Any] | None = None
        self._trade = 0

    def take(self, message: Mapping[str, Any]) -> str:
        """Takes a message: `new`, `old`, or `gap` if something before it is missing."""
        if message["type"] == "snapshot":
            self.sequence, self._data = message["sequence"], self._with_new_trades(message["data"])
            return "new"
        if message["last"] <= self.sequence:
            return "old"
        if message["first"] > self.sequence + 1:
            return "gap"
        self.sequence = message["last"]
        if "changes" in message["data"]:
            self._data = message["data"]
            return "new"
        self._data = self._with_new_trades(_merged(self._data or {}, message["data"]))
        return "new"

    def data(self) -> Any:
        if self._data is None:
            return None
        return _own_orders(self._data) if self.type is OwnOrders else decode(self.type, self._data)

    def _with_new_trades(self, data: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """Of trades, those that were not seen yet: they are numbered."""
        if data is None or "trades" not in data:
            return data
        trades = sorted((its for its in data["trades"] if its["trade"] > self._trade), key=lambda its: its["trade"])
        self._trade = trades[-1]["trade"] if trades else self._trade
        return {**data, "trades": trades}


def _own_orders(data: Mapping[str, Any]) -> OwnOrders:
    orders = [decode(_generated.OrderGetRow, row) for row in data.get("orders", [])]
    return OwnOrders(orders, [decode(OrderChange, change) for change in data.get("changes", [])])


def _type_of(channel: str) -> type:
    kind, _, part = channel.partition(".")
    if kind == "market" and ".orders." in part:
        return OwnOrders
    by_kind = {
        "account": _generated.AccountGetResult,
        "stock": _generated.StockGetResult,
        "packets": _generated.PacketGetResult,
        "coupon": _generated.CouponGetResult,
    }
    by_part = {"trades": _generated.MarketTradesResult, "ticker": _generated.MarketTickerResult}
    return by_kind.get(kind) or by_part.get(part.rpartition(".")[2]) or _generated.MarketDepthResult


def _merged(before: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """All of a channel after a change."""
    after = {**before, **change}
    for side, sign in (("bids", -1), ("asks", 1)):
        if side in change:
            levels = {level["price"]: level for level in [*before.get(side, []), *change[side]]}
            left = [level for level in levels.values() if level["quantity"] > 0]
            after[side] = sorted(left, key=lambda level: sign * level["price"])
    return after


class Live:
    """Updates of channels, until it is closed or the server refuses. `close` may be called by another thread."""

    def __init__(self, channels: Sequence[str], exchange: Exchange, headers: Mapping[str, str]) -> None:
        self._exchange, self._headers = exchange, headers
        self._views = {channel: _View(channel) for channel in channels}
        self._path = "/v1/live?channels=" + ",".join(quote(channel, safe="") for channel in channels)
        self._connection: http.client.HTTPConnection | None = None
        self._socket: socket.socket | None = None
        self._closed = threading.Event()
        self._last = ""

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closed.set()
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # It is closed already.

    def __iter__(self) -> Iterator[Update]:
        attempt = 0
        while not self._closed.is_set():
            try:
                for update in self._stream():
                    attempt = 0
                    yield update
            except TransportError as error:
                if error.kind == "fatal":
                    raise ScarceError("UNREACHABLE", str(error)) from error
            self._closed.wait(self._exchange.patience.pause_before(attempt))
            attempt += 1

    def _stream(self) -> Iterator[Update]:
        """The updates of one connection."""
        transport = self._exchange.transport
        connection = transport.connect(self._exchange.patience.attempt)
        self._socket = connection.sock
        connection.sock.settimeout(_SILENCE)
        headers = {**self._headers, "last-event-id": self._last} if self._last else self._headers
        try:
            response = transport.begin(connection, Request("GET", self._path, None, headers))
            if response.status != 200:
                _refuse(response)
            for id, message in _events(response):
                view = self._views.get(message.get("channel", ""))
                if self._closed.is_set() or message["type"] == "end":
                    return
                news = view.take(message) if view else "old"
                self._last = "" if news == "gap" else id
                if news == "gap":
                    return
                if view and news == "new":
                    yield Update(message["channel"], message["type"], view.data(), message["epoch"], view.sequence)
        except (OSError, http.client.HTTPException) as error:
            raise TransportError("lost", error) from error
        finally:
            self._socket = None
            connection.close()


def _events(response: http.client.HTTPResponse) -> Iterator[tuple[str, Mapping[str, Any]]]:
    id, data = "", ""
    while line := response.readline().decode():
        if line.startswith("id: "):
            id = line[4:].strip()
        elif line.startswith("data: "):
            data = line[6:]
        elif line == "\n" and data:
            yield id, json.loads(data)
            data = ""


def _refuse(response: http.client.HTTPResponse) -> None:
    """Raises what the server says, unless it may say something else later."""
    body = response.read()
    if response.status == 429 or response.status >= 500:
        raise TransportError("lost", ConnectionError(body.decode("utf-8", "replace")))
    try:
        problem = json.loads(body)
    except ValueError:
        problem = {"code": "GARBLED", "detail": body[:200].decode("utf-8", "replace")}
    raise ScarceError(problem["code"], problem.get("detail", ""), response.status, problem.get("facts"))
