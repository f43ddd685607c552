"""OpenAI's chat completions as data: the arguments of a call, the reading of an answer.

Shared by every provider that speaks this format. What a model refuses is dropped or put
in another form once, for the rest of the run, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from pytest_evalcheck.jsonvalues import JsonTextError, json_text, parse_json
from pytest_evalcheck.judges.config import JudgeConfig
from pytest_evalcheck.judges.request import JudgeRequest, Reply
from pytest_evalcheck.judges.trouble import Trouble, said_by

__all__ = ["ChatDialect", "ReplyForm", "read_chat_answer"]

ReplyForm = Literal["json_schema", "json_object", "text"]
NEXT_FORM: Final[Mapping[ReplyForm, ReplyForm]] = {
    "json_schema": "json_object",
    "json_object": "text",
}

# Arguments that some models refuse although the request makes sense without them.
DROPPABLE: Final = ("temperature", "seed")
FORM_REFUSED: Final = re.compile(
    r"response[_ ]?format|json[_ ]?schema|json[_ ]?object|structured[_ ]output", re.IGNORECASE
)


class ChatDialect:
    """What one model is known to take, learnt from its refusals.

    Attributes:
        form: the strictest form of reply that was not refused.
        notes: what was learnt, for the summary.
    """

    def __init__(self, judge: JudgeConfig) -> None:
        self.judge = judge
        self.form: ReplyForm = "json_schema"
        self.dropped: set[str] = set()
        self.limit_name = "max_tokens"
        self.notes: list[str] = []

    def arguments(self, request: JudgeRequest) -> dict[str, Any]:
        """Return the arguments of a call, without the model's address and key."""
        judge = self.judge
        messages = [{"role": "user", "content": request.user}]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        arguments: dict[str, Any] = {
            "messages": messages,
            "temperature": judge.temperature,
            "seed": judge.seed,
            self.limit_name: judge.max_tokens,
            "response_format": self.response_format(request.schema),
        }
        return {
            name: value
            for name, value in arguments.items()
            if value is not None and name not in self.dropped
        }

    def response_format(self, schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return the form of reply to ask for, or None for any text."""
        if schema is None or self.form == "text":
            return None
        if self.form == "json_object":
            return {"type": "json_object"}
        described = {"name": "verdict", "schema": dict(schema), "strict": is_strict(schema)}
        return {"type": "json_schema", "json_schema": described}

    def learn(self, sent: Mapping[str, Any], message: str, param: str | None) -> bool:
        """Take in a refusal; tell whether asking again in other words may help.

        Args:
            sent: the arguments that were refused.
            message: what the server said.
            param: the argument it named, or None.
        """
        if param == "max_tokens" or ("max_tokens" in sent and "max_completion_tokens" in message):
            return self.rename_limit(sent)
        for name in DROPPABLE:
            if name in sent and (param == name or re.search(rf"\b{name}\b", message)):
                return self.drop(name)
        form = sent.get("response_format")
        if form and ((param or "").startswith("response_format") or FORM_REFUSED.search(message)):
            return self.weaken(form["type"])
        return False

    def rename_limit(self, sent: Mapping[str, Any]) -> bool:
        """Use the newer name of the limit; tell whether the older one was sent."""
        self.limit_name = "max_completion_tokens"
        return "max_tokens" in sent

    def drop(self, name: str) -> bool:
        """Send an argument no more, with a note the first time."""
        if name not in self.dropped:
            self.dropped.add(name)
            self.notes.append(
                f"judge {self.judge.name!r}: the model refuses {name!r}, asked without it"
            )
        return True

    def weaken(self, refused: ReplyForm) -> bool:
        """Go on to a weaker form, unless another request has been there already."""
        if self.form == refused:
            self.form = NEXT_FORM[refused]
            self.notes.append(
                f"judge {self.judge.name!r}: the server refuses {refused}, asked for {self.form}"
            )
        return True


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Tell whether OpenAI's strict mode takes a schema: closed, with every property required."""
    properties = schema.get("properties", {})
    return schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(
        properties
    )


def read_chat_answer(answer: Any, judge: JudgeConfig, latency_s: float) -> Reply:
    """Return the reply in a chat completion that was read from JSON.

    Raises:
        Trouble: it holds no message; another attempt may.
    """
    usage = answer.get("usage") if isinstance(answer, Mapping) else None
    tokens_in, tokens_out = (count_of(usage, f"{name}_tokens") for name in ("prompt", "completion"))
    cost_usd = judge.prices.cost_usd(tokens_in, tokens_out) if judge.prices else None
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        what = "no choices" if choices == [] else f"no message: {said_by(json_text(answer))}"
        raise Trouble(
            "judge_unparsable",
            f"the answer of the judge {judge.name!r} holds {what}",
            remedy="wait",
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost_usd=cost_usd,
        )
    text, finish = message_text(message), finish_of(choice, message)
    return Reply(
        text=text,
        value=verdict_of(text),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        latency_s=latency_s,
        cost_usd=cost_usd,
        finish=finish,
    )


def message_text(message: Mapping[str, Any]) -> str:
    """Return the text of a message: its content, else its refusal, else its tool call."""
    content = message.get("content")
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        content = "".join(part for part in parts if isinstance(part, str))
    if isinstance(content, str) and content.strip():
        return content
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return refusal
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, Mapping) else None
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        if arguments is not None:
            return json_text(arguments)
    return content if isinstance(content, str) else ""


def finish_of(choice: Mapping[str, Any], message: Mapping[str, Any]) -> str:
    if message.get("refusal"):
        return "refusal"
    finish = choice.get("finish_reason")
    return finish if isinstance(finish, str) else ""


def verdict_of(text: str) -> Mapping[str, Any] | None:
    """Return the object that a whole text is, or None for any other text."""
    if text.lstrip()[:1] != "{":
        return None
    try:
        value = parse_json(text, duplicates="refuse")
    except JsonTextError:
        return None
    return value if isinstance(value, dict) else None


def count_of(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
