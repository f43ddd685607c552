"""Regular expressions of a JSON Schema: ECMA-262's meaning, within a time limit.

JSON Schema 2020-12, section 6.4 of Core: patterns are those of ECMA-262. Where Python's
mean something else (`$` before a last line break, digits and letters of every script), they
are rewritten; the syntax is otherwise the same.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from pytest_evalcheck.checks.patterns import TIME_LIMIT_S

__all__ = ["compile_ecma", "search"]

TOKEN: Final = re.compile(r"\\.|[\[\]$]|[^\\\[\]$]+|\\", re.DOTALL)
# ECMA-262, section 22.2.2.9 (CharacterClassEscape): ASCII only.
OUTSIDE: Final = {
    r"\d": "[0-9]",
    r"\D": "[^0-9]",
    r"\w": "[0-9A-Z_a-z]",
    r"\W": "[^0-9A-Z_a-z]",
    "$": r"\Z",
}
INSIDE: Final = {r"\d": "0-9", r"\w": "0-9A-Z_a-z", "[": r"\["}


@lru_cache(maxsize=512)
def compile_ecma(source: str) -> Any:
    """Return a pattern of ECMA-262 as the regex package compiles it.

    Raises:
        regex.error: it does not compile.
    """
    import regex

    return regex.compile(python_pattern(source), regex.V0)


def python_pattern(source: str) -> str:
    """Return the pattern that means in Python what another means in ECMA-262."""
    parts: list[str] = []
    inside = False
    for token in TOKEN.findall(source):
        parts.append((INSIDE if inside else OUTSIDE).get(token, token))
        inside = token != "]" if inside else token == "["
    return "".join(parts)


def search(source: str, text: str) -> Any:
    """Return the first match of a pattern in a text, or None.

    Raises:
        TimeoutError: the search went on for too long.
    """
    try:
        return compile_ecma(source).search(text, timeout=TIME_LIMIT_S)
    except TimeoutError:
        raise TimeoutError(
            f"the pattern {source!r} of the schema took more than {TIME_LIMIT_S:g} s"
        ) from None
