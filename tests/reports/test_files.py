"""Results files fit their schema, appear whole, and survive an interruption."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.model import CODES, Gate, Result, Row, Score
from pytest_evalcheck.reports.files import (
    ResultsLog,
    check_results_path,
    results_schema,
    write_results,
)
from pytest_evalcheck.results import MetricPlan, Results, RunInfo, make_result, summarise

SIDES = {"found": "日本\ud83d", "wanted": 5}
RUN = RunInfo(
    started_at="2026-01-01T00:00:00+00:00", duration_s=1.5, versions={"pytest": "9"}, exit_status=1
)


def some_scores() -> list[Score]:
    unscored = [Score("non_evaluable", code=code, reason=f"{code}: none") for code in CODES]
    return [
        Score("scored", 1.0, True),
        Score("scored", 0.25, False, "differs", "path_unresolved", SIDES),
        Score("blocked", code="timeout"),
        Score("error", reason="KeyError: 'x'"),
        *unscored,
    ]  # fmt: skip


def made_results() -> list[Result]:
    return [
        make_result(
            score,
            suite="evalcheck.yaml",
            dataset="t.jsonl",
            row=Row(id=f"r{line}", line=line, tags=("golden",), latency_s=0.5),
            metric=metric,
            by="tag",
        )
        for metric in ("each", "rule", "off")
        for line, score in enumerate(some_scores(), start=1)
    ]


def made_run() -> Results:
    plans = [
        MetricPlan(suite="evalcheck.yaml", name="each", source="contains@1", version=1),
        MetricPlan(
            suite="evalcheck.yaml", name="rule", gate=Gate(kind="rule", mean=0.5, confidence=0.9)
        ),
        MetricPlan(suite="evalcheck.yaml", name="off", gate=Gate(kind="off", note="draft")),
        MetricPlan(suite="evalcheck.yaml", name="unused", kind="evaluator"),
    ]
    return summarise(plans, made_results(), run=RUN)


def validate_line(record: dict[str, Any]) -> None:
    schema = {**results_schema(), "$ref": "#/$defs/line"}
    for key in ("properties", "required", "additionalProperties", "type"):
        del schema[key]
    jsonschema.Draft202012Validator(schema).validate(record)


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(results_schema())


@pytest.mark.parametrize(
    "results", [made_run(), summarise([], []), summarise([], [], run=RunInfo(complete=False))]
)
def test_a_document_fits_the_schema_and_is_what_was_measured(
    results: Results, tmp_path: Path
) -> None:
    path = tmp_path / "out.json"
    write_results(results, path)
    document = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(results_schema()).validate(document)
    assert document == json.loads(json.dumps(results.to_document()))


def test_the_figures_of_the_file_are_those_of_the_run(tmp_path: Path) -> None:
    write_results(made_run(), tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert document["schema"] == "evalcheck-results/1"
    figures = document["metrics"][0]
    rows = len(some_scores())
    assert (figures["rows"], figures["scored"], figures["passed"]) == (rows, 2, 1)
    assert (figures["pass_rate"], figures["mean"], figures["verdict"]) == (0.5, 0.625, "fail")
    assert figures["reasons"]["timeout"] == 2
    assert document["run"]["exit_status"] == 1


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_written_file_holds_no_number_that_is_none(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"out{suffix}"
    write_results(made_run(), path)

    def refuse(name: str) -> None:
        raise AssertionError(name)

    for line in [path.read_text()] if suffix == ".json" else path.read_text().splitlines():
        json.loads(line, parse_constant=refuse)


def test_a_finished_log_is_header_results_and_summary(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    results = made_run()
    write_results(results, path)
    lines = read_lines(path)
    for line in lines:
        validate_line(line)
    assert [line["type"] for line in lines] == [
        "header",
        *["result"] * len(results.results),
        "summary",
    ]
    assert lines[-1]["metrics"] == json.loads(json.dumps(results.to_document()["metrics"]))


def test_a_log_grows_with_the_run_and_ends_with_its_summary(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    log = ResultsLog(path).open(RUN)
    for result in made_results():
        log.append(result)
    assert len(read_lines(path)) == 1 + len(made_results())
    log.close(made_run())
    log.close()
    lines = read_lines(path)
    for line in lines:
        validate_line(line)
    assert lines[-1]["type"] == "summary"


def test_an_interrupted_log_holds_whole_lines_and_no_summary(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"

    def interrupted() -> None:
        with ResultsLog(path) as log:
            log.append(made_results()[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [line["type"] for line in read_lines(path)] == ["header", "result"]


def test_a_log_that_is_not_open_takes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not open"):
        ResultsLog(tmp_path / "out.jsonl").append(made_results()[0])


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ConfigError, match="cannot be written: No space left on device"):
        write_results(made_run(), path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
def test_a_missing_folder_is_told_and_not_created(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"the folder '.*absent' does not exist"):
        write_results(made_run(), tmp_path / "absent" / name)
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize("name", ["out.txt", "out", "out.json.gz", "out.JSON"])
def test_another_suffix_is_refused_with_those_that_are_known(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected a name ending in \.json or \.jsonl"):
        check_results_path(tmp_path / name)


def test_a_folder_of_that_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out.json").mkdir()
    with pytest.raises(ConfigError, match="is a folder, expected a file"):
        write_results(made_run(), tmp_path / "out.json")


def test_a_file_gets_the_permissions_any_new_file_gets(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("x")
    write_results(made_run(), tmp_path / "out.json")
    assert (tmp_path / "out.json").stat().st_mode == (tmp_path / "usual").stat().st_mode
