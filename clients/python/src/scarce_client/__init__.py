"""A client of Scarce, which hands out what there is not enough of: accounts, stock, red packets, coupons and order
books. No operation is applied twice."""

from ._batch import Line
from ._client import Scarce
from ._generated import *  # noqa: F403
from ._generated import VERSION as __version__
from ._live import Live, OrderChange, OwnOrders, Update
from ._outcome import (
    Absent,
    Answer,
    Applied,
    Arguments,
    CallOptions,
    Failed,
    Outcome,
    Refused,
    ScarceError,
    Undecided,
)

__all__ = [  # noqa: F405
    *(name for name in globals() if name.endswith(("Facts", "Result", "Row", "Arguments"))),
    *("Absent", "Answer", "Applied", "CallOptions", "Failed", "Limit", "Line", "Live", "OrderChange", "Outcome"),
    *("OwnOrders", "Plan", "Receipt"),
    *("Refused", "RememberedOutcome", "Scarce", "ScarceError", "Undecided", "Update", "__version__"),
]
