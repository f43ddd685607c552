"""One metric appended to a suite file; every other byte of the file stays as it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.first_run.scaffold import flow_text
from pytest_evalcheck.suite import compile_metric, load_suite
from pytest_evalcheck.suite.plan import shown_path
from pytest_evalcheck.yamlnodes import load_yaml

__all__ = ["append_metric"]


def append_metric(text: str, suite: Path, rootdir: Path) -> str:
    """Append a metric to a suite file as informational (`gate: "off"`).

    Args:
        text: the entry as YAML or JSON: `{check: contains, value: 30 days}`.
        suite: the suite file; replaced whole, or not touched.
        rootdir: the folder paths are shown relative to.

    Returns:
        The entry as it was written.

    Raises:
        ConfigError: the text is no metric, asks for a gate, or does not go with the
            suite; the file is as it was.
    """
    shown = shown_path(suite, rootdir)
    entry = _read_entry(text)
    compile_metric(entry, base_dir=suite.parent, shown="--evalcheck-add-metric", rootdir=rootdir)
    load_suite(suite, rootdir)
    before = suite.read_bytes()
    written = flow_text({**entry, "gate": "off"})
    problems: tuple[Problem, ...] = ()
    for after in _candidates(before.decode("utf-8-sig"), written, shown):
        _replace(suite, after.encode("utf-8"))
        try:
            load_suite(suite, rootdir)
        except ConfigError as error:
            problems = problems or error.problems
            _replace(suite, before)
        else:
            return written
    raise ConfigError(problems)


def _read_entry(text: str) -> dict[str, Any]:
    entry, _ = load_yaml(text, "--evalcheck-add-metric")
    if not isinstance(entry, dict) or not entry:
        raise ConfigError(
            Problem(
                path="--evalcheck-add-metric",
                found=f"{text!r}",
                expected="a metric such as '{check: contains, value: 30 days}'",
            )
        )
    if "gate" in entry:
        raise ConfigError(
            Problem(
                path="--evalcheck-add-metric",
                where="gate",
                found="a gate",
                expected="none: a metric is added as informational",
                fix="Edit the suite file to let it gate.",
            )
        )
    return entry


def _candidates(text: str, entry: str, shown: str) -> list[str]:
    """Return the file with the entry, as the style of its metrics calls for."""
    import yaml

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    metrics = next((value for key, value in pairs if key.value == "metrics"), None)
    if not isinstance(metrics, yaml.SequenceNode) or not metrics.value:
        raise ConfigError(
            Problem(path=shown, found="no list of metrics", expected="metrics: [...]")
        )
    newline = "\r\n" if "\r\n" in text else "\n"
    if metrics.flow_style:
        at = metrics.end_mark.index - 1
        head, tail = text[:at], text[at:]
        return [f"{head}, {entry}{tail}", f"{head}{entry}{tail}"]
    last = metrics.value[-1]
    indent = " " * metrics.start_mark.column
    at = _end_of_line(text, last)
    head, tail = text[:at], text[at:]
    if head and not head.endswith("\n"):
        head += newline
    return [f"{head}{indent}- {entry}{newline}{tail}"]


def _end_of_line(text: str, node: Any) -> int:
    """Return where the line after a node begins: past its comment, before blank lines.

    A block node ends where the next token begins; what lies between is blank or comment.
    """
    end = node.end_mark.index
    while end > node.start_mark.index and text[end - 1] in " \t\r\n":
        end -= 1
    while end > node.start_mark.index and _is_comment_line(text, end):
        end = text.rfind("\n", 0, end)
        end = len(text[:end].rstrip())
    following = text.find("\n", end)
    return len(text) if following < 0 else following + 1


def _is_comment_line(text: str, end: int) -> bool:
    start = text.rfind("\n", 0, end) + 1
    return text[start:end].lstrip().startswith("#")


def _replace(path: Path, content: bytes) -> None:
    """Replace a file whole, keeping its mode."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        os.chmod(temporary, path.stat().st_mode)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
