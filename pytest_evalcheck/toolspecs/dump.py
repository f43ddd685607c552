"""Reading a `tools/list` dump: every accepted form, every fault with its line."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.errors import DatasetError, Problem
from pytest_evalcheck.jsonvalues import JsonTextError, kind_name, parse_json

__all__ = [
    "DEFAULT_LIMITS",
    "Dump",
    "Limits",
    "ListedTool",
    "dump_of",
    "parse_dump",
    "read_dump",
    "tool_problems",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a dump may hold.

    Attributes:
        max_tools: the most tools.
        max_bytes: the most bytes of the file.
        max_depth: the deepest nesting of brackets.
    """

    max_tools: int = 200
    max_bytes: int = 1 << 20
    max_depth: int = 200


DEFAULT_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """One tool of a dump.

    Attributes:
        tool: the tool as the server sent it.
        line: the 1-based physical line it starts on.
    """

    tool: Mapping[str, Any]
    line: int

    @property
    def name(self) -> str:
        """The tool's name."""
        return str(self.tool["name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    """A server's tools as they were listed.

    Attributes:
        tools: the tools, in the order of the list.
        instructions: what the server says to every client, or None.
        says_instructions: whether the dump can tell if there are instructions; a bare
            `tools/list` cannot.
        server: what the dump says of the server (name and version), or empty.
        is_partial: whether the list says that more tools follow on another page.
    """

    tools: tuple[ListedTool, ...]
    instructions: str | None = None
    says_instructions: bool = False
    server: Mapping[str, Any] | None = None
    is_partial: bool = False


# The keys of the wire form by the spelling that some SDKs write out instead.
_WIRE_KEYS: Final[Mapping[str, str]] = {
    "input_schema": "inputSchema",
    "output_schema": "outputSchema",
    "inputschema": "inputSchema",
    "outputschema": "outputSchema",
    "read_only_hint": "readOnlyHint",
    "destructive_hint": "destructiveHint",
    "idempotent_hint": "idempotentHint",
    "open_world_hint": "openWorldHint",
}
_TEXTS: Final = ("title", "description")
_OBJECTS: Final = ("inputSchema", "outputSchema", "annotations")
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BRACKET: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()
_FORMS: Final = (
    'a list of tools, {"tools": [...]}, or a JSON-RPC response {"result": {"tools": [...]}}'
)


# ── from bytes to text ────────────────────────────────────────────────────────────────


def read_dump(path: Path, shown: str = "", limits: Limits = DEFAULT_LIMITS) -> Dump:
    """Return the tools of a dump file.

    Args:
        path: the file: UTF-8, or what its byte order mark says.
        shown: the path for messages; "" shows `path`.
        limits: how much it may hold.

    Raises:
        DatasetError: with every problem: the file cannot be read, is too large, is no
            JSON or no `tools/list`, or tools in it are mis-written.
    """
    shown = shown or str(path)
    try:
        size = path.stat().st_size
        if size > limits.max_bytes:
            raise DatasetError(_too_large(size, limits, shown))
        data = path.read_bytes()
    except OSError as error:
        raise DatasetError(
            Problem(found=f"the file cannot be read: {error.strerror or error}", path=shown)
        ) from None
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeError as error:
        line = data[: getattr(error, "start", 0)].count(b"\n") + 1
        raise DatasetError(
            Problem(
                found=f"the file is not {encoding} text",
                expected="UTF-8",
                fix="Save the dump as UTF-8.",
                path=shown,
                line=line,
            )
        ) from None
    return parse_dump(text, shown, limits, cwd=path.parent)


def _too_large(size: int, limits: Limits, shown: str) -> Problem:
    return Problem(
        found=f"the file has {size:,} bytes",
        expected=f"at most {limits.max_bytes:,}",
        fix="Is it a tools/list? Raise the limit with max_bytes if it is.",
        path=shown,
    )


# ── from text to tools ────────────────────────────────────────────────────────────────


def parse_dump(
    text: str, shown: str = "", limits: Limits = DEFAULT_LIMITS, *, cwd: Path | None = None
) -> Dump:
    """Return the tools of a dump's text, or of the server that it says how to start.

    Args:
        text: the JSON of a dump, or an object with the `command` of a stdio server.
        shown: the path for messages.
        limits: how much it may hold.
        cwd: the folder a server is started in.

    Raises:
        DatasetError: as `read_dump`.
    """
    document = _parse(text, shown, limits)
    if isinstance(document, Mapping) and "command" in document and "tools" not in document:
        from pytest_evalcheck.toolspecs.server import list_server, read_command

        return dump_of(list_server(read_command(document, shown, cwd), shown), shown, limits)
    _, keys, tools = _find_tools(document, shown)
    return dump_of(document, shown, limits, lines=list(_lines_of(text, keys)) if tools else [])


def dump_of(
    document: Any,
    shown: str = "",
    limits: Limits = DEFAULT_LIMITS,
    *,
    lines: Sequence[int] | None = None,
) -> Dump:
    """Return the tools of a dump's JSON value.

    Args:
        document: the value, in any of the accepted forms.
        shown: the path for messages.
        limits: how much it may hold.
        lines: the physical line of each tool, or None when they are not known; then
            every tool is taken to stand on the first.

    Raises:
        DatasetError: with every problem.
    """
    owner, _, tools = _find_tools(document, shown)
    if not tools:
        raise DatasetError(Problem(found="no tools", expected="one tool or more", path=shown))
    if len(tools) > limits.max_tools:
        raise DatasetError(_too_many(len(tools), limits, shown))
    places = lines or [1] * len(tools)
    problems = [
        problem.located(path=shown, line=line if lines else None)
        for at, (tool, line) in enumerate(zip(tools, places, strict=True))
        for problem in tool_problems(tool, f"tools[{at}]")
    ]
    instructions, instruction_problems = _read_instructions(document, owner, shown)
    if problems or instruction_problems:
        raise DatasetError([*instruction_problems, *problems])
    server = _first_value("server", document, owner)
    return Dump(
        tools=tuple(
            ListedTool(tool=tool, line=line) for tool, line in zip(tools, places, strict=True)
        ),
        instructions=instructions,
        says_instructions=instructions is not None or server is not None,
        server=server if isinstance(server, Mapping) else None,
        is_partial=bool(_first_value("nextCursor", document, owner)),
    )


def _too_many(count: int, limits: Limits, shown: str) -> Problem:
    return Problem(
        found=f"{count:,} tools",
        expected=f"at most {limits.max_tools:,}",
        fix="No model can choose among so many; raise the limit with max_tools to "
        "score them all the same.",
        path=shown,
    )


def _parse(text: str, shown: str, limits: Limits) -> Any:
    if deep := _too_deep(text, limits.max_depth):
        line = text.count("\n", 0, deep) + 1
        raise DatasetError(
            Problem(
                found=f"nested deeper than {limits.max_depth} levels",
                expected="a schema that a model can follow",
                fix="Flatten it, or refer to the inner part with $ref.",
                path=shown,
                line=line,
            )
        )
    try:
        return parse_json(text, duplicates="refuse")
    except JsonTextError as error:
        raise DatasetError(
            Problem(
                found=f"not JSON: {error.message}",
                expected="the JSON of a tools/list",
                fix=_parse_advice(text),
                path=shown,
                line=text.count("\n", 0, error.position) + 1,
            )
        ) from None


def _parse_advice(text: str) -> str:
    start = text.lstrip()[:200]
    if start.startswith("<"):
        return "This looks like a web page: was the answer of another address saved?"
    if not start:
        return "Did the command that should have made the dump fail?"
    if start[0] not in "[{":
        return "Keep what the server prints on standard error out of the file."
    return ""


def _too_deep(text: str, most: int) -> int:
    """Return where a text is nested deeper than allowed, or 0."""
    depth = 0
    for match in _BRACKET.finditer(text):
        token = match[0]
        if token in "[{":
            depth += 1
            if depth > most:
                return match.start()
        elif token in "]}":
            depth -= 1
    return 0


def _find_tools(document: Any, shown: str) -> tuple[Mapping[str, Any], tuple[str, ...], list[Any]]:
    """Return the object the list stands in, the keys that lead to it, and the list."""
    if isinstance(document, list):
        return {}, (), document
    if isinstance(document, Mapping):
        owner, result = document, document.get("result")
        keys: tuple[str, ...] = ("tools",)
        if "tools" not in document and isinstance(result, Mapping) and "tools" in result:
            owner, keys = result, ("result", "tools")
        if isinstance(owner.get("tools"), list):
            return owner, keys, owner["tools"]
    raise DatasetError(_no_list(document, shown))


def _no_list(document: Any, shown: str) -> Problem:
    found, fix = f"the document is {_kind_text(document)}", ""
    if isinstance(document, Mapping):
        for known, said, advice in _OTHER_DOCUMENTS:
            if known in document:
                return Problem(found=said, expected=_FORMS, fix=advice, path=shown)
        result = document.get("result")
        owner = result if isinstance(result, Mapping) else document
        if "tools" in owner:
            found = f"'tools' is {_kind_text(owner['tools'])}"
        else:
            keys = ", ".join(repr(str(key)[:40]) for key in list(owner)[:8]) or "no keys"
            found = f"an object without 'tools' (it has {keys})"
            if near := get_close_matches("tools", list(map(str, owner)), n=1):
                fix = f"Is {near[0]!r} meant to be 'tools'?"
        if "inputSchema" in document:
            fix = "This is a single tool: put it into a list."
    return Problem(found=found, expected=_FORMS, fix=fix, path=shown)


_DUMP_ADVICE: Final = "List the tools of the MCP server itself and save its answer."
_OTHER_DOCUMENTS: Final = (
    ("openapi", "this is an OpenAPI document", _DUMP_ADVICE),
    ("swagger", "this is an OpenAPI (Swagger) document", _DUMP_ADVICE),
    ("mcpServers", "this is a client's configuration of servers", _DUMP_ADVICE),
    ("error", "this is the JSON-RPC error that a server answered with", "Mend the call first."),
)


def _kind_text(value: Any) -> str:
    kind = kind_name(value)
    return f"an {kind}" if kind == "object" else f"a {kind}" if kind in ("list", "number") else kind


def _first_value(key: str, *owners: Any) -> Any:
    for owner in owners:
        if isinstance(owner, Mapping) and owner.get(key) is not None:
            return owner[key]
    return None


def _read_instructions(
    document: Any, owner: Mapping[str, Any], shown: str
) -> tuple[str | None, list[Problem]]:
    value = _first_value("instructions", document, owner)
    if value is None or isinstance(value, str):
        return value, []
    return None, [
        Problem(
            found=f"'instructions' is {_kind_text(value)}",
            expected="text",
            path=shown,
            keys=("instructions",),
        )
    ]


# ── one tool ──────────────────────────────────────────────────────────────────────────


def tool_problems(tool: Any, where: str = "") -> list[Problem]:
    """Return what makes a tool unusable: no name, a value of the wrong kind, foreign keys.

    Args:
        tool: one element of the list; null values are absent, unknown keys are ignored.
        where: the place for messages.
    """
    if not isinstance(tool, Mapping):
        return [Problem(found=f"the tool is {_kind_text(tool)}", expected="an object", where=where)]
    name = tool.get("name")
    named = isinstance(name, str) and name.strip() != ""
    place = f"{where} {name!r}".strip() if named else where
    found = [] if named else [_name_problem(tool, where)]
    for wanted, keys in (("text", _TEXTS), ("an object", _OBJECTS)):
        kind: type | tuple[type, ...] = str if wanted == "text" else Mapping
        found += [
            Problem(
                found=f"{key!r} is {_kind_text(tool[key])}",
                expected=wanted,
                where=place,
                keys=(key,),
            )
            for key in keys
            if tool.get(key) is not None and not isinstance(tool[key], kind)
        ]
    found += [_key_problem(key, place) for key in tool if key in _WIRE_KEYS]
    annotations = tool.get("annotations")
    if isinstance(annotations, Mapping):
        inner = f"{place}: annotations" if place else "annotations"
        found += [_key_problem(key, inner) for key in annotations if key in _WIRE_KEYS]
        found += _hint_problems(annotations, inner)
    return found


def _name_problem(tool: Mapping[str, Any], where: str) -> Problem:
    name = tool.get("name")
    fix = ""
    if isinstance(tool.get("function"), Mapping):
        fix = "This is a function of a model's API: write its parts as name, description and "
        fix += "inputSchema, or dump the tools of the MCP server."
    found = "the tool has no name" if name is None else f"the name is {_kind_text(name)}"
    if isinstance(name, str):
        found = "the name is empty"
    return Problem(found=found, expected="a name", fix=fix, where=where, keys=("name",))


def _key_problem(key: str, where: str) -> Problem:
    wanted = _WIRE_KEYS[key]
    return Problem(
        found=f"{key!r} is not a key of MCP's wire form",
        expected=repr(wanted),
        fix="Dump what the server sends (by_alias=True in the Python SDK).",
        where=where,
        keys=(key,),
    )


def _hint_problems(annotations: Mapping[str, Any], where: str) -> Iterator[Problem]:
    for key, value in annotations.items():
        if key in _WIRE_KEYS.values() and value is not None and not isinstance(value, bool):
            yield Problem(
                found=f"{key!r} is {_kind_text(value)}",
                expected="true or false",
                where=where,
                keys=("annotations", key),
            )


# ── where each tool stands ────────────────────────────────────────────────────────────


def _lines_of(text: str, keys: tuple[str, ...]) -> Iterator[int]:
    """Yield the line of each element of the list that the keys lead to; the text is valid."""
    position = _skip(text, 0)
    for key in keys:
        position = _value_of(text, position, key)
    line, counted = 1, 0
    position = _skip(text, position + 1)
    while text[position] != "]":
        line += text.count("\n", counted, position)
        counted = position
        yield line
        _, end = _DECODER.raw_decode(text, position)
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)


def _value_of(text: str, position: int, key: str) -> int:
    """Return where the value of a key of the object at a position begins."""
    position = _skip(text, position + 1)
    while True:
        name, end = _DECODER.raw_decode(text, position)
        position = _skip(text, _skip(text, end) + 1)
        if name == key:
            return position
        _, end = _DECODER.raw_decode(text, position)
        position = _skip(text, _skip(text, end) + 1)


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position
