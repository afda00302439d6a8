"""What comes of a command: applied, refused or undecided. Errors are raised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypedDict, TypeVar

if TYPE_CHECKING:
    from ._generated import Receipt

T = TypeVar("T")


class CallOptions(TypedDict, total=False):
    """What a single call may say besides its arguments."""

    id: str
    """The operation ID; by default a new one. Give your own to find the operation again after a crash of yours."""
    deadline: int
    """From this time on (ms since the Unix epoch) the command is not applied."""
    durability: Literal["memory", "replicated", "synced"]
    dry_run: bool
    """Tells what would happen, and changes nothing."""
    timeout: float
    """How many seconds the call may take in all, with its retries."""


class Route(NamedTuple):
    """How a command is sent."""

    method: str
    path: str
    query: tuple[str, ...]
    on: str
    """The argument that names a resource in the command's partition."""
    takes_id: bool
    remembers_refusals: bool
    """Whether a refusal is remembered under the ID, so that no copy of the request can be applied later."""


class Arguments(Generic[T]):
    """The arguments of a command, which answers a `T`."""

    __slots__ = ()
    COMMAND: ClassVar[str]
    RESULT: ClassVar[type]


class Send(Protocol):
    """Sends a command."""

    def __call__(self, arguments: Arguments[Any], options: CallOptions) -> Outcome[Any]: ...


@dataclass(frozen=True, slots=True)
class Applied(Generic[T]):
    """The command took effect, or, if it reads, was answered."""

    value: T
    receipt: Receipt | None
    """Where the change is in the log; `None` for reads and dry runs."""
    replayed: bool
    """Whether this is the first answer again."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The rules do not allow it: an ordinary answer. No copy of the request will be applied under this ID."""

    code: str
    facts: Any
    """What the code rests on: a `SoldOutFacts` for `SOLD_OUT`; a mapping if this client does not know the code."""
    retryable: bool
    """Whether the same command may succeed later, with a new ID."""
    title: str
    advice: str


@dataclass(frozen=True, slots=True)
class Absent:
    """Nothing was done under this ID, and nothing ever will be."""

    operation: str


@dataclass(frozen=True, slots=True)
class Undecided(Generic[T]):
    """The time for the call is up, and the server may or may not have applied it."""

    operation: str
    reason: ScarceError
    """Why there is no answer."""
    _again: Callable[[str, float | None], Any] = field(repr=False, compare=False)

    def retry(self, timeout: float | None = None) -> Outcome[T]:
        """Sends it again with the same ID."""
        outcome: Outcome[T] = self._again("retry", timeout)
        return outcome

    def ask(self, timeout: float | None = None) -> Outcome[T]:
        """Asks whether it was applied; undecided again if the server does not know it."""
        outcome: Outcome[T] = self._again("ask", timeout)
        return outcome

    def resolve(self, timeout: float | None = None) -> Outcome[T] | Absent:
        """Settles it: answers what was decided, or ensures that it never happens."""
        outcome: Outcome[T] | Absent = self._again("resolve", timeout)
        return outcome


Answer = Applied[T] | Refused
Outcome = Applied[T] | Refused | Undecided[T]


@dataclass(frozen=True, slots=True)
class Failed:
    """A line of a batch that could not be done, and was not."""

    error: ScarceError


class ScarceError(Exception):
    """Something is wrong besides the rules. The call that raises it changed nothing."""

    def __init__(self, code: str, message: str, status: int = 0, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        """The server's code, or UNREACHABLE, LOST or GARBLED."""
        self.status = status
        """The status of HTTP; 0 without an answer."""
        self.facts = facts or {}
