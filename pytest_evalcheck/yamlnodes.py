"""YAML text to plain values, with the line of each value.

Values are those of JSON: text, numbers, true/false, null, lists and objects. The
rules for unquoted scalars are the core schema of YAML 1.2 with one exception:

- `true`, `false` (also `True`, `TRUE` ...) are booleans, `null`, `~` and nothing are null;
- `yes`, `no`, `on`, `off`, `y`, `n` are text (YAML 1.1 reads them as booleans);
- dates, times and `1:30` are text;
- numbers are JSON's, also `+1`, `.5`, `5.`, `0x1F` and `0o17`; digits that begin with
  a zero (`007`, a postcode or an id) are text.

Merge keys (`<<`) are followed. Duplicate keys, own tags and infinite numbers are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_evalcheck.errors import ConfigError, Problem

__all__ = ["load_yaml"]

MAX_DEPTH: Final = 100
MAX_ALIASED_VALUES: Final = 100_000
MAX_PROBLEMS: Final = 50

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_TRUES: Final = frozenset({"true", "True", "TRUE"})
_FALSES: Final = frozenset({"false", "False", "FALSE"})
_INTEGER: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)", re.ASCII)
_FLOAT: Final = re.compile(
    r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII
)
_HEX: Final = re.compile(r"0x[0-9a-fA-F]+", re.ASCII)
_OCTAL: Final = re.compile(r"0o[0-7]+", re.ASCII)
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MAX_DIGITS: Final = 4000  # int() refuses more than 4300 digits
_TAG: Final = "tag:yaml.org,2002:"

Path = tuple[str | int, ...]


@dataclass(slots=True)
class _Node:
    kind: str  # "scalar", "list" or "object"
    line: int
    text: str = ""
    tag: str | None = None  # a tag that was written out, or "!" for quoted text
    children: list[_Node] = field(default_factory=list)  # of an object: key, value, key, ...
    anchor: str | None = None
    size: int = 1


def load_yaml(text: str, shown: str) -> tuple[Any, dict[Path, int]]:
    """Return the one document of a YAML text and the line of each of its values.

    Args:
        text: the whole text.
        shown: the path of the file for messages.

    Returns:
        The value (None for an empty text) and a mapping from the path of keys and
        indices of a value, `()` for the whole, to its 1-based line: the line of its
        key for a value in an object.

    Raises:
        ConfigError: with all problems: broken syntax, duplicate keys, unknown tags,
            several documents, nesting over 100 levels, aliases that multiply.
    """
    roots = list(_read_documents(text, shown))
    if len(roots) > 1:
        raise ConfigError(
            Problem(
                found=f"the file holds {len(roots)} YAML documents",
                expected="one",
                fix="Split the file, or remove the lines '---' between them.",
                path=shown,
                line=roots[1].line,
            )
        )
    if not roots:
        return None, {}
    return _Builder(shown).build(roots[0])


def _read_documents(text: str, shown: str) -> Iterator[_Node]:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from _compose(yaml.parse(text, Loader=loader), shown)
    except yaml.YAMLError as error:
        raise ConfigError(_syntax_problem(error, shown)) from None
    except UnicodeError:
        raise ConfigError(
            Problem(found="the text holds half of a surrogate pair, so it is not text", path=shown)
        ) from None


def _syntax_problem(error: Exception, shown: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    context = getattr(error, "context", None)
    found = f"the YAML cannot be read: {said}" + (f" ({context})" if context else "")
    return Problem(
        found=" ".join(found.split()),
        path=shown,
        line=None if mark is None else mark.line + 1,
    )


def _compose(events: Any, shown: str) -> Iterator[_Node]:
    """Turn parser events into one tree a document; without recursion, so depth is no danger."""
    import yaml

    stack: list[_Node] = []
    anchors: dict[str, _Node] = {}
    aliased = 0
    for event in events:
        line = event.start_mark.line + 1
        node: _Node | None = None
        if isinstance(event, yaml.ScalarEvent):
            node = _Node("scalar", line, event.value, _scalar_tag(event), anchor=event.anchor)
        elif isinstance(event, yaml.CollectionStartEvent):
            kind = "list" if isinstance(event, yaml.SequenceStartEvent) else "object"
            stack.append(_Node(kind, line, "", event.tag, anchor=event.anchor))
            if len(stack) > MAX_DEPTH:
                raise ConfigError(_too_deep(shown, line))
            continue
        elif isinstance(event, yaml.CollectionEndEvent):
            node = stack.pop()
        elif isinstance(event, yaml.AliasEvent):
            node = _aliased_node(anchors, event.anchor, shown, line)
            aliased += node.size
            if aliased > MAX_ALIASED_VALUES:
                raise ConfigError(_multiplying(shown, line))
            stack[-1].children.append(node)
            stack[-1].size += node.size
            continue
        elif isinstance(event, yaml.DocumentStartEvent):
            anchors = {}
        if node is None:
            continue
        if node.anchor is not None:
            anchors[node.anchor] = node
        if not stack:
            yield node
        else:
            stack[-1].children.append(node)
            stack[-1].size += node.size


def _scalar_tag(event: Any) -> str | None:
    if event.tag is not None:
        return str(event.tag)
    return None if event.implicit[0] else "!"


def _aliased_node(anchors: dict[str, _Node], name: str | None, shown: str, line: int) -> _Node:
    if name is not None and name in anchors:
        return anchors[name]
    raise ConfigError(
        Problem(
            found=f"alias '*{name}' stands inside its own anchor or before it",
            expected=f"'&{name}' on an earlier, finished value",
            path=shown,
            line=line,
        )
    )


def _too_deep(shown: str, line: int) -> Problem:
    return Problem(
        found=f"values are nested more than {MAX_DEPTH} levels deep", path=shown, line=line
    )


def _multiplying(shown: str, line: int) -> Problem:
    return Problem(
        found=f"aliases repeat more than {MAX_ALIASED_VALUES} values",
        fix="Write the values out, or generate the file.",
        path=shown,
        line=line,
    )


class _Builder:
    """Turns a tree of nodes into values, noting lines and problems on the way."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.lines: dict[Path, int] = {}
        self.problems: list[Problem] = []
        self.merging = 0

    def build(self, root: _Node) -> tuple[Any, dict[Path, int]]:
        self.lines[()] = root.line
        value = self._value(root, ())
        if self.problems:
            raise ConfigError(self.problems[:MAX_PROBLEMS])
        return value, self.lines

    def _report(self, found: str, node: _Node, path: Path, **rest: str) -> None:
        self.problems.append(
            Problem(found=found, path=self.shown, line=node.line, keys=path, **rest)
        )

    def _value(self, node: _Node, path: Path) -> Any:
        if node.kind == "scalar":
            return self._scalar(node, path)
        if node.tag not in (None, "!", f"{_TAG}{'seq' if node.kind == 'list' else 'map'}"):
            self._unknown_tag(node, path)
            return None
        return self._list(node, path) if node.kind == "list" else self._object(node, path)

    def _list(self, node: _Node, path: Path) -> list[Any]:
        values = []
        for index, child in enumerate(node.children):
            self._note((*path, index), child.line)
            values.append(self._value(child, (*path, index)))
        return values

    def _object(self, node: _Node, path: Path) -> dict[Any, Any]:
        built: dict[Any, Any] = {}
        first_lines: dict[Any, int] = {}
        merges: list[_Node] = []
        pairs = iter(node.children)
        for key_node, value_node in zip(pairs, pairs, strict=True):
            if _is_merge_key(key_node):
                merges.append(value_node)
                continue
            if key_node.kind != "scalar":
                self._report("a key is a list or an object", key_node, path, expected="text")
                continue
            key = self._scalar(key_node, path)
            if key in first_lines:
                self._duplicate(key, first_lines[key], key_node, (*path, key))
                continue
            first_lines[key] = key_node.line
            self._note((*path, key), key_node.line)
            built[key] = self._value(value_node, (*path, key))
        for merge in merges:
            self._merge(built, merge, path)
        return built

    def _merge(self, built: dict[Any, Any], node: _Node, path: Path) -> None:
        sources = node.children if node.kind == "list" else [node]
        for source in sources:
            if source.kind != "object":
                self._report("'<<' holds something that is no object", node, path)
                continue
            self.merging += 1
            merged = self._object(source, path)
            self.merging -= 1
            # A key written beside `<<` wins, and so does its line.
            for key, value in merged.items():
                built.setdefault(key, value)

    def _note(self, path: Path, line: int) -> None:
        if self.merging:
            self.lines.setdefault(path, line)
        else:
            self.lines[path] = line

    def _duplicate(self, key: Any, first_line: int, node: _Node, path: Path) -> None:
        self._report(
            f"key '{key}' stands twice, first in line {first_line}",
            node,
            path,
            expected="each key once",
            fix="Remove or rename one of them.",
        )

    def _unknown_tag(self, node: _Node, path: Path) -> None:
        shown_tag = (node.tag or "").replace(_TAG, "!!")
        self._report(
            f"tag '{shown_tag}' is not read here",
            node,
            path,
            expected="plain text, numbers, true/false, null, lists and objects",
        )

    def _scalar(self, node: _Node, path: Path) -> Any:
        if node.tag is None:
            return self._plain(node, path)
        if node.tag in ("!", f"{_TAG}str"):
            return node.text
        if not node.tag.startswith(_TAG):
            self._unknown_tag(node, path)
            return None
        wanted = {"int": int, "float": (int, float), "bool": bool, "null": type(None)}
        kind = node.tag.removeprefix(_TAG)
        value = self._plain(node, path)
        if kind not in wanted:
            self._unknown_tag(node, path)
        elif not isinstance(value, wanted[kind]):  # type: ignore[arg-type]
            self._report(f"{node.text!r} is not what its tag '!!{kind}' says", node, path)
        return float(value) if kind == "float" and isinstance(value, int) else value

    def _plain(self, node: _Node, path: Path) -> Any:
        text = node.text
        if text in _NULLS:
            return None
        if text in _TRUES or text in _FALSES:
            return text in _TRUES
        if text[0] not in "+-.0123456789":
            return text
        if len(text) > _MAX_DIGITS:
            return text
        if _INTEGER.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            return self._finite(float(text), node, path)
        if _HEX.fullmatch(text) or _OCTAL.fullmatch(text):
            return int(text, 0)
        if _NOT_FINITE.fullmatch(text):
            return self._finite(float("inf"), node, path)
        return text

    def _finite(self, number: float, node: _Node, path: Path) -> float | None:
        if abs(number) != float("inf"):
            return number
        self._report(
            f"{node.text} is not a finite number",
            node,
            path,
            expected="a number, or nothing where there is none",
        )
        return None


def _is_merge_key(node: _Node) -> bool:
    return node.kind == "scalar" and node.text == "<<" and node.tag in (None, f"{_TAG}merge")
