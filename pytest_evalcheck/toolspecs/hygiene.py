"""What the score leaves out: hidden text, orders to the model, cost, faults, contradictions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from pytest_evalcheck.jsonvalues import json_text
from pytest_evalcheck.toolspecs.arguments import object_at, text_at
from pytest_evalcheck.toolspecs.findings import Finding, listed
from pytest_evalcheck.toolspecs.words import (
    CHANGING_VERBS,
    DESTRUCTIVE_WORDS,
    VERBS,
    first_word,
    name_tokens,
)

__all__ = [
    "estimate_tokens",
    "find_contradictions",
    "find_duplicates",
    "find_hidden_text",
    "find_near_names",
    "find_orders",
    "find_schema_faults",
    "walk_texts",
]

# ── text that a person does not see ───────────────────────────────────────────────────

_HIDDEN: Final = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]"
)
_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# The joiners are part of emoji and of some scripts; the tags are part of some flags.
_LEGITIMATE: Final = re.compile(
    "(?<=[^\\x00-\\x7f])[\u200c\u200d](?=[^\\x00-\\x7f])|\U0001f3f4[\U000e0020-\U000e007f]+"
)


def walk_texts(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of every text in a JSON value, keys included."""
    pending: list[tuple[str, Any]] = [("", value)]
    walked: set[int] = set()
    while pending:
        path, node = pending.pop()
        if isinstance(node, str):
            yield path, node
        elif isinstance(node, Mapping | list | tuple) and id(node) not in walked:
            walked.add(id(node))
            below: list[tuple[str, Any]] = []
            if isinstance(node, Mapping):
                for key, one in node.items():
                    inner = f"{path}.{key}" if path else str(key)
                    below += [(f"{inner} (the key)", str(key)), (inner, one)]
            else:
                below += [(f"{path}[{place}]", one) for place, one in enumerate(node)]
            pending.extend(reversed(below))


def find_hidden_text(tool: Any) -> tuple[Finding, ...]:
    """Return a finding for each text of a tool that holds characters nobody sees."""
    return tuple(
        finding for path, text in walk_texts(tool) if (finding := _hidden_finding(path, text))
    )


def _hidden_finding(path: str, text: str) -> Finding | None:
    if text.isascii() and text.isprintable():
        return None
    hidden = _HIDDEN.findall(_LEGITIMATE.sub("", text))
    if not hidden:
        return None
    codes = [f"U+{ord(character):04X}" for character in dict.fromkeys(hidden)]
    is_bidi = any(character in _BIDI for character in hidden)
    return Finding(
        code="bidi_text" if is_bidi else "hidden_text",
        severity="critical",
        found=f"{path} holds {_count_text(len(hidden), 'invisible character')} ({listed(codes)})",
        fix="Remove them: a model reads what a reviewer cannot see.",
        paths=(path,),
    )


