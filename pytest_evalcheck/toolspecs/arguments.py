"""The arguments of a tool: every property its input schema can reach without `$ref`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Argument", "object_at", "text_at", "walk_arguments"]

_BRANCHES: Final = ("anyOf", "oneOf", "allOf")
_BOUNDS: Final = ("enum", "format", "pattern", "examples", "default", "minLength", "maxLength")


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One property of an input schema.

    Attributes:
        path: where it stands: `owner.id`, `tags[].label`.
        name: its own name.
        description: its description, "" when there is none.
        kind: its `type` when that is one text, else "".
        is_constrained: whether the schema says more of a text than that it is one.
        has_examples: whether it has a non-empty `examples`.
        is_required: whether the node it stands in lists it as required.
    """

    path: str
    name: str
    description: str
    kind: str
    is_constrained: bool
    has_examples: bool
    is_required: bool

    @property
    def is_described(self) -> bool:
        """Whether there is a description that is not blank."""
        return bool(self.description.strip())


def object_at(owner: Any, key: str) -> Mapping[str, Any]:
    """Return the object under a key, or an empty one."""
    value = owner.get(key) if isinstance(owner, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def text_at(owner: Any, key: str) -> str:
    """Return the text under a key, or ''."""
    value = owner.get(key) if isinstance(owner, Mapping) else None
    return value if isinstance(value, str) else ""


def walk_arguments(schema: Any) -> Iterator[Argument]:
    """Yield every argument, containers before what they contain.

    Followed are properties, array items and the branches of anyOf, oneOf and allOf of
    every node on the way; `$ref` is not. A node that contains itself is walked once.
    """
    # A stack of our own: a schema may be nested far deeper than Python can recurse.
    pending: list[tuple[str, Any]] = [("", schema)]
    walked: set[int] = set()
    while pending:
        path, node = pending.pop()
        if isinstance(node, Argument):
            yield node
            continue
        if not isinstance(node, Mapping) or id(node) in walked:
            continue
        walked.add(id(node))
        pending.extend(reversed(list(_below(path, node))))


def _below(path: str, node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arguments of one node and the nodes beneath it, in the order of the text."""
    required = node.get("required")
    names = required if isinstance(required, list | tuple) else ()
    for name, schema in object_at(node, "properties").items():
        below = f"{path}.{name}" if path else str(name)
        yield below, _argument(below, str(name), schema, is_required=name in names)
        yield below, schema
    items = node.get("items")
    for one in items if isinstance(items, list | tuple) else (items,):
        yield f"{path}[]", one
    for branch in _BRANCHES:
        options = node.get(branch)
        for one in options if isinstance(options, list | tuple) else ():
            yield path, one


def _argument(path: str, name: str, schema: Any, *, is_required: bool) -> Argument:
    has = schema if isinstance(schema, Mapping) else {}
    examples = has.get("examples")
    return Argument(
        path=path,
        name=name,
        description=text_at(has, "description"),
        kind=text_at(has, "type"),
        is_constrained=any(has.get(bound) is not None for bound in _BOUNDS),
        has_examples=isinstance(examples, list | tuple | Mapping) and bool(examples),
        is_required=is_required,
    )
