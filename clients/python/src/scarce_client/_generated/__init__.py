# Made by `cargo xtask reference` from the tables of commands and codes; change those, not this file.
"""What is made from the tables of commands and codes."""

from ._codes import *  # noqa: F403
from ._commands import *  # noqa: F403
from ._types import *  # noqa: F403
