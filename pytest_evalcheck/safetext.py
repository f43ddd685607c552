"""Text from a model or a dataset, made safe to print, to log and to write.

What a terminal or a CI runner would obey is shown as text, secrets are taken
out, and long texts are cut with their length. Making safe text safe again
changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

__all__ = ["make_redactor", "redact_secrets", "safe_line", "safe_text"]

# Shorter values ("1", "true") stand in too many innocent texts to be taken out.
SHORTEST_SECRET: Final = 6

# Enough text beyond the limit that no secret can be cut into an unrecognisable half.
CUT_MARGIN: Final = 4_096

# C0 and C1 controls but tab and newline; line separators; zero-width and
# bidirectional marks (Unicode TR 36); lone surrogates and non-characters, which
# neither UTF-8 nor XML 1.0 can carry; invisible tag characters.
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069"
    "\ufeff\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]"
)

# Key shapes as their issuers document them.
_SECRET_SHAPES: Final = (
    r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic
    r"(?<![A-Za-z0-9])A[KS]IA[0-9A-Z]{16}(?![A-Za-z0-9])",  # AWS
    r"gh[pousr]_[A-Za-z0-9]{20,}",  # GitHub
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"xox[a-z]-[A-Za-z0-9-]{10,}",  # Slack
    r"AIza[0-9A-Za-z_-]{30,}",  # Google
)
_SECRET: Final = re.compile("|".join(_SECRET_SHAPES))
_BEARER: Final = re.compile(r"\b(bearer\s+)[A-Za-z0-9._~+/-]{16,}=*", re.IGNORECASE)
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)

# Workflow commands. GitHub obeys `::` at the start of a line after any white space,
# and `##[`, like Azure's `##vso[`, anywhere in it.
_COMMAND_AT_START: Final = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_COMMAND_ANYWHERE: Final = re.compile(r"##(?=[A-Za-z]*\[)")

# What a printable ASCII text must hold, in lower case, to need a closer look.
_SUSPICIOUS: Final = (
    *("::", "##", "sk-", "akia", "asia", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("github_pat_", "xox", "aiza", "bearer", "-----begin"),
)

Redactor = Callable[[str], str]


def safe_text(text: str, limit: int | None = None, *, redact: Redactor | None = None) -> str:
    """Return a text that is safe to print; its lines stay lines.

    Args:
        text: any text, with lone surrogates too.
        limit: the most characters to keep; what is cut off is told by its length.
        redact: takes out secrets that only the run knows, see `make_redactor`.
    """
    if limit is not None and len(text) > limit:
        return _cut_text(text, limit, redact)
    if redact is not None:
        text = redact(text)
    return text if _is_plain(text) else _made_safe(text)


def safe_line(text: str, limit: int | None = None, *, redact: Redactor | None = None) -> str:
    r"""Return a safe text on one line, with line ends and tabs shown as `\n` and `\t`."""
    text = safe_text(text, limit, redact=redact)
    if "\n" in text or "\t" in text:
        text = text.replace("\n", "\\n").replace("\t", "\\t")
    return text


def redact_secrets(text: str, *, redact: Redactor | None = None) -> str:
    """Return a text without secrets and otherwise as it stands, for what is stored."""
    if redact is not None:
        text = redact(text)
    return text if _is_plain(text) else _without_secrets(text)


def make_redactor(names: Iterable[str], environ: Mapping[str, str]) -> Redactor:
    """Return a function that takes the values of environment variables out of a text.

    Args:
        names: the variables whose values are secret.
        environ: where their values stand; unset ones and values under
            `SHORTEST_SECRET` characters are passed over.
    """
    known = {environ[name]: name for name in sorted(set(names)) if name in environ}
    # The longest first: a value may hold another.
    secrets = sorted((value for value in known if len(value) >= SHORTEST_SECRET), key=len)[::-1]
    if not secrets:
        return _unchanged
    pattern = re.compile("|".join(map(re.escape, secrets)))
    return lambda text: pattern.sub(lambda match: f"[{known[match[0]]} redacted]", text)


def _unchanged(text: str) -> str:
    return text


def _is_plain(text: str) -> bool:
    """Tell, for nearly every text and cheaply, that there is nothing to do."""
    if not (text.isascii() and text.isprintable()):
        return False
    text = text.lower()
    for mark in _SUSPICIOUS:  # noqa: SIM110 - any() over a generator costs twice as much here
        if mark in text:
            return False
    return True


def _without_secrets(text: str) -> str:
    text = _PRIVATE_KEY.sub("[private key redacted]", text)
    text = _SECRET.sub("[key redacted]", text)
    return _BEARER.sub(r"\1[token redacted]", text)


def _made_safe(text: str) -> str:
    text = _without_secrets(text)
    text = _UNSAFE.sub(_shown, text)
    text = _COMMAND_AT_START.sub(r"\1: ", text)
    return _COMMAND_ANYWHERE.sub("# #", text)


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 0x0D:
        return "\\r"
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )


def _cut_text(text: str, limit: int, redact: Redactor | None) -> str:
    head = safe_text(text[: limit + CUT_MARGIN], redact=redact)
    if len(text) > limit + CUT_MARGIN:
        # The end of the margin may hold half a secret: it is not shown, even where
        # what was taken out before it makes room.
        head = head[: max(0, len(head) - CUT_MARGIN // 4)]
    return f"{head[:limit]}… ({len(text):,} characters)"
