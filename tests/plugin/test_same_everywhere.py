"""Plain, -n0 and -n2 say the same: the summary, the exit status, the results file."""

from __future__ import annotations

SUITE = """
datasets: ["*.jsonl"]
metrics:
  - {name: has_days, check: contains, value: 30 days, gate: {pass_rate: 0.4, coverage: 0.5}}
  - {name: short, check: length_bounds, max: 18}
  - {name: total, check: numeric_equals, compare_to: expected, pick: last, gate: "off"}
"""


def write_rows(project, count=12):
    for name in ("b.jsonl", "a.jsonl"):
        project.rows(
            *(
                {
                    "id": f"row-{n}",
                    "input": f"question {n}",
                    "output": None if n % 5 == 4 else f"30 days, {n}" if n % 2 else f"no, {n}",
                    "expected": n if n % 3 else "n/a",
                    "metadata": {"topic": "odd" if n % 2 else "even"},
                }
                for n in range(count)
            ),
            name=name,
        )


def test_a_mixed_run_is_the_same_every_way(project, run_every_way):
    project.suite(SUITE)
    write_rows(project)
    plain, *_ = run_every_way()
    assert plain.status == 0
    assert len(plain.document["results"]) == 72
    assert plain.document["results"][0]["dataset"] == "a.jsonl"


def test_a_failing_gate_is_the_same_every_way(project, run_every_way):
    project.suite(SUITE.replace("pass_rate: 0.4", "pass_rate: 0.9"))
    write_rows(project)
    plain, *_ = run_every_way("--evalcheck-by", "topic")
    assert plain.status == 1
    assert "odd" in plain.summary


def test_a_marked_test_is_the_same_every_way(project, run_every_way):
    project.suite(SUITE)
    write_rows(project, 4)
    project.write(
        "test_live.py",
        """
        import pytest

        @pytest.mark.metric("live", dataset="a.jsonl", gate={"pass_rate": 0.5})
        def test_live(eval_row, evalcheck):
            evalcheck.score(eval_row.metadata["topic"] == "odd", reason="by topic")
            assert eval_row.metadata["topic"] == "odd"

        @pytest.mark.metric
        def test_plain():
            pass
        """,
    )
    plain, *_ = run_every_way()
    assert plain.status == 0
    assert "live" in plain.summary
