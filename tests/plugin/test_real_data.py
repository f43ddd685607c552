"""Real files in a real run; each skips where the shared files are not at hand."""

from __future__ import annotations

import json
import shutil

from shared_data import shared

GSM8K = """
datasets: [{path: model_solutions.sample.jsonl, columns: {expected: ground_truth}}]
metrics:
  - {name: right, check: numeric_equals, compare_to: expected, pick: last, gate: "off"}
"""


def test_the_verdict_on_every_real_model_answer_is_the_files_own_label(project):
    source = shared("data", "gsm8k", "model_solutions.sample.jsonl")
    shutil.copy(source, project.path)
    project.suite(GSM8K)
    ran = project.run(results=True)
    labels = {}
    for line in source.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        labels[record["id"]] = record["is_correct"]
    verdicts = {entry["row"]: entry["passed"] for entry in ran.document["results"]}
    assert len(verdicts) == 240
    assert verdicts == labels
    assert ran.status == 0


def test_every_real_csv_file_is_read_or_refused_by_name_and_the_run_goes_on(project):
    files = sorted(shared("data", "csv").glob("*.csv"))
    for source in files:
        shutil.copy(source, project.path / source.name)
        name = f"suites/{source.stem}/evalcheck.yaml"
        project.suite(
            f"datasets: [{{path: {json.dumps('../../' + source.name)}, columns: {{output: a}}}}]\n"
            "metrics: [{name: filled, check: length_bounds, min: 0, gate: 'off'}]\n",
            name=name,
        )
    ran = project.run("suites", "--continue-on-collection-errors", results=True)
    assert "Traceback" not in ran.out
    read = {entry["dataset"] for entry in ran.document["results"]}
    refused = {source.name for source in files if f"\n{source.name}" in ran.out} - read
    assert read | refused == {source.name for source in files}
    assert "csv-spectrum__simple.csv" in read
    assert "csvkit__test_utf16_big.csv" in read
    assert {"csvkit__empty.csv", "csvkit__test_latin1.csv", "csvkit__null_byte.csv"} <= refused
