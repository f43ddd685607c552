"""What of a row a judge gets to see, as named texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_evalcheck.model import Row, Score

__all__ = ["SEES", "Section", "gather_sections", "is_blank", "metadata_key"]

SEES: Final = ("input", "output", "expected", "context", "transcript", "tool_calls", "goal")
METADATA: Final = "metadata."
NOTHING: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One named text of the material.

    Attributes:
        name: what it is called in the prompt ("output", "metadata.persona").
        text: as the row has it; what is no text is written as JSON.
    """

    name: str
    text: str


def metadata_key(name: str) -> str | None:
    """Return KEY of `metadata.KEY`, or None for another name."""
    key = name.removeprefix(METADATA)
    return key if key != name and key else None


def gather_sections(row: Row, sees: Sequence[str] | None) -> tuple[Section, ...] | Score:
    """Return what a judge sees of a row, or the score when there is nothing to ask.

    Args:
        row: the row.
        sees: the names, in the order of the prompt; None is input where the row has one,
            output, and expected where the row has one.

    Returns:
        The sections; or non_evaluable `missing_output`, `empty_output`, `missing_expected`
        or `not_applicable`, without a call: an empty output is never sent to a judge.
    """
    names = default_names(row) if sees is None else tuple(sees)
    sections = []
    for name in names:
        value = value_of(row, name)
        lacking = lack(row, name, value, names)
        if lacking is not None:
            return lacking
        if value is not NOTHING and not is_blank(value):
            sections.append(Section(name=name, text=text_of(name, value)))
    return tuple(sections)


def default_names(row: Row) -> tuple[str, ...]:
    first = "transcript" if row.input is None and row.transcript is not None else "input"
    given = [name for name in (first, "expected") if value_of(row, name) is not NOTHING]
    return tuple(
        name for name in (first, "output", "expected") if name == "output" or name in given
    )


def value_of(row: Row, name: str) -> Any:
    """Return the value a row has under a name, or NOTHING."""
    key = metadata_key(name)
    if key is not None:
        return found_in(row.metadata, key)
    value = getattr(row, name)
    if name == "transcript" and value is None:
        value = conversation_of(row)
    return NOTHING if value is None else value


def found_in(metadata: Mapping[str, Any], key: str) -> Any:
    """Return the value at a key, which may be a path with dots; the whole key goes first."""
    if key in metadata:
        return NOTHING if metadata[key] is None else metadata[key]
    value: Any = metadata
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return NOTHING
        value = value[part]
    return NOTHING if value is None else value


def conversation_of(row: Row) -> Any:
    """Return the conversation of a chat row: its messages, and its output as the last reply."""
    if row.messages is None:
        return None
    last = [] if row.output is None else [{"role": "assistant", "content": row.output}]
    return [*row.messages, *last]


def is_blank(value: Any) -> bool:
    """Tell whether a value says nothing: white space, or an empty list or object."""
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, list | tuple | Mapping) and not value


def lack(row: Row, name: str, value: Any, names: Sequence[str]) -> Score | None:
    """Return the score of a row that lacks what a judge must see, or None."""
    if value is not NOTHING and not is_blank(value):
        return None
    if name == "output":
        # An agent may answer by calls alone, where the judge sees them.
        if "tool_calls" in names and not is_blank(row.tool_calls or ()):
            return None
        if value is NOTHING:
            return missing("missing_output", "the row has no recorded output")
        return missing("empty_output", "the output is blank, so the judge is not asked")
    if name == "metadata.expected_behavior":
        return missing("missing_expected", "the row has no expected_behavior")
    if name == "expected":
        return missing("missing_expected", "the row has no expected value")
    if name == "tool_calls" and value is not NOTHING:
        return None  # that no tool was called may be what is judged
    return missing("not_applicable", f"the row has no {name}")


def missing(code: str, why: str) -> Score:
    return Score("non_evaluable", reason=f"{code}: {why}", code=code)


def text_of(name: str, value: Any) -> str:
    """Return a value as the judge reads it."""
    if isinstance(value, str):
        return value
    if name == "transcript" and isinstance(value, list | tuple):
        return "\n\n".join(map(message_text, value))
    if name == "context" and isinstance(value, list | tuple):
        if len(value) == 1:
            return json_block(value[0])
        return "\n\n".join(f"({place}) {json_block(one)}" for place, one in enumerate(value, 1))
    return json_block(value)


def message_text(message: Any) -> str:
    """Return one message of a conversation: `role: content`, calls and other keys as JSON."""
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        return json_block(message)
    rest = {key: value for key, value in message.items() if key not in ("role", "content")}
    content = message.get("content")
    said = "" if content is None else json_block(content)
    more = f"\n{json_block(rest)}" if rest else ""
    return f"{message['role']}: {said}{more}"


def json_block(value: Any) -> str:
    """Return a text as it is and another value as readable JSON; never Python's own form."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=1, default=str)
    except (RecursionError, ValueError):
        return "(nested too deep to show)"
