"""Row ids: what a row calls itself, or a readable slug with a content hash."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["SeenIds", "content_digest", "readable_id", "safe_id"]

MAX_ID_CHARACTERS: Final = 200
_SLUG_CHARACTERS: Final = 40
_HASH_CHARACTERS: Final = 8
# Control characters, line separators, marks that turn the reading direction, and
# halves of surrogate pairs: none of them can be typed in a node id.
_UNTYPABLE: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]+"
)
_PLAIN: Final = re.compile(rf"[A-Za-z0-9_./-]{{1,{MAX_ID_CHARACTERS}}}")
_COLONS: Final = re.compile(r":{2,}|^:|:$")
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str)
_BRACKETS: Final = str.maketrans("[]", "()")
_NOT_WORD: Final = re.compile(r"[\W_]+")


def safe_id(text: str) -> str:
    """Return an id that a node id can hold.

    Surrounding white space is dropped, `[` and `]` become `(` and `)`, runs of `:` and a
    colon at either end become `_`, control characters become `_`; an id of more than 200
    characters is cut and ends in a hash of the whole. A blank text gives "".
    """
    if _PLAIN.fullmatch(text):
        return text
    cleaned = _UNTYPABLE.sub("_", text.strip()).translate(_BRACKETS)
    cleaned = _COLONS.sub("_", cleaned).strip()
    if len(cleaned) <= MAX_ID_CHARACTERS:
        return cleaned
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    kept = cleaned[: MAX_ID_CHARACTERS - _HASH_CHARACTERS - 1].rstrip(" :")
    return f"{kept}-{digest[:_HASH_CHARACTERS]}"


def content_digest(record: Mapping[str, Any]) -> str:
    """Return the first 16 hex digits of SHA-256 over the record as sorted JSON.

    Equal records have equal digests wherever they stand; the order of keys does not count.
    """
    return hashlib.sha256(_CANONICAL.encode(record).encode("ascii")).hexdigest()[:16]


def readable_id(content: Any, digest: str) -> str:
    """Return a slug of at most 40 characters of the content, then 8 digits of the digest.

    The content is what was asked: text, chat messages (the last user's counts) or other JSON.
    """
    words = _NOT_WORD.sub("-", _UNTYPABLE.sub(" ", _leading_text(content)).lower()).strip("-")
    if len(words) > _SLUG_CHARACTERS:
        cut = words[: _SLUG_CHARACTERS + 1].rpartition("-")[0]
        words = cut if len(cut) > _SLUG_CHARACTERS // 2 else words[:_SLUG_CHARACTERS]
    return f"{words or 'row'}-{digest[:_HASH_CHARACTERS]}"


def _leading_text(content: Any) -> str:
    limit = _SLUG_CHARACTERS * 4
    if isinstance(content, str):
        return content[:limit].strip()
    if isinstance(content, list | tuple) and content:
        asked = [one for one in content if isinstance(one, Mapping) and one.get("role") == "user"]
        return _leading_text(asked[-1].get("content") if asked else content[0])
    if isinstance(content, Mapping):
        return " ".join(
            str(value)[:limit] for value in content.values() if isinstance(value, str | int)
        )[:limit]
    return "" if content is None else str(content)[:limit]


class SeenIds:
    """The ids met so far and the lines they stand on: one or two numbers a row."""

    def __init__(self) -> None:
        self._lines: dict[int, int] = {}
        self._digests: dict[int, int] = {}

    def claim(self, row_id: str, line: int) -> int | None:
        """Take an id for the row of a line; return the line that has it already, or None."""
        key = hash(row_id)
        if key in self._lines:
            return self._lines[key]
        self._lines[key] = line
        return None

    def generate(self, content: Any, digest: str, line: int) -> str:
        """Return an unused id for a row without one, and take it.

        Rows of one content are told apart by `-2`, `-3` in the order of the file; nobody
        can tell which is which, so that is as stable as the hash. Where another row's id
        only looks the same, the whole digest is used.
        """
        key = int(digest, 16)
        times = self._digests.get(key, 0) + 1
        self._digests[key] = times
        row_id = readable_id(content, digest)
        suffix = f"-{times}" if times > 1 else ""
        if self.claim(row_id + suffix, line) is not None:
            row_id = f"{row_id[:-_HASH_CHARACTERS]}{digest}"
            self.claim(row_id + suffix, line)
        return row_id + suffix
