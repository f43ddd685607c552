"""`evalcheck.yaml` and `*.eval.yaml|yml|json` read into a Suite, all problems at once."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalcheck.errors import ConfigError, EvalcheckError, Problem
from pytest_evalcheck.suite.discovery import is_self_contained
from pytest_evalcheck.suite.keys import DATASET_KEYS, KINDS, SUITE_KEYS, check_keys, show, texts
from pytest_evalcheck.suite.later import suite_word_problems
from pytest_evalcheck.suite.metrics import build_metric
from pytest_evalcheck.suite.patterns import match_files
from pytest_evalcheck.suite.plan import DatasetRef, Suite, shown_path
from pytest_evalcheck.suite.secrets import secret_problems

if TYPE_CHECKING:
    from pytest_evalcheck.datasets import DatasetOptions
    from pytest_evalcheck.model import Metric, Row

__all__ = ["load_suite"]

Keys = tuple[str | int, ...]
EXAMPLE = "a mapping with datasets and metrics"


@dataclass(slots=True)
class Page:
    """One suite file while it is read: its value, where things stand, what is wrong.

    Attributes:
        path: the absolute path of the file.
        rootdir: the absolute path of the rootdir.
        shown: the path for messages.
        lines: path of keys -> 1-based line.
        problems: what was found so far.
    """

    path: Path
    rootdir: Path
    shown: str
    lines: Mapping[Keys, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, keys: Keys) -> int | None:
        """Return the line of a value, or of the nearest thing around it that has one."""
        for length in range(len(keys), 0, -1):
            if keys[:length] in self.lines:
                return self.lines[keys[:length]]
        return 1 if not keys else None

    def report(self, problems: Iterable[Problem], keys: Keys = (), where: str = "") -> None:
        """Take problems of the value at `keys`, with their lines filled in."""
        self.problems += [
            problem.located(path=self.shown, line=self.line((*keys, *problem.keys)), where=where)
            for problem in problems
        ]


def load_suite(path: Path, rootdir: Path, registry: object = None) -> Suite:
    """Return the suite of a file.

    Args:
        path: an `evalcheck.yaml` or a `*.eval.yaml|yml|json`.
        rootdir: the folder no path of the suite may leave.
        registry: the registry that plugins added their checks to; it is the one of
            `pytest_evalcheck.checks`, and is named so that a caller fills it first.

    Raises:
        ConfigError: the file cannot be read or is mis-written; with all problems, each
            with the file and its line.
    """
    del registry
    path, rootdir = Path(os.path.abspath(path)), Path(os.path.abspath(rootdir))
    page = Page(path, rootdir, shown_path(path, rootdir))
    document = read_document(page)
    suite = read_suite(page, document)
    if page.problems:
        raise ConfigError(sorted(page.problems, key=lambda one: one.line or 0))
    return suite


# --- the file ------------------------------------------------------------------------


def read_document(page: Page) -> Mapping[str, Any]:
    """Return the mapping a suite file holds, and note its lines on the page.

    Raises:
        ConfigError: it cannot be read, parsed, or is no mapping.
    """
    if page.path.suffix not in (".yaml", ".yml", ".json"):
        raise ConfigError(
            Problem(
                found="no suite file by its ending",
                expected=".yaml, .yml or .json",
                fix="Name the suite that lists the dataset.",
                path=page.shown,
            )
        )
    text = read_text(page)
    try:
        document, lines = parse(page, text)
    except EvalcheckError as error:
        raise ConfigError(
            problem.located(path=page.shown, line=None) for problem in error.problems
        ) from None
    page.lines = lines
    if document is None or document == {}:
        raise ConfigError(Problem(found="an empty suite", expected=EXAMPLE, path=page.shown))
    if not isinstance(document, Mapping):
        fix = "Write the list below `rows:` or `metrics:`." if isinstance(document, list) else ""
        raise ConfigError(
            Problem(
                found="a list" if isinstance(document, list) else show(document),
                expected=EXAMPLE,
                fix=fix,
                path=page.shown,
                line=1,
            )
        )
    return document


def read_text(page: Page) -> str:
    """Return the text of a suite file, which is UTF-8 with or without a mark.

    Raises:
        ConfigError: it is not there, a folder, or not UTF-8.
    """
    try:
        data = page.path.read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = Problem(
            found="bytes that are not UTF-8", fix="Save the file as UTF-8.", line=line
        )
    except IsADirectoryError:
        problem = Problem(found="a folder", expected="a suite file")
    except OSError as error:
        problem = Problem(found=f"the file cannot be read ({error.strerror or error})")
    raise ConfigError(replace(problem, path=page.shown))


def parse(page: Page, text: str) -> tuple[Any, Mapping[Keys, int]]:
    """Return the value of a suite's text and the line of each key path.

    JSON is read strictly; as nearly every JSON text is a YAML text too, its lines come
    from there, and a text for which that fails goes without.

    Raises:
        EvalcheckError: it is neither YAML nor JSON.
    """
    from pytest_evalcheck.yamlnodes import load_yaml

    if page.path.suffix != ".json":
        return load_yaml(text, page.shown)
    document = parse_strict_json(page, text)
    try:
        return document, load_yaml(text, page.shown)[1]
    except EvalcheckError:
        return document, {}


def parse_strict_json(page: Page, text: str) -> Any:
    """Return the value of a JSON suite.

    Raises:
        ConfigError: it is not JSON, or a key is there twice.
    """
    from pytest_evalcheck.jsonvalues import JsonTextError, parse_json

    try:
        return parse_json(text, duplicates="refuse")
    except JsonTextError as error:
        raise ConfigError(
            Problem(found=str(error), expected="JSON", path=page.shown, line=error.line)
        ) from None


# --- the suite -----------------------------------------------------------------------


def read_suite(page: Page, document: Mapping[str, Any]) -> Suite:
    """Return the suite of a document; what is wrong is on the page."""
    later = suite_word_problems(document)
    words = {problem.keys[0] for problem in later}
    page.report(later)
    page.report(
        check_keys(
            {key: value for key, value in document.items() if key not in words},
            SUITE_KEYS,
            of="a suite",
        )
    )
    page.report(secret_problems({key: value for key, value in document.items() if key != "rows"}))
    rows = read_rows(page, document)
    metrics = read_metrics(page, document, rows)
    datasets, files = read_datasets(page, document)
    tags = document.get("tags")
    return Suite(
        path=page.path,
        name=page.shown,
        rootdir=page.rootdir,
        datasets=datasets,
        metrics=metrics,
        tags=texts(tags) if KINDS["tags"].fits(tags) else (),
        inline_rows=rows,
        files=files,
    )


def read_rows(page: Page, document: Mapping[str, Any]) -> tuple[Row, ...] | None:
    """Return the rows written in the suite file, or None without `rows`."""
    rows = document.get("rows")
    if "rows" not in document or not isinstance(rows, list):
        return None
    if not is_self_contained(page.path.name):
        page.report(
            [
                Problem(
                    found="rows in a suite of datasets",
                    fix="Write them into a dataset file, or name this file `….eval.yaml`.",
                    where="rows",
                    keys=("rows",),
                )
            ]
        )
        return None
    from pytest_evalcheck.datasets import DatasetOptions, rows_from_values

    records = [(page.line(("rows", at)) or 0, value) for at, value in enumerate(rows)]
    try:
        return tuple(rows_from_values(records, page.shown, DatasetOptions()))
    except EvalcheckError as error:
        page.report(error.problems)
        return None


def read_metrics(
    page: Page, document: Mapping[str, Any], rows: tuple[Row, ...] | None
) -> tuple[Metric, ...]:
    """Return the compiled metrics; names must be unique and there must be one."""
    entries = document.get("metrics")
    if "metrics" not in document:
        if not any(row.metrics for row in rows or ()):
            page.report([Problem(found="no metrics", expected="metrics: a list of one or more")])
        return ()
    if not isinstance(entries, list):
        return ()
    metrics = []
    for at, entry in enumerate(entries):
        line = page.line(("metrics", at)) or 0
        try:
            metric = build_metric(entry, base_dir=page.path.parent, rootdir=page.rootdir)
        except ConfigError as error:
            page.report(error.problems, ("metrics", at), metric_where(at, entry))
            continue
        metrics.append((at, replace(metric, path=page.shown, line=line)))
    report_twins(page, metrics)
    return tuple(metric for _, metric in metrics)


def metric_where(at: int, entry: Any) -> str:
    """Return the place of a metric in words: its position, from 1, and its name."""
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return f"metrics[{at}] {name!r}" if isinstance(name, str) and name else f"metrics[{at}]"


def report_twins(page: Page, metrics: list[tuple[int, Metric]]) -> None:
    """Report every metric whose name is taken by an earlier one."""
    first: dict[str, Metric] = {}
    for at, metric in metrics:
        if metric.name in first:
            page.report(
                [
                    Problem(
                        found=f"a second metric called {metric.name!r} (the first is on line "
                        f"{first[metric.name].line})",
                        expected="names that differ",
                        fix="Give one of them another `name`.",
                        keys=("name",),
                    )
                ],
                ("metrics", at),
                f"metrics[{at}]",
            )
        first.setdefault(metric.name, metric)


# --- its datasets --------------------------------------------------------------------


def read_datasets(
    page: Page, document: Mapping[str, Any]
) -> tuple[tuple[DatasetRef, ...], dict[Path, DatasetRef]]:
    """Return the entries of `datasets` and the file each pattern matches."""
    written = document.get("datasets")
    if "datasets" not in document:
        if "rows" not in document:
            rows = " or rows" if is_self_contained(page.path.name) else ""
            page.report([Problem(found=f"no datasets{rows}", expected='datasets: ["*.jsonl"]')])
        return (), {}
    single = isinstance(written, str | Mapping)
    entries = [written] if single else written
    if not isinstance(entries, list) or not entries:
        expected = "a list of paths, patterns or mappings with a path"
        page.report(
            [Problem(found=show(written), expected=expected, where="datasets", keys=("datasets",))]
        )
        return (), {}
    refs: list[DatasetRef] = []
    files: dict[Path, DatasetRef] = {}
    for at, entry in enumerate(entries):
        keys: Keys = ("datasets",) if single else ("datasets", at)
        where = "datasets" if single else f"datasets[{at}]"
        try:
            ref = read_ref(entry, page.line(keys) or 0)
            claim_files(page, ref, refs, files)
        except ConfigError as error:
            page.report(error.problems, keys, where)
            continue
        refs.append(ref)
    return tuple(refs), files


def read_ref(entry: Any, line: int) -> DatasetRef:
    """Return one entry of `datasets`: a text, or a mapping with `path`.

    Raises:
        ConfigError: with every mistake of the entry.
    """
    from pytest_evalcheck.datasets import DatasetOptions

    if isinstance(entry, str):
        entry = {"path": entry}
    if not isinstance(entry, Mapping):
        raise ConfigError(
            Problem(found=show(entry), expected="a path, a pattern or a mapping with a path")
        )
    problems = check_keys(entry, DATASET_KEYS, of="a dataset")
    if "path" not in entry:
        problems.append(Problem(found="a dataset without path", expected='path: "*.jsonl"'))
    if problems:
        raise ConfigError(problems)
    return DatasetRef(
        pattern=entry["path"],
        options=dataset_options(DatasetOptions, entry),
        tags=texts(entry.get("tags")),
        title=entry.get("title", ""),
        description=entry.get("description", ""),
        line=line,
    )


def dataset_options(kind: type[DatasetOptions], entry: Mapping[str, Any]) -> DatasetOptions:
    """Return how the files of an entry are read.

    Raises:
        ConfigError: the readers refuse a value.
    """
    names = {one.name for one in fields(kind)} - {"tags"}
    given = {key: value for key, value in entry.items() if key in names}
    given["tags"] = texts(entry.get("tags"))
    try:
        return kind(**given)
    except EvalcheckError as error:
        raise ConfigError(error.problems) from None


def claim_files(
    page: Page, ref: DatasetRef, earlier: list[DatasetRef], files: dict[Path, DatasetRef]
) -> None:
    """Add the files of an entry to those of the entries before it.

    Raises:
        ConfigError: the entry is there twice, matches nothing, or reads a file in
            another way than an entry before it.
    """
    from pytest_evalcheck.datasets import DATASET_SUFFIXES

    twin = next((one for one in earlier if same_reading(one, ref, pattern=True)), None)
    if twin is not None:
        raise ConfigError(
            Problem(found=f"{ref.pattern!r} is listed already on line {twin.line}", fix="Drop one.")
        )
    suffixes = None if getattr(ref.options, "format", None) else frozenset(DATASET_SUFFIXES)
    matched = match_files(
        ref.pattern, base_dir=page.path.parent, rootdir=page.rootdir, suffixes=suffixes
    )
    for path in matched:
        if path in files and not same_reading(files[path], ref):
            raise ConfigError(
                Problem(
                    found=f"{shown_path(path, page.rootdir)!r} is matched by "
                    f"{files[path].pattern!r} on line {files[path].line} too, with other options",
                    expected="one way to read a file",
                    fix="Narrow one of the patterns.",
                )
            )
    for path in matched:
        files.setdefault(path, ref)


def same_reading(one: DatasetRef, other: DatasetRef, *, pattern: bool = False) -> bool:
    """Tell whether two entries read a file alike (and, when asked, have the same pattern)."""
    alike = one.options == other.options and set(one.tags) == set(other.tags)
    return alike and (not pattern or one.pattern == other.pattern)
