"""What is sent to a judge, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Failure", "JudgeRequest", "Reply"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    """One request to a judge."""

    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    sample: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a judge answered."""

    text: str
    value: Any = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    finish: str = ""
    replayed: bool = False
    attempts: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no reply."""

    code: str
    reason: str
    attempts: int = 0
