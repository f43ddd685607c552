"""Tool calls as they are recorded: one reader for the forms of OpenAI, Anthropic and Google.

A call is what names itself as one, or what stands where only calls stand. The list of
tools a model could have used, the results of calls, and JSON inside a sentence or a code
fence are no calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_evalcheck.jsonvalues import JsonTextError, PartReader, json_text, parse_json

__all__ = ["Call", "call_text", "names_calls", "read_calls"]

# Where a call keeps its name and its arguments.
NAME_KEYS: Final = ("name", "tool_name", "toolName", "tool", "action", "function")
ARGUMENT_KEYS: Final = (
    "args",
    "arguments",
    "input",
    "input_parameters",
    "inputParameters",
    "tool_input",
    "toolInput",
    "kwargs",
    "parameters",
)
# The words by which an object says that it is a call (Anthropic; OpenAI Responses; LangChain;
# Vercel AI SDK). OpenAI's `function` and DeepEval's FUNCTION and MCP are also words of
# definitions, so they count only where arguments are given or calls alone stand.
CALL_TYPES: Final = frozenset(
    {
        "tool_use",
        "server_tool_use",
        "mcp_tool_use",
        "function_call",
        "custom_tool_call",
        "mcp_call",
        "tool_call",
        "tool-call",
    }
)
LIST_TYPES: Final = CALL_TYPES | {"function", "FUNCTION", "mcp", "MCP", "tool"}
# Keys that hold one call, or a list of nothing but calls.
ONE_CALL_KEYS: Final = frozenset({"functionCall", "function_call", "toolUse"})
CALLS_KEYS: Final = frozenset(
    {
        "tool_calls",
        "toolCalls",
        "tool_uses",
        "toolUses",
        "functionCalls",
        "function_calls",
        "tools_called",
    }
)
# Keys below which no call of the model stands: definitions and results.
OTHER_KEYS: Final = frozenset(
    {
        "tools",
        "functions",
        "available_tools",
        "availableTools",
        "tool_definitions",
        "toolDefinitions",
        "function_declarations",
        "functionDeclarations",
        "functionResponse",
        "function_response",
        "toolResult",
        "tool_responses",
        "toolResponses",
        "tool_choice",
        "toolChoice",
        # LangChain keeps the provider's own form of the calls there, besides tool_calls.
        "additional_kwargs",
        "gen_ai.tool.definitions",
        "gen_ai.request.tools",
    }
)
SCHEMA_KEYS: Final = ("input_schema", "inputSchema", "json_schema", "parametersJsonSchema")
# What may stand beside the name of a call that shows no arguments.
BARE_KEYS: Final = frozenset(
    {*NAME_KEYS, "id", "type", "index", "call_id", "tool_call_id", "toolCallId", "agent", "output"}
    | {"result", "error", "status", "latency_s", "description", "reasoning"}
)
# Wrappers nest a few levels; what lies deeper is data.
DEEPEST: Final = 60

FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool.

    Attributes:
        name: the tool.
        args: its arguments by name.
        flaw: what is wrong with the arguments as they were recorded, or "".
    """

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    flaw: str = ""


def call_text(call: Call, limit: int = 200) -> str:
    """Return a call as people write one: `search(q="a", n=2)`."""
    said = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False) if isinstance(value, str) else shown}"
        for name, value in call.args.items()
        for shown in (json_text(value),)
    )
    text = f"{call.name}({call.flaw or said})"
    return text if len(text) <= limit else f"{text[:limit]}…"


def read_calls(value: Any, *, known: bool = True) -> list[Call]:
    """Return the calls that a recorded value holds, in order.

    Args:
        value: a call, a list of calls, a message, messages, a response of a provider, or
            any of these as JSON text. In a text that is not JSON as a whole, a call is
            JSON that fills whole lines, names itself as a call and stands in no fence.
        known: the value stands where calls are kept, so that a bare `{name}` or a name
            alone is a call.

    Returns:
        The calls; none when there are none. Raises nothing.
    """
    if not isinstance(value, str):
        return list(_walk(value, known, 0))
    try:
        return list(_walk(parse_json(value), known, 0))
    except JsonTextError:
        return [call for found in _line_values(value) for call in _walk(found, False, 0)]


def names_calls(value: Any) -> bool:
    """Tell whether a value has a place for calls, though it may hold none (`tool_calls: []`)."""
    if isinstance(value, list | tuple):
        return any(isinstance(one, Mapping) and "role" in one for one in value)
    return isinstance(value, Mapping) and bool(
        value.keys() & (CALLS_KEYS | ONE_CALL_KEYS | {"toolCall", "role"})
    )


# ── walking through wrappers ──────────────────────────────────────────────────────────


def _walk(value: Any, known: bool, depth: int) -> Iterator[Call]:
    """Yield the calls of a value; `known` where nothing but calls is to be expected."""
    if depth > DEEPEST:
        return
    if isinstance(value, list | tuple):
        for one in value:
            if known and isinstance(one, str) and one.strip():
                yield Call(one.strip())
            else:
                yield from _walk(one, known, depth + 1)
    elif isinstance(value, Mapping) and not _is_result(value):
        call = _own_call(value) or (_listed_call(value) if known else None)
        if call is not None:
            yield call
        else:
            yield from _walk_inside(value, depth)


