"""Values and remarks as lines of a suite file: whatever they hold, the line can be read again."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from pytest_evalcheck.safetext import safe_line

__all__ = ["comment_text", "flow_text"]

# A word that stands unquoted means itself to every reader of YAML 1.1 and 1.2.
PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
PLAIN_PATH: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z][A-Za-z0-9_-]*)+", re.ASCII)
WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
# Line ends and characters that YAML takes for no text, besides those JSON escapes.
UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
LONGEST_COMMENT: Final = 300


def flow_text(value: Any) -> str:
    """Return a value as one line of YAML in flow style."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{flow_text(str(key))}: {flow_text(one)}" for key, one in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow_text, value))}]"
    if isinstance(value, str) and _is_plain(value):
        return value
    return UNPRINTABLE.sub(
        lambda found: f"\\u{ord(found.group()):04x}", json.dumps(value, ensure_ascii=False)
    )


def comment_text(text: str) -> str:
    """Return a remark for a comment: one line, bounded, of printable characters."""
    return safe_line(" ".join(text.split()), LONGEST_COMMENT)


def _is_plain(text: str) -> bool:
    if PLAIN.fullmatch(text):
        return text.lower() not in WORDS
    return PLAIN_PATH.fullmatch(text) is not None
