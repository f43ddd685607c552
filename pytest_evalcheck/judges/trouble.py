"""What goes wrong with one attempt of a call, and whether another attempt may help."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal

from pytest_evalcheck.safetext import safe_line

__all__ = ["Trouble", "http_trouble", "retry_after_s", "said_by"]

Remedy = Literal["none", "wait", "ask_changed", "stop_lane"]

# Request timeout, conflict, too many requests (RFC 9110, RFC 6585): they pass by themselves,
# as every status from 500 on may.
PASSING: Final = frozenset({408, 409, 425, 429})

CONTEXT_LENGTH: Final = re.compile(
    r"context[ _-]?(length|window|size)|maximum context|prompt is too long|too many tokens"
    r"|exceed\w* (the )?(available )?context|input is too long",
    re.IGNORECASE,
)
CONTENT_FILTER: Final = re.compile(
    r"content[ _]?(filter|policy|management)|responsible ?ai", re.IGNORECASE
)
QUOTA: Final = re.compile(r"insufficient_quota|credit balance is too low|billing", re.IGNORECASE)


class Trouble(Exception):
    """One attempt of a call brought nothing.

    Attributes:
        code: one of the reason codes.
        reason: one line for a person.
        remedy: `none`; `wait` and ask again; `ask_changed` at once, for the next attempt
            will be worded differently; `stop_lane`: no request of this judge can succeed.
        wait_s: how long the server asks to wait, in seconds, or None.
        busy: the server is up and only asks for patience.
        tokens_in, tokens_out, cost_usd: what the attempt used up all the same.
    """

    def __init__(
        self,
        code: str,
        reason: str,
        *,
        remedy: Remedy = "none",
        wait_s: float | None = None,
        busy: bool = False,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        cost_usd: float | None = None,
    ) -> None:
        self.code = code
        self.reason = reason
        self.remedy: Remedy = remedy
        self.wait_s = wait_s
        self.busy = busy
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out
        self.cost_usd = cost_usd
        super().__init__(f"{code}: {reason}")


def http_trouble(
    status: int, message: str, headers: Mapping[str, str], *, judge: str, key_variable: str
) -> Trouble:
    """Return what an HTTP error status means.

    Args:
        status: the status, 400 or above.
        message: what the server said, of any length.
        headers: those of the answer, asked for by lower-case names.
        judge: the judge's name, for the reason.
        key_variable: the environment variable of its key, or "".
    """
    said = f"HTTP {status}: {said_by(message)}" if message.strip() else f"HTTP {status}"
    if status in (401, 403):
        return Trouble(
            "judge_unavailable", refused_key(judge, said, key_variable), remedy="stop_lane"
        )
    if status == 404:
        reason = f"the judge {judge!r} is not found ({said}); check its model and base_url"
        return Trouble("judge_unavailable", reason, remedy="stop_lane")
    if status in (402, 429) and QUOTA.search(message):
        reason = f"the account of the judge {judge!r} has nothing left ({said})"
        return Trouble("judge_unavailable", reason, remedy="stop_lane")
    if status in PASSING or status >= 500:
        reason = f"the judge {judge!r} answered {said}"
        return Trouble(
            "judge_unavailable",
            reason,
            remedy="wait",
            wait_s=retry_after_s(headers),
            busy=status == 429,
        )
    if status == 413 or CONTEXT_LENGTH.search(message):
        return Trouble(
            "judge_unavailable", f"the prompt is too long for the judge {judge!r} ({said})"
        )
    if CONTENT_FILTER.search(message):
        return Trouble(
            "judge_abstained", f"the content filter of the judge {judge!r} refused ({said})"
        )
    return Trouble("judge_unavailable", f"the judge {judge!r} refused the request ({said})")


def refused_key(judge: str, said: str, key_variable: str) -> str:
    if not key_variable:
        return f"the judge {judge!r} wants a key ({said}); give it an api_key: ${{VARIABLE}}"
    return f"the judge {judge!r} refused the key ({said}); set {key_variable} to a valid one"


def said_by(message: Any) -> str:
    """Return what a server said, on one line, with the tags of a page taken out, cut short."""
    text = str(message)
    if text.lstrip()[:1] == "<":
        title = re.search(r"<title[^>]*>(.*?)</title>", text[:4000], re.IGNORECASE | re.DOTALL)
        text = f"an HTML page{f' titled {title[1].strip()!r}' if title else ''}"
    return safe_line(" ".join(text[:4000].split()), 200)


def retry_after_s(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return how many seconds a server asks to wait, 0 or more, or None when it does not say.

    Read are `retry-after-ms` (OpenAI's) and `Retry-After` with seconds or a date
    (RFC 9110, 10.2.3); what cannot be read counts as not said.
    """
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        if re.fullmatch(r"\s*\d{1,9}(\.\d+)?\s*", text):
            return float(text) * unit_s
        try:
            until = parsedate_to_datetime(text)
        except ValueError:
            continue
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())
    return None
