"""The client."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from typing import Any, TypeVar, Unpack

from ._batch import Line, atomic, send_batch
from ._call import Caller, to_send
from ._exchange import Exchange, Patience
from ._generated import (
    AccountCommands,
    CouponCommands,
    DigestArguments,
    DigestResult,
    MarketCommands,
    OperationCommands,
    OrderCommands,
    PacketCommands,
    StockCommands,
)
from ._ids import Clock
from ._live import Live
from ._outcome import Answer, Arguments, CallOptions, Failed, Outcome, ScarceError
from ._transport import Transport

T = TypeVar("T")


class Scarce:
    """A client of a server. It keeps connections open; share it between threads.

    `key` is a key or the password. Times are in seconds: `timeout` of a whole call with its retries, `attempt_timeout`
    of a single attempt, `pause` the first pause between two attempts and `pause_max` the longest. `tls` says which
    certificates are used; by default, those of the system.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:7380",
        *,
        key: str | None = None,
        timeout: float = 30.0,
        attempt_timeout: float = 5.0,
        pause: float = 0.05,
        pause_max: float = 2.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._transport, self._clock = Transport(url, tls), Clock()
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._exchange = Exchange(self._transport, self._clock, Patience(attempt_timeout, pause, pause_max))
        self._caller = Caller(self._exchange, self._headers, timeout)
        self.account = AccountCommands(self._send)
        self.stock = StockCommands(self._send)
        self.packet = PacketCommands(self._send)
        self.coupon = CouponCommands(self._send)
        self.market = MarketCommands(self._send)
        self.order = OrderCommands(self._send)
        self.operation = OperationCommands(self._send)

    def __enter__(self) -> Scarce:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes idle connections."""
        self._transport.close()

    def send(self, arguments: Arguments[T], **options: Unpack[CallOptions]) -> Outcome[T]:
        """Sends a command that is given by its arguments, such as `StockTakeArguments`."""
        outcome: Outcome[T] = self._send(arguments, options)
        return outcome

    def digest(self, *, resource: str | None = None) -> Answer[DigestResult]:
        """Sums of the state of each partition, by which deployments are compared."""
        answer: Answer[DigestResult] = self._send(DigestArguments(resource=resource), {})
        return answer

    def batch(
        self, lines: Sequence[Arguments[Any] | Line], *, timeout: float | None = None
    ) -> list[Outcome[Any] | Failed]:
        """Sends many commands in a request, each with an outcome and an ID of its own."""
        given = [line if isinstance(line, Line) else Line(line) for line in lines]
        return send_batch(self._caller, given, self._clock.new_id, self._caller.until(timeout))

    def atomic(self, lines: Sequence[Arguments[Any]], **options: Unpack[CallOptions]) -> Outcome[list[Any]]:
        """Applies all of the lines or none, under one ID. Their resources must be in one partition."""
        sent = atomic(lines, options, self._clock.new_id)
        outcome: Outcome[list[Any]] = self._caller.call(sent, self._caller.until(options.get("timeout")))
        return outcome

    def live(self, channels: Sequence[str]) -> Live:
        """Follows live channels, such as `stock.sku-1` and `market.BTC-USDT.depth`, through lost connections."""
        return Live(channels, self._exchange, self._headers)

    def _send(self, arguments: Arguments[Any], options: CallOptions) -> Any:
        until = self._caller.until(options.get("timeout"))
        try:
            return self._caller.call(to_send(arguments, options, self._clock.new_id), until)
        except ScarceError as error:
            # The clock of this machine is wrong, and the answer has told by how much.
            if "id" in options or error.code != "INVALID" or error.facts.get("argument") != "ID":
                raise
            return self._caller.call(to_send(arguments, options, self._clock.new_id), until)
