"""The shapes of a row beyond question and answer: chat, sequence and simulated.

Limits and orders are those of this project's row shapes: 1 to 50 messages, 2 to 20
turns, 1 to 100 turns of a simulated user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pytest_evalcheck.errors import Problem
from pytest_evalcheck.jsonvalues import kind_phrase
from pytest_evalcheck.model import Row

__all__ = ["expand_depths", "shape_problems"]

MAX_MESSAGES: Final = 50
MIN_TURNS, MAX_TURNS = 2, 20
MAX_SIMULATED_TURNS: Final = 100
_ROLES: Final = ("system", "user", "assistant")


def shape_problems(values: Mapping[str, Any], *, transcript: bool = False) -> list[Problem]:
    """Return everything that is wrong with the shape of a row.

    Args:
        values: fields of the row by their own names.
        transcript: messages are to be expanded, so they may end on the assistant.
    """
    problems: list[Problem] = []
    recorded = values.get("output") is not None or values.get("transcript") is not None
    shapes = [
        name
        for name in ("input", "messages", "turns", "goal")
        if values.get(name) not in (None, "")
    ]
    if len(shapes) > 1 and not recorded:
        problems.append(
            _problem(
                " and ".join(shapes),
                f"the row asks in {len(shapes)} ways",
                "one of input, messages, turns and goal",
                fix="Keep one of them.",
            )
        )
    if values.get("messages") is not None:
        problems += message_problems(values["messages"], transcript=transcript)
    if values.get("turns") is not None:
        problems += turn_problems(values["turns"])
    if values.get("goal") is not None and shapes == ["goal"]:
        problems += goal_problems(values)
    return problems


def message_problems(messages: Any, *, transcript: bool = False) -> list[Problem]:
    """Return what is wrong with the messages of a chat row."""
    if not isinstance(messages, list | tuple):
        return [_problem("messages", f"messages is {kind_phrase(messages)}", "a list of messages")]
    if not 1 <= len(messages) <= MAX_MESSAGES:
        return [_problem("messages", f"{len(messages)} messages", f"1 to {MAX_MESSAGES}")]
    problems = [
        problem
        for index, message in enumerate(messages)
        for problem in _message_problems(message, index)
    ]
    return problems or _order_problems([message["role"] for message in messages], transcript)


def _message_problems(message: Any, index: int) -> Iterator[Problem]:
    where = f"messages[{index}]"
    if not isinstance(message, Mapping):
        yield _problem(where, f"the message is {kind_phrase(message)}", "an object")
        return
    role = message.get("role")
    if role not in _ROLES:
        fix = (
            "Record a conversation with tool calls under transcript."
            if role in ("tool", "function")
            else ""
        )
        yield _problem(f"{where}.role", f"role {role!r}", "system, user or assistant", fix=fix)
    content = message.get("content")
    if not (isinstance(content, str) and content.strip()) and not (
        isinstance(content, list) and content
    ):
        found = "blank content" if isinstance(content, str) else f"content {kind_phrase(content)}"
        yield _problem(f"{where}.content", found, "text")


def _order_problems(roles: list[str], transcript: bool) -> list[Problem]:
    problems = []
    spoken = roles[1:] if roles[0] == "system" else roles
    offset = len(roles) - len(spoken)
    if not spoken:
        problems.append(_problem("messages", "only a system message", "a user message after it"))
    for index, role in enumerate(spoken):
        wanted = "user" if index % 2 == 0 else "assistant"
        if role != wanted:
            problems.append(
                _problem(
                    f"messages[{index + offset}]",
                    f"a message of the {role}",
                    f"one of the {wanted}",
                    fix="After an optional system message, user and assistant take turns, "
                    "the user first.",
                )
            )
            break
    if spoken and spoken[-1] == "assistant" and not transcript and not problems:
        problems.append(
            _problem(
                f"messages[{len(roles) - 1}]",
                "the last message is the assistant's",
                "the user's",
                fix="Move it to expected_response when it is a reference, or to output when "
                "it is the recorded reply.",
            )
        )
    return problems


def turn_problems(turns: Any) -> list[Problem]:
    """Return what is wrong with the turns of a sequence row: texts of the user."""
    if not isinstance(turns, list | tuple):
        return [_problem("turns", f"turns is {kind_phrase(turns)}", "a list of user messages")]
    problems = []
    if not MIN_TURNS <= len(turns) <= MAX_TURNS:
        problems.append(_problem("turns", f"{len(turns)} turns", f"{MIN_TURNS} to {MAX_TURNS}"))
    for index, turn in enumerate(turns):
        if isinstance(turn, str) and turn.strip():
            continue
        found = "a blank text" if isinstance(turn, str) else kind_phrase(turn)
        fix = (
            "Turns are the user's messages alone; a conversation with both sides is "
            "messages, or transcript when it is recorded."
            if isinstance(turn, Mapping) and "role" in turn
            else ""
        )
        problems.append(_problem(f"turns[{index}]", found, "the text of a user message", fix=fix))
        if fix:
            break
    return problems


def goal_problems(values: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with a simulated row."""
    problems = []
    goal, max_turns = values["goal"], values.get("max_turns")
    if not isinstance(goal, str) or not goal.strip():
        found = "a blank text" if isinstance(goal, str) else f"goal is {kind_phrase(goal)}"
        problems.append(_problem("goal", found, "what the user wants"))
    if max_turns is not None and not (
        type(max_turns) is int and 1 <= max_turns <= MAX_SIMULATED_TURNS
    ):
        problems.append(
            _problem(
                "max_turns", f"{max_turns!r}", f"a whole number from 1 to {MAX_SIMULATED_TURNS}"
            )
        )
    problems += [
        _problem(name, f"{name} is {kind_phrase(values[name])}", "a text")
        for name in ("persona", "disposition", "strategy", "opening")
        if values.get(name) is not None and not isinstance(values[name], str | Mapping)
    ]
    if values.get("expected") is not None:
        problems.append(
            _problem(
                "expected",
                "a simulated row with an expected value",
                "expected_behavior alone",
                fix="A conversation that is not fixed has no one right reply.",
            )
        )
    return problems


def expand_depths(row: Row) -> Iterator[Row]:
    """Yield a row for each user message of a chat row, with all messages up to it.

    The reply that follows in the transcript is the expected value, except for the
    last message when the row has an expected value of its own. Ids end in `-depth-N`.
    """
    messages = row.messages or ()
    asked = [index for index, message in enumerate(messages) if message["role"] == "user"]
    for depth, index in enumerate(asked, start=1):
        is_last = index == asked[-1]
        reply = messages[index + 1]["content"] if index + 1 < len(messages) else None
        own = row.expected if is_last else None
        yield replace(
            row,
            id=f"{row.id}-depth-{depth}",
            messages=messages[: index + 1],
            expected=own if own is not None else reply,
            output=row.output if is_last else None,
        )


def _problem(where: str, found: str, expected: str, fix: str = "") -> Problem:
    return Problem(found=found, expected=expected, fix=fix, where=where)
