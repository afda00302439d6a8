"""Sends a request until it is answered or its time is up."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._ids import Clock
from ._outcome import ScarceError
from ._transport import Request, Response, Transport, TransportError


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that is final."""

    body: Mapping[str, Any]
    problem: Mapping[str, Any] | None
    replayed: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer or an error, and whether an attempt without an answer may have been applied."""

    answer: Answered | None
    error: ScarceError | None
    doubt: bool


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds a single attempt may take, and the first pause between two and the longest."""

    attempt: float
    pause: float
    pause_max: float

    def pause_before(self, attempt: int, wait: float = 0.0) -> float:
        """Exponential with full jitter; after what the server asks for, so that callers do not all come at once."""
        ceiling: float = min(self.pause * 2.0 ** min(attempt, 20), self.pause_max)
        return wait + random.random() * max(ceiling, wait / 4)


class Exchange:
    def __init__(self, transport: Transport, clock: Clock, patience: Patience) -> None:
        self.transport, self.clock, self.patience = transport, clock, patience

    def decide(self, request: Request, until: float, doubt: bool = False) -> Decision:
        """Sends a request again until it is decided. `doubt`: an earlier attempt may have been applied."""
        error = ScarceError("UNREACHABLE", "there was no time to send it")
        attempt = 0
        while (left := until - time.monotonic()) > 0:
            wait = 0.0
            try:
                response = self.transport.send(request, min(left, self.patience.attempt))
                self.clock.learn(response.headers.get("date"))
                answer = _read(response, request.headers.get("idempotency-key"))
                if not is_transient(answer):
                    return Decision(answer, None, doubt)
                doubt = doubt or may_be_applied(answer)
                error, wait = error_of(answer), _retry_after(response)
            except TransportError as cause:
                doubt = doubt or cause.kind == "lost"
                code = "LOST" if cause.kind == "lost" else "UNREACHABLE"
                error = ScarceError(code, f"{self.transport.url}: {cause}")
                error.__cause__ = cause
                if cause.kind == "fatal":
                    break
            pause = self.patience.pause_before(attempt, wait)
            # A pause up to the end of the call would leave no time for an attempt after it.
            if time.monotonic() + pause >= until:
                break
            time.sleep(pause)
            attempt += 1
        return Decision(None, error, doubt)


def _read(response: Response, id: str | None) -> Answered:
    replayed = response.headers.get("idempotency-replayed") == "true"
    try:
        body = json.loads(response.body)
    except ValueError:
        body = None
    is_good = 200 <= response.status < 300
    if is_good and is_of(body, id):
        return Answered(body, None, replayed)
    if is_good or not is_problem(body, response.status):
        body = garbled(502 if is_good else response.status, response.body[:200].decode("utf-8", "replace"))
    return Answered({}, body, replayed)


def is_of(body: Any, id: str | None) -> bool:
    """Whether a body tells that a change was applied under this ID, or is an object where there is none. Anything else may
    come from what stands between us and the server, and says nothing of the change."""
    receipt = body.get("receipt") if isinstance(body, dict) else None
    return isinstance(body, dict) if id is None else isinstance(receipt, dict) and receipt.get("operation") == id


def is_problem(body: Any, status: int) -> bool:
    """Whether a body is a problem document of the server."""
    if not isinstance(body, dict) or body.get("status") != status:
        return False
    is_told = all(isinstance(body.get(name), str) for name in ("code", "title", "advice"))
    return is_told and isinstance(body.get("retryable"), bool) and isinstance(body.get("facts", {}), dict)


def garbled(status: int, said: str) -> dict[str, Any]:
    """What something else than the server says."""
    title, advice = f"no answer of Scarce: {said}", "Check what answers at this address."
    return {"code": "GARBLED", "status": status, "title": title, "advice": advice, "retryable": status >= 500}


def is_transient(answer: Answered) -> bool:
    """Whether the request should be sent again."""
    return answer.problem is not None and (answer.problem["status"] in (408, 429) or answer.problem["status"] >= 500)


def may_be_applied(answer: Answered) -> bool:
    """Whether a request that is answered so may have been applied, or may yet be."""
    problem = answer.problem
    return problem is not None and problem["status"] >= 500 and problem["code"] != "OVERLOADED"


def _retry_after(response: Response) -> float:
    try:
        return max(0.0, float(response.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0


def error_of(answer: Answered) -> ScarceError:
    """A problem as an error."""
    problem = answer.problem or {}
    said = problem.get("detail") or problem.get("title", "")
    message = f"{said} {problem.get('advice', '')}".strip()
    return ScarceError(problem["code"], message, problem["status"], problem.get("facts"))
