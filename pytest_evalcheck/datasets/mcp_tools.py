"""A `tools/list` dump as a dataset: a row a tool, and one more for the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.datasets.options import DatasetOptions

__all__ = ["SERVER_ROW", "read_mcp_tools"]

SERVER_ROW: Final = "@server"


def read_mcp_tools(
    path: Path, options: DatasetOptions, shown: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, record) of the server and of each tool of a dump.

    The record's output is the tool, or the whole list; the metadata `mcp` tells which,
    and `repeated_note` holds the sentences that no tool's description may call its own.

    Raises:
        DatasetError: with every problem of the dump.
    """
    from pytest_evalcheck.toolspecs.catalog import shared_sentences
    from pytest_evalcheck.toolspecs.dump import DEFAULT_LIMITS, Dump, Limits, read_dump

    limits = Limits(
        max_tools=options.max_tools or DEFAULT_LIMITS.max_tools,
        max_bytes=options.max_bytes or DEFAULT_LIMITS.max_bytes,
    )
    dump: Dump = read_dump(path, shown, limits)
    yield 1, {"id": SERVER_ROW, "output": server_output(dump), "metadata": {"mcp": "server"}}
    repeated = list(
        shared_sentences(str(listed.tool.get("description") or "") for listed in dump.tools)
    )
    note = {"repeated_note": repeated} if repeated else {}
    taken = {SERVER_ROW}
    for listed in dump.tools:
        # Two tools of one name are a finding of the server, no fault of the file.
        row_id = free_id(listed.name, taken)
        yield (
            listed.line,
            {"id": row_id, "output": dict(listed.tool), "metadata": {"mcp": "tool", **note}},
        )


def server_output(dump: Any) -> Mapping[str, Any]:
    """Return the whole list as `tools/list` gives it, with what the dump says of the server."""
    document: dict[str, Any] = {"tools": [listed.tool for listed in dump.tools]}
    if dump.server is not None:
        document["server"] = dump.server
    if dump.instructions is not None:
        document["instructions"] = dump.instructions
    if dump.is_partial:
        document["nextCursor"] = "more"
    return document


def free_id(name: str, taken: set[str]) -> str:
    """Return the name, or the name with the first number that no row has, and take it."""
    row_id, number = name, 2
    while row_id in taken:
        row_id, number = f"{name}-{number}", number + 1
    taken.add(row_id)
    return row_id