def _count_text(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"


# ── orders to the model ───────────────────────────────────────────────────────────────

_ORDERS: Final[tuple[tuple[str, re.Pattern[str], str], ...]] = (
    (
        "instruction_phrase",
        re.compile(
            r"\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}"
            r"(?:previous|prior|above|earlier|other|all)\s+(?:\w+\s+){0,2}"
            r"(?:instructions?|rules?|prompts?|messages?|tools?)\b"
            r"|\bsystem\s+prompt\b"
            r"|</?\s*(?:important|system|secret|instructions?|hidden)\s*>"
            r"|\b(?:do\s+not|don['\u2019]t|never|without)\s+(?:tell|telling|mention|mentioning|inform"
            r"|informing|notify|notifying|ask|asking|reveal|revealing)\s+"
            r"(?:\w+\s+){0,3}(?:the\s+)?user\b"
            r"|\b(?:before|prior\s+to)\s+(?:using|calling)\s+(?:any|every|all)\s+other\s+tools?\b"
            r"|\byou\s+(?:must|have\s+to)\s+(?:always\s+)?(?:first\s+)?(?:call|use|run|invoke)\s+"
            r"(?:this|it)\b",
            re.IGNORECASE,
        ),
        "Describe what the tool does, and leave it to the model and the user when to obey.",
    ),
    (
        "secret_path",
        re.compile(
            r"(?:~|\$HOME|/home/\w+|/root|%USERPROFILE%)[/\\]\.(?:ssh|aws|gnupg|kube|docker|netrc"
            r"|npmrc|pypirc|cursor|claude|git-credentials|config[/\\]gcloud)\b"
            r"|(?<![\w.-])\.ssh[/\\]\w+|\bid_(?:rsa|ed25519|ecdsa)\b|/etc/(?:passwd|shadow|sudoers)\b"
            r"|(?<![\w.-])\.(?:git-credentials|netrc|pypirc)\b"
            r"|\b(?:claude_desktop_config|mcp)\.json\b",
            re.IGNORECASE,
        ),
        "Take the path out: no tool's description needs to name where secrets lie.",
    ),
)


def find_orders(tool: Any) -> tuple[Finding, ...]:
    """Return a finding for each phrase that orders the model about, or names where secrets lie."""
    return tuple(
        Finding(
            code=code,
            severity="critical",
            found=f"{path} says {match[0][:80]!r}",
            fix=fix,
            paths=(path,),
        )
        for path, text in walk_texts(tool)
        for code, pattern, fix in _ORDERS
        if (match := pattern.search(text))
    )


# ── what it costs ─────────────────────────────────────────────────────────────────────


def estimate_tokens(tool: Any) -> int:
    """Return about how many tokens a tool, or a list of tools, takes up in every request.

    Counted are name, description and input schema as compact JSON, four bytes of UTF-8
    to a token: what the common tokenizers come to on English text and schemas.
    """
    if isinstance(tool, Mapping):
        sent = {
            key: tool[key]
            for key in ("name", "description", "inputSchema")
            if tool.get(key) is not None
        }
        return -(-len(json_text(sent).encode("utf-8", "surrogatepass")) // 4)
    return sum(map(estimate_tokens, tool))


# ── faults of the schemas ─────────────────────────────────────────────────────────────

MAX_SCHEMA_DEPTH: Final = 200


def find_schema_faults(
    tool: Mapping[str, Any], validate: Callable[[Mapping[str, Any]], str | None]
) -> tuple[Finding, ...]:
    """Return what is wrong with a tool's schemas.

    Args:
        tool: the tool.
        validate: tells what makes a schema invalid JSON Schema, or None.
    """
    found: list[Finding] = []
    for key in ("inputSchema", "outputSchema"):
        schema = tool.get(key)
        if isinstance(schema, Mapping):
            found += _schema_findings(key, schema, validate)
    if tool.get("inputSchema") is None:
        found.append(
            Finding(
                code="no_input_schema",
                severity="major",
                found="there is no inputSchema",
                fix='Add {"type": "object", "properties": {}}: MCP requires one.',
            )
        )
    return tuple(found)


def _schema_findings(
    key: str, schema: Mapping[str, Any], validate: Callable[[Mapping[str, Any]], str | None]
) -> Iterator[Finding]:
    if _depth_exceeds(schema, MAX_SCHEMA_DEPTH):
        yield Finding(
            code="schema_too_deep",
            severity="major",
            found=f"{key} is nested deeper than {MAX_SCHEMA_DEPTH} levels",
            fix="Flatten it.",
            paths=(key,),
        )
        return
    if schema.get("type") != "object":
        yield Finding(
            code="schema_not_object",
            severity="major",
            found=f"{key} does not say type: object at its root",
            fix='Add "type": "object": MCP requires it.',
            paths=(key,),
        )
    if (fault := validate(schema)) is not None:
        yield Finding(
            code="invalid_schema",
            severity="critical",
            found=f"{key} is not valid JSON Schema: {fault}",
            fix="Mend it: clients and model APIs refuse the whole list for it.",
            paths=(key,),
        )
    yield from _unknown_required(key, schema)
    yield from _loops(key, schema)


def _walk_nodes(root: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    pending: list[tuple[str, Any]] = [(path, root)]
    walked: set[int] = set()
    while pending:
        place, node = pending.pop()
        if id(node) in walked:
            continue
        if isinstance(node, Mapping):
            walked.add(id(node))
            yield place, node
            pending.extend((f"{place}.{key}", node[key]) for key in reversed(list(node)))
        elif isinstance(node, list | tuple):
            walked.add(id(node))
            pending.extend((f"{place}[{at}]", node[at]) for at in reversed(range(len(node))))


def _depth_exceeds(root: Any, most: int) -> bool:
    level = [root]
    for _ in range(most + 1):
        level = [
            below
            for node in level
            for below in (node.values() if isinstance(node, Mapping) else node)
            if isinstance(below, Mapping | list | tuple)
        ]
        if not level:
            return False
    return True


# Under these a key is a name or a value, not a word of JSON Schema.
_NOT_SCHEMAS: Final = ("enum", "const", "default", "examples")


def _unknown_required(key: str, schema: Mapping[str, Any]) -> Iterator[Finding]:
    for path, node in _walk_nodes(schema, key):
        required, known = node.get("required"), node.get("properties")
        if not isinstance(required, list | tuple) or not isinstance(known, Mapping):
            continue
        if any(f".{word}" in path for word in _NOT_SCHEMAS) or path.endswith(".properties"):
            continue
        unknown = [name for name in required if isinstance(name, str) and name not in known]
        if unknown and not any(branch in node for branch in ("allOf", "anyOf", "oneOf", "$ref")):
            yield Finding(
                code="unknown_required",
                severity="major",
                found=f"{path} requires {listed(map(repr, unknown))}, which is no property of it",
                fix="Add the property, or take the name out of `required`.",
                paths=tuple(unknown),
            )


def _loops(key: str, schema: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield a finding when a `$ref` leads back to where it stands in."""
    for path, node in _walk_nodes(schema, key):
        target = node.get("$ref")
        if not isinstance(target, str) or not target.startswith("#"):
            continue
        parts = [part for part in target[1:].split("/") if part]
        place = ".".join([key, *parts])
        if path == place or path.startswith(f"{place}."):
            yield Finding(
                code="recursive_schema",
                severity="minor",
                found=f"{path} refers back to {target}",
                fix="Unroll the levels that are needed: several model APIs refuse recursion, "
                "and what lies behind a $ref is not scored.",
                paths=(path,),
            )
            return


# ── contradictions ────────────────────────────────────────────────────────────────────

_SAYS_READ_ONLY: Final = re.compile(r"\bread[\s-]?only\b", re.IGNORECASE)


def find_contradictions(tool: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Return where the annotations and the name or the description disagree.

    What a tool does is taken from the first word of its name or of its description.
    """
    hints = object_at(tool, "annotations")
    text = text_at(tool, "description")
    tokens = name_tokens(text_at(tool, "name"))
    leading = [*(token.lower() for token in tokens[:1]), first_word(text)]
    changing = next((word for word in leading if word in CHANGING_VERBS), "")
    destroying = next((word for word in leading if word in DESTRUCTIVE_WORDS), "")
    read_only, destructive = hints.get("readOnlyHint"), hints.get("destructiveHint")
    return tuple(
        Finding(code="contradiction", severity="major", found=found, fix=fix)
        for holds, found, fix in (
            (
                read_only is True and changing != "",
                f"readOnlyHint is true, and the tool is to {changing!r}",
                "Set readOnlyHint to false, or say what is read.",
            ),
            (
                destructive is False and destroying != "",
                f"destructiveHint is false, and the tool is to {destroying!r}",
                "Set destructiveHint to true, or say why nothing is lost.",
            ),
            (
                read_only is True and destructive is True,
                "readOnlyHint and destructiveHint are both true",
                "Keep the one that holds.",
            ),
            (
                read_only is False and _SAYS_READ_ONLY.search(text) is not None,
                "readOnlyHint is false, and the description says read-only",
                "Set readOnlyHint to true, or reword the description.",
            ),
        )
        if holds
    )


def find_duplicates(names: Sequence[str]) -> tuple[Finding, ...]:
    """Return a finding for each name that several tools have."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names, start=1):
        places[name].append(place)
    return tuple(
        Finding(
            code="duplicate_name",
            severity="critical",
            found=f"{len(found)} tools are named {name!r} (numbers {listed(map(str, found))})",
            fix="Name them apart: a call could mean either.",
            paths=(name,),
        )
        for name, found in places.items()
        if len(found) > 1
    )


def find_near_names(names: Sequence[str]) -> tuple[Finding, ...]:
    """Return a finding for each two names that differ in one letter, or in case and marks only."""
    spelt = {name: re.sub(r"[\W_]+", "", name).casefold() for name in dict.fromkeys(names)}
    groups: dict[str, list[str]] = defaultdict(list)
    for name, plain in spelt.items():
        # Two texts one edit apart become equal when each loses one letter, or one of them does.
        for form in {plain, *(plain[:at] + plain[at + 1 :] for at in range(len(plain)))}:
            groups[form].append(name)
    pairs = {
        (first, second)
        for group in groups.values()
        for first, second in combinations(group, 2)
        if _one_edit(spelt[first], spelt[second]) and not _differ_in_verb(first, second)
    }
    return tuple(
        Finding(
            code="near_names",
            severity="minor",
            found=f"{first} and {second} differ in one letter at most",
            fix="Name them apart: a model that misspells one calls the other.",
            paths=(first, second),
        )
        for first, second in sorted(pairs, key=lambda pair: tuple(map(names.index, pair)))
    )


def _differ_in_verb(first: str, second: str) -> bool:
    """Tell whether two names differ in nothing but a verb each, as get_page and set_page do."""
    ours, theirs = name_tokens(first.casefold()), name_tokens(second.casefold())
    apart = [pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]]
    return len(ours) == len(theirs) and len(apart) == 1 and all(word in VERBS for word in apart[0])


def _one_edit(first: str, second: str) -> bool:
    """Tell whether two texts differ by one letter added, dropped or replaced, digits aside."""
    short, long = sorted((first, second), key=len)
    if len(long) - len(short) > 1:
        return False
    start = 0
    while start < len(short) and short[start] == long[start]:
        start += 1
    if not short[start:] and not long[start:]:
        return True
    rest = short[start:] if len(long) > len(short) else short[start + 1 :]
    # step_1 and step_2 are numbered on purpose.
    return rest == long[start + 1 :] and not long[start].isdigit()
