"""Literal API keys in a suite file: refused, for the file is committed and shared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_evalcheck.errors import Problem
from pytest_evalcheck.safetext import safe_text

__all__ = ["secret_problems"]

MARKS: Final = ("[key redacted]", "[token redacted]")  # what redaction puts for a known shape
NAMES: Final = re.compile(r"(?i)^(?:x-)?(?:api[_-]?key|authorization|access_token)$")
FROM_ENVIRONMENT: Final = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\}")


def secret_problems(document: Mapping[str, Any]) -> list[Problem]:
    """Return one problem for each value that is an API key; the key itself is not repeated."""
    return [
        Problem(
            found="a literal API key",
            expected='the name of a variable, such as "${API_KEY}"',
            fix="Take the key out of the file, and withdraw it if the file was shared.",
            where=".".join(str(key) for key in keys),
            keys=keys,
        )
        for keys, value in walk_texts(document, ())
        if is_secret(keys, value)
    ]


def is_secret(keys: tuple[str | int, ...], value: str) -> bool:
    """Tell whether a text is a key by its shape, or by the name it stands under."""
    printed = safe_text(value)
    if any(mark in printed and mark not in value for mark in MARKS):
        return True
    named = isinstance(keys[-1], str) and NAMES.match(keys[-1]) is not None
    return named and bool(value.strip()) and not FROM_ENVIRONMENT.search(value)


def walk_texts(
    value: Any, keys: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every text below a value with the path of keys to it."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [(keys, value)]
    while waiting:
        at, one = waiting.pop()
        if isinstance(one, str) and at:
            yield at, one
        elif isinstance(one, Mapping):
            waiting += [((*at, str(key)), below) for key, below in one.items()]
        elif isinstance(one, list):
            waiting += [((*at, index), below) for index, below in enumerate(one)]
