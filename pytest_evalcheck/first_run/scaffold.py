"""A suite file written for a folder: for its dataset files, or with a small one of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.datasets import DATASET_SUFFIXES
from pytest_evalcheck.errors import ConfigError, DatasetError, Problem
from pytest_evalcheck.first_run.proposals import DatasetProposal, MetricProposal, propose
from pytest_evalcheck.suite import SUITE_FILE, is_suite_file, load_suite
from pytest_evalcheck.suite.plan import shown_path

__all__ = ["flow_text", "write_suite"]

SCHEMA_FILE: Final = "evalcheck.schema.json"
HEAD: Final = f"""\
# yaml-language-server: $schema={SCHEMA_FILE}
# Editors complete and check this file when `pytest --evalcheck-schema > {SCHEMA_FILE}`
# was run in this folder. Nothing here can fail a run: change gate to "each" or to a rule
# such as {{pass_rate: 0.9}} where a metric should.
"""
SAMPLE_FILE: Final = "answers.jsonl"
SAMPLE_ROWS: Final = (
    {
        "id": "return-window",
        "input": "How long can I return an item?",
        "output": "You can return an item within 30 days.",
        "expected": "30 days",
    },
    {
        "id": "shipping-time",
        "input": "How long does shipping take?",
        "output": "Standard shipping takes 3 to 5 working days.",
        "expected": "3 to 5 working days",
    },
)


def write_suite(folder: Path, rootdir: Path) -> list[Path]:
    """Write an `evalcheck.yaml` into a folder, with a small dataset where there is none.

    Args:
        folder: made if it is absent.
        rootdir: the folder paths are shown relative to.

    Returns:
        The files that were written.

    Raises:
        ConfigError: the folder has a suite already, or holds dataset files of which
            none can be read; nothing is written then.
    """
    shown = shown_path(folder, rootdir)
    target = folder / SUITE_FILE
    if folder.exists() and not folder.is_dir():
        raise ConfigError(Problem(path=shown, found="this is a file", expected="a folder"))
    if target.exists():
        fix = "Add to it with --evalcheck-add-metric, or remove it first."
        raise ConfigError(
            Problem(path=shown_path(target, rootdir), found="there is a suite already", fix=fix)
        )
    found = sorted(
        path
        for path in (folder.iterdir() if folder.is_dir() else ())
        if path.is_file() and path.suffix in DATASET_SUFFIXES and not is_suite_file(path.name)
    )
    written: list[Path] = []
    if not found:
        folder.mkdir(parents=True, exist_ok=True)
        sample = folder / SAMPLE_FILE
        rows = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in SAMPLE_ROWS)
        _write(sample, rows)
        written.append(sample)
        found = [sample]
    proposals, refused = _propose_all(found, rootdir)
    _write(target, "\n".join(_suite_lines(proposals, refused)) + "\n")
    try:
        load_suite(target, rootdir)
    except ConfigError:
        target.unlink()
        raise
    return [target, *written]


def _propose_all(paths: Iterable[Path], rootdir: Path) -> tuple[list[DatasetProposal], list[str]]:
    proposals: list[DatasetProposal] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            proposals.append(propose(path, shown_path(path, rootdir)))
        except DatasetError as error:
            problems.append(error.problems[0])
    if not proposals:
        raise ConfigError(problems)
    return proposals, [problem.text() for problem in problems]


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _suite_lines(proposals: list[DatasetProposal], refused: list[str]) -> Iterator[str]:
    yield HEAD.rstrip()
    alone = len(proposals) == 1
    yield "datasets:"
    for proposal in proposals:
        yield from (f"  # {note}" for note in proposal.notes)
        entry: dict[str, Any] = {"path": proposal.file}
        if proposal.columns:
            yield "  # the columns have other names than the fields: mapped"
            entry["columns"] = dict(proposal.columns)
        if not alone:
            entry["tags"] = [_tag(proposal)]
        yield f"  - {flow_text(entry)}"
    for reason in refused:
        yield f"  # left out: {' '.join(reason.split())[:300]}"
    yield ""
    yield "metrics:"
    for proposal in proposals:
        for metric in proposal.metrics:
            yield f"  # {metric.reason}"
            yield f"  - {flow_text(_entry(proposal, metric, alone))}"


def _entry(proposal: DatasetProposal, metric: MetricProposal, alone: bool) -> dict[str, Any]:
    name = metric.name if alone else f"{_tag(proposal)}_{metric.name}"
    selector = {} if alone else {"applies_to": {"tag": _tag(proposal)}}
    return {"name": name, **metric.entry, **selector, "gate": "off"}


def _tag(proposal: DatasetProposal) -> str:
    """Return a word for a file that can be a marker: letters, digits, underscores."""
    word = "".join(c if c.isascii() and c.isalnum() else "_" for c in proposal.file)
    return f"from_{word}"


def flow_text(value: Any) -> str:
    """Return a value as one line of YAML in flow style, which JSON is."""
    if isinstance(value, dict):
        inner = ", ".join(f"{_key_text(key)}: {flow_text(one)}" for key, one in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow_text, value))}]"
    if isinstance(value, str) and value.isascii() and value.isidentifier() and value != "off":
        return value if value.lower() not in WORDS_OF_YAML else json.dumps(value)
    return json.dumps(value, ensure_ascii=False)


WORDS_OF_YAML: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def _key_text(key: Any) -> str:
    return flow_text(str(key))