def _walk_inside(value: Mapping[str, Any], depth: int) -> Iterator[Call]:
    """Yield the calls below the keys of a wrapper: a message, a response, a span."""
    listed = bool(value.get("tool_calls"))
    for key, inner in value.items():
        if listed and key == "content":
            continue  # LangChain shows Anthropic's calls in both places
        if key in ONE_CALL_KEYS and isinstance(inner, Mapping):
            call = _named_call(inner)
            if call is not None:
                yield call
        elif key in CALLS_KEYS:
            yield from _walk(_parsed(inner), True, depth + 1)
        elif key not in OTHER_KEYS and isinstance(inner, Mapping | list | tuple):
            yield from _walk(inner, False, depth + 1)


def _parsed(value: Any) -> Any:
    """Return a list of calls that is kept as JSON text, as a value."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except JsonTextError:
        return None


def _is_result(value: Mapping[str, Any]) -> bool:
    """Tell whether a mapping is what a tool gave back."""
    kind = value.get("type")
    return value.get("role") in ("tool", "function") or (
        isinstance(kind, str) and kind.endswith(("_result", "_output", "-result"))
    )


# ── one call ──────────────────────────────────────────────────────────────────────────


def _own_call(value: Mapping[str, Any]) -> Call | None:
    """Return the call of a mapping that says itself that it is one."""
    kind = value.get("type")
    if isinstance(kind, str) and kind in CALL_TYPES:
        return _named_call(value)
    if value.get("method") == "tools/call" and isinstance(value.get("params"), Mapping):
        return _named_call(value["params"])
    inner = value.get("function")
    if isinstance(inner, Mapping):
        return _named_call(inner) if "arguments" in inner else None
    if kind is None and {"name"} < value.keys() and ({"args", "arguments"} & value.keys()):
        return _listed_call(value)
    return None


def _listed_call(value: Mapping[str, Any]) -> Call | None:
    """Return the call of a mapping that stands where calls stand."""
    kind = value.get("type")
    if (isinstance(kind, str) and kind not in LIST_TYPES) or "role" in value:
        return None
    inner = value.get("function")
    if isinstance(inner, Mapping):
        return _named_call(inner)
    if not any(key in value for key in ARGUMENT_KEYS) and not value.keys() <= BARE_KEYS:
        return None
    return _named_call(value)


def _named_call(value: Mapping[str, Any]) -> Call | None:
    """Return the call of a mapping with a name and, perhaps, arguments."""
    name = next((value[key] for key in NAME_KEYS if isinstance(value.get(key), str)), None)
    if not name or not name.strip() or _is_definition(value):
        return None
    raw = next((value[key] for key in ARGUMENT_KEYS if value.get(key) is not None), None)
    if raw is not None and not isinstance(raw, str | Mapping):
        return None if "input" in value else Call(name.strip(), {}, "arguments are no object")
    if value.get("type") == "custom_tool_call":
        return Call(name.strip(), {"input": raw})
    return _with_arguments(name.strip(), raw)


def _is_definition(value: Mapping[str, Any]) -> bool:
    """Tell whether a mapping describes a tool (OpenAI, Anthropic, MCP, BFCL)."""
    if any(isinstance(value.get(key), Mapping) for key in SCHEMA_KEYS):
        return True
    schema = value.get("parameters")
    if "parameters" not in value or "arguments" in value or "args" in value:
        return False
    if schema is None:
        return value.get("type") == "function"
    if not isinstance(schema, Mapping):
        return False
    return not schema or "properties" in schema or schema.get("type") in ("object", "dict")


def _with_arguments(name: str, raw: Any) -> Call:
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return Call(name)
    if isinstance(raw, Mapping):
        return Call(name, raw)
    try:
        parsed = parse_json(raw)
    except JsonTextError as error:
        return Call(name, {}, f"arguments are no JSON: {error}")
    if parsed is None:
        return Call(name)
    if not isinstance(parsed, Mapping):
        return Call(name, {}, "arguments are no object")
    return Call(name, parsed)


# ── text around calls ─────────────────────────────────────────────────────────────────


def _line_values(text: str) -> Iterator[Any]:
    """Yield each JSON object or list that fills whole lines of a text outside of fences."""
    reader = PartReader(text)
    at, fence = 0, ""
    while at < len(text) and not reader.is_spent:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        start = at + len(line) - len(line.lstrip())
        at = end + 1
        if fence or FENCE.match(line):
            fence = _next_fence(fence, line)
        elif text[start : start + 1] in ("{", "["):
            found = reader.read(start)
            if found is not None:
                value, stop = found
                at = text.find("\n", stop) + 1 or len(text)
                if not text[stop:at].strip():
                    yield value


def _next_fence(fence: str, line: str) -> str:
    """Return the mark of the fence that is open after a line (CommonMark 4.5), or ''."""
    match = FENCE.match(line)
    if not fence:
        return match[1] if match and not (match[1][0] == "`" and "`" in match[2]) else ""
    closes = match and match[1].startswith(fence) and not match[2].strip()
    return "" if closes else fence
