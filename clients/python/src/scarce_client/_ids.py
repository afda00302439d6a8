"""Operation IDs that carry their time (UUIDv7), so that a very late copy is refused instead of applied again."""

from __future__ import annotations

import secrets
import time
import uuid
from email.utils import parsedate_to_datetime

# A difference of the clocks below this is not corrected.
_DIFFERENCE_MS_MIN = 5_000


class Clock:
    """The server's clock, as far as its answers tell. IDs that are ahead of it are refused."""

    def __init__(self) -> None:
        self._ahead_ms = 0

    def now_ms(self) -> int:
        return int(time.time() * 1_000) + self._ahead_ms

    def learn(self, date: str | None) -> None:
        """Takes the `Date` of an answer."""
        try:
            theirs = parsedate_to_datetime(date or "").timestamp()
        except ValueError:
            return
        difference = int((theirs - time.time()) * 1_000)
        self._ahead_ms = 0 if abs(difference) < _DIFFERENCE_MS_MIN else difference

    def new_id(self) -> str:
        high = (max(self.now_ms(), 0) << 16) | 0x7000 | secrets.randbits(12)
        return str(uuid.UUID(int=(high << 64) | (0b10 << 62) | secrets.randbits(62)))
