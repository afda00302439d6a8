"""Many commands in a request, each with an outcome of its own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._call import Caller, Sent, applied, common_headers, is_refusal, refused, to_send
from ._codec import decode, encode
from ._exchange import Answered, Decision, error_of, garbled, is_of, is_problem, is_transient, may_be_applied
from ._generated import ROUTES
from ._outcome import Arguments, CallOptions, Failed, ScarceError
from ._transport import Request

# The most lines of a request; longer batches are sent in several.
_LINES_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Line:
    """A command with options of its own: `id`, `deadline` and `durability`."""

    arguments: Arguments[Any]
    options: CallOptions = field(default_factory=CallOptions)


@dataclass(slots=True)
class _Pending:
    """A line that is on its way."""

    index: int
    operation: Mapping[str, Any]
    sent: Sent
    doubt: bool
    error: ScarceError


def _operation(arguments: Arguments[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    return {"command": arguments.COMMAND, "arguments": encode(arguments), **options}


def _pending(index: int, line: Line, new_id: Callable[[], str]) -> _Pending:
    sent = to_send(line.arguments, line.options, new_id)
    options = {**line.options, "id": sent.id} if sent.id else {}
    operation = _operation(line.arguments, options)
    return _Pending(index, operation, sent, False, ScarceError("UNREACHABLE", "there was no time to send it"))


def send_batch(caller: Caller, lines: Sequence[Line], new_id: Callable[[], str], until: float) -> list[Any]:
    """Sends lines until each is decided or the time is up."""
    outcomes: list[Any] = [None] * len(lines)
    pending = [_pending(index, line, new_id) for index, line in enumerate(lines)]
    attempt = 0
    while pending:
        parts = [pending[at : at + _LINES_MAX] for at in range(0, len(pending), _LINES_MAX)]
        pending = [its for part in parts for its in _round(caller, part, outcomes, until)]
        waits = (its.error.facts.get("retry_after_ms") for its in pending)
        wait = max((ms for ms in waits if isinstance(ms, int)), default=0) / 1_000
        pause = caller.exchange.patience.pause_before(attempt, wait)
        if pending and time.monotonic() + pause >= until:
            for its in pending:
                outcomes[its.index] = _given(caller, its)
            break
        if pending:
            time.sleep(pause)
        attempt += 1
    return outcomes


def _round(caller: Caller, part: list[_Pending], outcomes: list[Any], until: float) -> list[_Pending]:
    """Sends lines, again as long as the request as a whole has no answer. Gives those that are open still."""
    body = json.dumps({"operations": [its.operation for its in part]}).encode()
    request = Request("POST", "/v1/batch", body, {"content-type": "application/json"})
    decision = caller.decide(request, until)
    for its in part:
        its.doubt = its.doubt or decision.doubt
    answer = decision.answer
    results: Any = answer.body.get("results") if answer else None
    if answer and not answer.problem and not _has_lines(results, len(part)):
        answer = Answered({}, garbled(502, str(dict(answer.body))[:200]), False)
        for its in part:
            its.doubt = True
    if answer is None or answer.problem is not None:
        for its in part:
            its.error = (error_of(answer) if answer else decision.error) or its.error
            outcomes[its.index] = _given(caller, its)
        return []
    still = []
    for its, result in zip(part, results, strict=True):
        line = _line(its, result)
        if is_transient(line):
            its.doubt, its.error = its.doubt or may_be_applied(line), error_of(line)
            still.append(its)
        else:
            outcomes[its.index] = _concluded(caller, its, line, until)
    return still


def _has_lines(results: Any, count: int) -> bool:
    return isinstance(results, list) and len(results) == count and all(isinstance(its, dict) for its in results)


def _line(its: _Pending, given: Mapping[str, Any]) -> Answered:
    result, problem = given.get("result", {}), given.get("problem")
    is_told = is_of(result, its.sent.id) if problem is None else is_problem(problem, given.get("status", 0))
    return Answered(result, problem if is_told else garbled(502, str(given)[:200]), given.get("replayed", False))


def _concluded(caller: Caller, its: _Pending, line: Answered, until: float) -> Any:
    if line.problem is None:
        return applied(line, its.sent.values)
    if not its.doubt and is_refusal(line.problem):
        return refused(line.problem)
    try:
        return caller.conclude(its.sent, Decision(line, None, its.doubt), until)
    except ScarceError as error:
        return Failed(error)


def _given(caller: Caller, its: _Pending) -> Any:
    """A line without an answer."""
    return caller.undecided(its.sent, its.error) if its.doubt and its.sent.id else Failed(its.error)


def atomic(lines: Sequence[Arguments[Any]], options: CallOptions, new_id: Callable[[], str]) -> Sent:
    """All lines or none, under one ID."""
    routes = [ROUTES[line.COMMAND] for line in lines]
    id = None if options.get("dry_run") else options.get("id") or new_id()
    body = json.dumps({"atomic": True, "operations": [_operation(line, {}) for line in lines]}).encode()
    path = "/v1/batch?dry_run=true" if options.get("dry_run") else "/v1/batch"
    headers = {**common_headers(id, options), "content-type": "application/json"}
    on = str(encode(lines[0]).get(routes[0].on, "")) if lines else ""

    def values(given: Mapping[str, Any]) -> list[Any]:
        return [decode(line.RESULT, its["result"]) for line, its in zip(lines, given["results"], strict=True)]

    return Sent(Request("POST", path, body, headers), id, on, any(its.remembers_refusals for its in routes), values)
