"""A reply's text before it is read: one form of digits and marks, reasoning taken out."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["normal_text", "without_reasoning"]

MINUSES: Final = {0x2212: "-", 0xFE63: "-", 0x2010: "-", 0x2011: "-"}
SLASHES: Final = {0x2044: "/", 0x2215: "/"}
POINTS: Final = {0x066B: "."}
LINE_ENDS: Final = {0x2028: "\n", 0x2029: "\n", 0x0085: "\n"}
ONE_FORM: Final = MINUSES | SLASHES | POINTS | LINE_ENDS

# What reasoning models and the prompts for them put their drafts into.
REASONING: Final = r"think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|analysis"
OPENING: Final = re.compile(
    rf"<({REASONING})(?:\s[^<>]{{0,80}})?>|\[(think)\]|◁(think)▷", re.IGNORECASE
)
CLOSING: Final = re.compile(rf"</(?:{REASONING})\s*>|\[/think\]|◁/think▷", re.IGNORECASE)
# The last channel of OpenAI's harmony format, as some servers leave it in the text.
FINAL_CHANNEL: Final = "<|channel|>final<|message|>"
WHOLE_FENCE: Final = re.compile(r"\s*(```+|~~~+)[\w.+-]*[ \t]*\n(.*?)\n?[ \t]*\1\s*", re.DOTALL)


def normal_text(text: str) -> str:
    """Return a text with ASCII digits, marks and spaces, without invisible characters.

    Full-width and other scripts' decimal digits become 0-9 (Unicode, category Nd), the
    minus sign becomes a hyphen. Superscripts and circled digits stay: they are no numerals.
    """
    if text.isascii():
        return text
    return "".join(char if char < "\x80" else normal_character(char) for char in text)


def normal_character(char: str) -> str:
    code = ord(char)
    if code in ONE_FORM:
        return ONE_FORM[code]
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    if 0xFF01 <= code <= 0xFF5E:
        return chr(code - 0xFEE0)
    category = unicodedata.category(char)
    if category == "Cf":
        return ""
    return " " if category == "Zs" else char


def without_reasoning(text: str) -> str:
    """Return a reply without the reasoning before and inside it.

    A draft is no verdict: a block that was never closed leaves nothing, and of a text with
    a closing mark alone (some servers keep the opening one) only what follows counts.
    """
    text = text.rpartition(FINAL_CHANNEL)[2] if FINAL_CHANNEL in text else text
    text = re.sub(r"<\|(?:end|return)\|>\s*$", "", text)
    while (opening := OPENING.match(text.lstrip())) is not None:
        text = text.lstrip()
        closing = CLOSING.search(text, opening.end())
        if closing is None:
            return ""
        text = text[closing.end() :]
    return text


def without_inner_reasoning(text: str) -> str:
    """Return a text without the blocks inside it, where no JSON could be read before."""
    closings = list(CLOSING.finditer(text))
    if closings:
        text = text[closings[-1].end() :]
    opening = OPENING.search(text)
    return text if opening is None else text[: opening.start()]


def unfenced(text: str) -> str:
    """Return what stands inside a code fence that is the whole text."""
    fence = WHOLE_FENCE.fullmatch(text)
    return fence[2] if fence is not None and fence[1] not in fence[2] else text
