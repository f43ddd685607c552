"""A suite file written for a folder: for its dataset files, or with a small one of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.datasets import DATASET_SUFFIXES
from pytest_evalcheck.errors import ConfigError, DatasetError, Problem
from pytest_evalcheck.first_run.proposals import DatasetProposal, MetricProposal, propose
from pytest_evalcheck.first_run.trial import read_trial
from pytest_evalcheck.first_run.whole_files import write_new
from pytest_evalcheck.first_run.yaml_lines import comment_text, flow_text
from pytest_evalcheck.suite import SUITE_FILE, is_suite_file
from pytest_evalcheck.suite.plan import shown_path

__all__ = ["write_suite"]

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
SAMPLE_SUITE: Final = f"""\
{HEAD}
# One row a line: what was asked (input), what the application said (output), and what
# to look for (expected). Other files of rows beside it are added here; patterns too.
datasets:
  - {SAMPLE_FILE}

# Every metric scores every row; `pytest -v` shows one item for each.
metrics:
  # what the row expects stands in the output
  - {{name: mentions_expected, check: contains, compare_to: expected, gate: "off"}}
  # an answer, but no essay
  - {{name: length, check: length_bounds, min: 1, max: 400, gate: "off"}}
  # it answers instead of declining to
  - {{name: answers, check: is_refusal, negate: true, gate: "off"}}
"""


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
        OSError: a file cannot be written; what was written is taken back.
    """
    target = folder / SUITE_FILE
    _refuse_taken(folder, target, rootdir)
    found = _dataset_files(folder)
    if not found:
        return _write_sample(folder, target)
    text = _proposed_text(found, rootdir)
    read_trial(text, target, rootdir)
    write_new(target, text)
    return [target]


def _refuse_taken(folder: Path, target: Path, rootdir: Path) -> None:
    if folder.exists() and not folder.is_dir():
        shown = shown_path(folder, rootdir)
        raise ConfigError(Problem(path=shown, found="this is a file", expected="a folder"))
    if target.exists() or target.is_symlink():
        fix = "Add to it with --evalcheck-add-metric, or remove it first."
        raise ConfigError(
            Problem(path=shown_path(target, rootdir), found="there is a suite already", fix=fix)
        )


def _dataset_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in DATASET_SUFFIXES
        and path.is_file()
        and not path.name.startswith(".")
        and not is_suite_file(path.name)
        and path.name != SCHEMA_FILE
    )


def _write_sample(folder: Path, target: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    sample = folder / SAMPLE_FILE
    write_new(sample, "".join(json.dumps(row) + "\n" for row in SAMPLE_ROWS))
    try:
        write_new(target, SAMPLE_SUITE)
    except OSError:
        sample.unlink(missing_ok=True)
        raise
    return [target, sample]


# --- a suite for files that are there --------------------------------------------------


@dataclass(slots=True)
class Entry:
    """A metric of the suite: what was proposed alike for one file or for several.

    Attributes:
        name: its name.
        proposal: the entry and its reason, as proposed for the first file.
        tags: the tags of the files it is for.
    """

    name: str
    proposal: MetricProposal
    tags: list[str] = field(default_factory=list)


def _proposed_text(paths: Iterable[Path], rootdir: Path) -> str:
    proposals: list[DatasetProposal] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            proposals.append(propose(path, shown_path(path, rootdir)))
        except DatasetError as error:
            problems.append(error.problems[0])
    if not proposals:
        raise ConfigError(
            [
                Problem(found="no file here can be read as rows", fix="This is why:"),
                *problems,
            ]
        )
    return "\n".join(_suite_lines(proposals, problems)) + "\n"


def _suite_lines(proposals: list[DatasetProposal], problems: list[Problem]) -> Iterator[str]:
    tags = dict(zip((one.file for one in proposals), _tags(proposals), strict=True))
    entries = _entries(proposals, tags)
    selecting = {tag for entry in entries for tag in _selected(entry, tags)}
    yield HEAD.rstrip()
    yield ""
    yield "datasets:"
    shared = _shared_notes(proposals)
    yield from (f"  # {comment_text(note)}" for note in shared)
    for proposal in proposals:
        yield from (f"  # {comment_text(note)}" for note in proposal.notes if note not in shared)
        tag = tags[proposal.file]
        yield f"  - {_dataset_text(proposal, tag if tag in selecting else '')}"
    for problem in problems:
        yield f"  # left out: {comment_text(problem.text())}"
    yield ""
    yield "metrics:"
    for entry in entries:
        yield f"  # {comment_text(_reason(entry, tags))}"
        yield f"  - {flow_text(_metric(entry, tags))}"


def _shared_notes(proposals: list[DatasetProposal]) -> list[str]:
    """Return the remarks that hold for every one of several files, to be made once."""
    first, *others = proposals
    return [note for note in first.notes if others and all(note in one.notes for one in others)]


def _reason(entry: Entry, tags: Mapping[str, str]) -> str:
    """Return the reason of a metric, with the file it was seen in where there are several."""
    if len(tags) == 1:
        return entry.proposal.reason
    file = next(file for file, tag in tags.items() if tag == entry.tags[0])
    more = len(entry.tags) - 1
    alike = f" (and as well for {more} more file{'s' * (more > 1)})" if more else ""
    return f"{file}: {entry.proposal.reason}{alike}"


def _dataset_text(proposal: DatasetProposal, tag: str) -> str:
    if not tag and not proposal.columns:
        return flow_text(proposal.file)
    columns = {"columns": dict(proposal.columns)} if proposal.columns else {}
    return flow_text({"path": proposal.file, **columns, **({"tags": [tag]} if tag else {})})


def _entries(proposals: list[DatasetProposal], tags: Mapping[str, str]) -> list[Entry]:
    """Return the metrics, those proposed alike for several files once, under names that differ."""
    taken = {name for proposal in proposals for name in proposal.taken}
    entries: list[Entry] = []
    for proposal in proposals:
        for metric in proposal.metrics:
            alike = [one for one in entries if one.proposal.entry == metric.entry]
            if alike:
                alike[0].tags.append(tags[proposal.file])
                continue
            name = _free_name(metric.name, tags[proposal.file], taken)
            entries.append(Entry(name, metric, [tags[proposal.file]]))
    return entries


def _free_name(name: str, tag: str, taken: set[str]) -> str:
    tries = [name, f"{name}_{tag}", *(f"{name}_{at}" for at in range(2, len(taken) + 3))]
    free = next(one for one in tries if one not in taken)
    taken.add(free)
    return free


def _selected(entry: Entry, tags: Mapping[str, str]) -> list[str]:
    """Return the tags a metric is limited to; none where it is for every file."""
    return [] if len(entry.tags) == len(tags) else entry.tags


def _metric(entry: Entry, tags: Mapping[str, str]) -> dict[str, Any]:
    selected = _selected(entry, tags)
    one = selected[0] if len(selected) == 1 else selected
    selector = {"applies_to": {"tag": one}} if selected else {}
    return {"name": entry.name, **entry.proposal.entry, **selector, "gate": "off"}


def _tags(proposals: list[DatasetProposal]) -> list[str]:
    """Return a word for each file that can be a marker: letters, digits, underscores."""
    taken: set[str] = set()
    tags = []
    for proposal in proposals:
        word = "".join(c if c.isascii() and c.isalnum() else "_" for c in proposal.file)
        tags.append(_free_name(f"from_{word}", "file", taken))
    return tags
