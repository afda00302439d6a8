"""Makes of each command one outcome, whatever happens on the way."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from . import _generated
from ._codec import decode, encode
from ._exchange import Answered, Decision, Exchange, error_of
from ._generated import FACTS, IS_REFUSAL, ROUTES
from ._outcome import Absent, Applied, Arguments, CallOptions, Refused, ScarceError, Undecided
from ._transport import Request

# Refusals after which no copy of the request can be applied, though they are not remembered.
_FINAL = frozenset(("ID_REUSED", "RESOLVED_ABSENT", "DEADLINE_PASSED", "CROSS_PARTITION"))


@dataclass(frozen=True, slots=True)
class Sent:
    """A command that is on its way, always under the same ID."""

    request: Request
    id: str | None
    """`None` for reads and dry runs, which change nothing."""
    on: str
    """A resource in its partition, by which the server can be asked about the ID."""
    remembers_refusals: bool
    values: Callable[[Mapping[str, Any]], Any]
    """How the answer's values are read."""


def common_headers(id: str | None, options: CallOptions) -> dict[str, str]:
    """The headers of a change."""
    given = {
        "idempotency-key": id,
        "scarce-deadline": options.get("deadline"),
        "scarce-durability": options.get("durability"),
    }
    return {name: str(value) for name, value in given.items() if value is not None}


def to_send(arguments: Arguments[Any], options: CallOptions, new_id: Callable[[], str]) -> Sent:
    """A command as a request."""
    route, rest = ROUTES[arguments.COMMAND], encode(arguments)
    on = str(rest.get(route.on, ""))
    path = re.sub(r"\{(\w+)\}", lambda name: quote(str(rest.pop(name[1])), safe=""), route.path)
    query = {name: _shown(rest.pop(name)) for name in route.query if name in rest}
    if options.get("dry_run"):
        query["dry_run"] = "true"
    id = (options.get("id") or new_id()) if route.takes_id and not options.get("dry_run") else None
    headers, body = common_headers(id, options), None
    if route.method in ("POST", "PATCH"):
        headers["content-type"] = "application/json"
        body = json.dumps(rest).encode()
    target = f"{path}?{urlencode(query)}" if query else path
    result = arguments.RESULT
    return Sent(
        Request(route.method, target, body, headers), id, on, route.remembers_refusals, lambda given: decode(result, given)
    )


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_refusal(problem: Mapping[str, Any]) -> bool:
    """Whether a problem is an answer of the rules. A code that is newer than this client is one by its status."""
    known = IS_REFUSAL.get(problem["code"])
    return problem["code"] != "GARBLED" and problem["status"] in (404, 409, 422) if known is None else known


def refused(problem: Mapping[str, Any]) -> Refused:
    facts = problem.get("facts", {})
    typed = FACTS.get(problem["code"])
    shown = decode(typed, facts) if typed else facts
    return Refused(problem["code"], shown, problem["retryable"], problem["title"], problem["advice"])


def applied(answer: Answered, values: Callable[[Mapping[str, Any]], Any]) -> Applied[Any]:
    receipt = answer.body.get("receipt")
    return Applied(values(answer.body), receipt and decode(_generated.Receipt, receipt), answer.replayed)


class Caller:
    def __init__(self, exchange: Exchange, headers: Mapping[str, str], timeout: float) -> None:
        self.exchange, self.headers, self.timeout = exchange, headers, timeout

    def until(self, timeout: float | None) -> float:
        """The end of a call."""
        return time.monotonic() + (self.timeout if timeout is None else timeout)

    def decide(self, request: Request, until: float, doubt: bool = False) -> Decision:
        headers = {**self.headers, **request.headers}
        return self.exchange.decide(Request(request.method, request.path, request.body, headers), until, doubt)

    def call(self, sent: Sent, until: float, doubt: bool = False) -> Any:
        """`doubt`: an earlier attempt may have been applied."""
        return self.conclude(sent, self.decide(sent.request, until, doubt), until)

    def conclude(self, sent: Sent, decision: Decision, until: float) -> Any:
        """What a decision means."""
        is_open, answer = decision.doubt and sent.id is not None, decision.answer
        if answer is not None and answer.problem is None:
            return applied(answer, sent.values)
        if answer is None or answer.problem is None or not is_refusal(answer.problem):
            error = error_of(answer) if answer else decision.error
            assert error is not None  # A decision has one or the other.
            if is_open:
                return self.undecided(sent, error)
            raise error
        refusal = refused(answer.problem)
        if not is_open or refusal.code in _FINAL:
            return refusal
        # Whatever was under the ID may have been forgotten.
        if refusal.code == "ID_EXPIRED":
            return self.undecided(sent, error_of(answer))
        if sent.remembers_refusals:
            return refusal
        # An earlier attempt that is still on its way could be applied after this refusal.
        settled = self._resolve(sent, until)
        return refusal if isinstance(settled, Absent) else settled

    def _resolve(self, sent: Sent, until: float) -> Any:
        """Ensures that the operation is decided, one way or the other."""
        path = f"/v1/operations/{quote(sent.id or '', safe='')}/resolve?on={quote(sent.on, safe='')}"
        asked = self.decide(Request("POST", path, b"{}", {"content-type": "application/json"}), until)
        if asked.answer is None or asked.answer.problem is not None:
            return self._still(sent, asked)
        if asked.answer.body.get("state") == "ABSENT":
            return Absent(sent.id or "")
        # What is remembered is the answer to a copy.
        return self.call(sent, until, True)

    def _look(self, sent: Sent, until: float) -> Any:
        path = f"/v1/operations/{quote(sent.id or '', safe='')}?on={quote(sent.on, safe='')}"
        asked = self.decide(Request("GET", path), until)
        if asked.answer is None or asked.answer.problem is not None:
            return self._still(sent, asked)
        return self.call(sent, until, True)

    def _still(self, sent: Sent, asked: Decision) -> Undecided[Any]:
        error = error_of(asked.answer) if asked.answer else asked.error
        return self.undecided(sent, error or ScarceError("LOST", "there is no answer"))

    def undecided(self, sent: Sent, reason: ScarceError) -> Undecided[Any]:
        def again(how: str, timeout: float | None) -> Any:
            until = self.until(timeout)
            if how == "retry":
                return self.call(sent, until, True)
            return self._look(sent, until) if how == "ask" else self._resolve(sent, until)

        return Undecided(sent.id or "", reason, again)
