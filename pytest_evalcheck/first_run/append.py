"""One metric appended to a suite file; every other byte of the file stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.first_run.trial import read_trial, suite_value
from pytest_evalcheck.first_run.whole_files import replace_file
from pytest_evalcheck.first_run.yaml_lines import flow_text
from pytest_evalcheck.suite import compile_metric, load_suite
from pytest_evalcheck.suite.plan import shown_path
from pytest_evalcheck.yamlnodes import load_yaml

__all__ = ["append_metric"]

FLAG: Final = "--evalcheck-add-metric"
LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
MOST_TRIES: Final = 200  # places looked at, the likely ones first


def append_metric(text: str, suite: Path, rootdir: Path) -> str:
    """Append a metric to a suite file as informational (`gate: "off"`).

    The file is written once, when the text it would have was found to load and to say
    what it said before, with the metric as its last one.

    Args:
        text: the entry as YAML or JSON: `{check: contains, value: 30 days}`.
        suite: the suite file; replaced whole, or not touched.
        rootdir: the folder paths are shown relative to.

    Returns:
        The entry as it was written.

    Raises:
        ConfigError: the text is no metric, asks for a gate, or does not go with the
            suite; the file is as it was.
        OSError: the file cannot be written; it is as it was.
    """
    entry = {**_read_entry(text), "gate": "off"}
    compile_metric(entry, base_dir=suite.parent, shown=FLAG, rootdir=rootdir)
    load_suite(suite, rootdir)
    data = suite.read_bytes()
    before = data.decode("utf-8-sig")
    mark = data[: len(data) - len(before.encode("utf-8"))]
    written = flow_text(entry) if suite.suffix != ".json" else json.dumps(entry)
    after = _with_entry(before, written, entry, suite, rootdir)
    _refuse_gate(read_trial(after, suite, rootdir).metrics[-1].gate.kind)
    replace_file(suite, mark + after.encode("utf-8"))
    return written


def _read_entry(text: str) -> dict[str, Any]:
    entry, _ = load_yaml(text, FLAG)
    if not isinstance(entry, dict) or not entry:
        raise ConfigError(
            Problem(
                path=FLAG,
                found=f"{text!r}",
                expected="a metric such as '{check: contains, value: 30 days}'",
            )
        )
    if entry.get("gate", "off") not in ("off", False):
        _refuse_gate("a gate")
    if entry.get("metric_status") == "gating":
        _refuse_gate("metric_status: gating")
    return entry


def _refuse_gate(found: str) -> None:
    if found == "off":
        return
    raise ConfigError(
        Problem(
            path=FLAG,
            where="gate",
            found=found,
            expected="none: a metric is added as informational",
            fix="Edit the suite file to let it gate.",
        )
    )


def _with_entry(
    text: str, written: str, entry: Mapping[str, Any], suite: Path, rootdir: Path
) -> str:
    """Return the text with the entry in the first place where it is just the last metric.

    Raises:
        ConfigError: there is no such place, as with metrics that stand elsewhere in the
            file and are repeated by an alias.
    """
    value = suite_value(text, suite, rootdir)
    wanted = {**value, "metrics": [*value.get("metrics", ()), entry]}
    for candidate in islice(_candidates(text, written), MOST_TRIES):
        if suite_value(candidate, suite, rootdir) == wanted:
            return candidate
    raise ConfigError(
        Problem(
            path=shown_path(suite, rootdir),
            where="metrics",
            found="written in a way that nothing can be appended to safely",
            fix=f"Add it by hand: {written}",
        )
    )


# --- where an entry can stand ----------------------------------------------------------


def _candidates(text: str, written: str) -> Iterator[str]:
    """Yield the text with the entry in every place it may belong to, the likely ones first."""
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    metrics = next((value for key, value in pairs if key.value == "metrics"), None)
    if metrics is None:
        yield from _new_list(text, written)
    elif isinstance(metrics, yaml.SequenceNode) and metrics.value:
        places = _in_flow_list if metrics.flow_style else _in_block_list
        yield from places(text, metrics, written)


def _new_list(text: str, written: str) -> Iterator[str]:
    newline = _newline(text)
    yield f"{_ended(text, newline)}metrics:{newline}  - {written}{newline}"


def _in_flow_list(text: str, metrics: Any, written: str) -> Iterator[str]:
    """Yield the places after the last entry: on a line of its own where that one has one."""
    last = metrics.value[-1]
    end, close = last.end_mark.index, metrics.end_mark.index - 1
    line = text.rfind("\n", 0, last.start_mark.index) + 1
    indent = text[line : last.start_mark.index]
    following = text.find("\n", end, close) + 1
    if following and not indent.strip():
        newline = _newline(text)
        entry = f"{indent}{written}"
        yield f"{text[:end]},{text[end:following]}{entry}{newline}{text[following:]}"
        yield f"{text[:following]}{entry},{newline}{text[following:]}"
    yield f"{text[:end]}, {written}{text[end:]}"
    yield f"{text[:close]}, {written}{text[close:]}"
    yield f"{text[:close]}{written}{text[close:]}"


def _in_block_list(text: str, metrics: Any, written: str) -> Iterator[str]:
    """Yield the places between two lines: after the last that says something, then below.

    A block list ends where the next token begins; what lies between is blank lines and
    comments, or part of a text over several lines.
    """
    newline = _newline(text)
    indent = " " * metrics.start_mark.column
    end = metrics.end_mark.index
    if end < len(text):
        end = text.rfind("\n", 0, end) + 1
    lines = LINE.findall(text, 0, end)
    said = len(lines)
    while said and (not lines[said - 1].strip() or lines[said - 1].lstrip().startswith("#")):
        said -= 1
    for at in range(said, len(lines) + 1):
        head = _ended("".join(lines[:at]), newline)
        yield f"{head}{indent}- {written}{newline}{''.join(lines[at:])}{text[end:]}"


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _ended(text: str, newline: str) -> str:
    """Return a text whose last line has an end."""
    return text if not text or text.endswith("\n") else text + newline
