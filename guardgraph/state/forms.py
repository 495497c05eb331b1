"""Forms of what is recorded: times, hashes, and objects that have the fields that they say and no others."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field

CLOSED = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)
"""What is recorded has no other fields, and nothing in it is taken for something that it is not."""


_DAY, _TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"


def _check_calendar(moment: str) -> str:
    datetime.fromisoformat(moment)  # the pattern has the 30th of February, too
    return moment


Moment: TypeAlias = Annotated[
    str, Field(pattern=f"^{_DAY}T{_TIME}([+-][0-9]{{2}}:[0-9]{{2}})?$"), AfterValidator(_check_calendar)
]
"""A date and time as ISO 8601 has them."""

Sha256: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A hash, 64 hex digits."""
