"""What a calibration is tied to, part by part, so that a change can be named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["PARTS", "Fingerprint", "make_fingerprint"]

# Each part and how it is called in a message.
PARTS: Final[Mapping[str, str]] = {
    "model": "the model",
    "parameters": "its parameters",
    "prompt": "the prompt",
    "rubric": "the rubric",
    "scale": "the scale",
    "reader": "the version of the reply reader",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """The digests of what decides a judge's scores.

    Attributes:
        parts: a digest for each of `PARTS`.
    """

    parts: Mapping[str, str]

    def digest(self) -> str:
        """Return the digest of the whole: 16 hexadecimal digits."""
        return digest_of(dict(self.parts))

    def changed(self, earlier: Mapping[str, str]) -> tuple[str, ...]:
        """Return in words which parts differ from an earlier fingerprint's."""
        return tuple(
            words for name, words in PARTS.items() if earlier.get(name) != self.parts.get(name)
        )

    def stale_text(self, earlier: Mapping[str, str]) -> str:
        """Return why a calibration with an earlier fingerprint no longer holds, or ""."""
        changed = self.changed(earlier)
        if not changed:
            return ""
        return f"{' and '.join(changed)} changed since the calibration"


def make_fingerprint(**parts: Any) -> Fingerprint:
    """Return the fingerprint of plain JSON values, one for each of `PARTS`.

    Raises:
        ValueError: a part is missing or unknown.
    """
    if parts.keys() != PARTS.keys():
        raise ValueError(f"the parts are {', '.join(PARTS)}")
    return Fingerprint(parts={name: digest_of(parts[name]) for name in PARTS})


def digest_of(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
