"""One helper that writes a project, runs it and reads back what came out."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

# pytester forgets what a run in this process imported. Compiled modules do not stand being
# imported twice, and the rest is only faster when it stays.
for _name in ("jsonschema", "regex", "tabulate", "yaml", "pytest_evalcheck.plugin.claiming"):
    importlib.import_module(_name)

SUITE = """
datasets: ["rows.jsonl"]
metrics:
  - {name: has_days, check: contains, value: 30 days}
"""


@dataclass
class Ran:
    """What a run printed, its exit status, and the results document if one was asked for."""

    status: int
    out: str
    err: str
    document: dict[str, Any] | None

    @property
    def summary(self) -> str:
        """The section of ours, without the frame."""
        found = re.search(r"^=+ evaluations =+\n(.*?)(?=^=+ )", self.out, re.M | re.S)
        return found.group(1) if found else ""

    def outcomes(self) -> dict[str, int]:
        """The counts of pytest's last line."""
        last = [line for line in self.out.splitlines() if re.search(r" in [\d.]+s", line)][-1]
        return {word: int(n) for n, word in re.findall(r"(\d+) ([a-z]+)", last)}

    def untimed(self) -> dict[str, Any]:
        """The document without what may differ between two runs."""
        assert self.document is not None
        document = json.loads(json.dumps(self.document))
        for name in ("started_at", "duration_s"):
            document["run"].pop(name)
        return document


class Project:
    """A folder with a suite, run by a real pytest in a process of its own."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path: Path = pytester.path
        pytester.makeini("[pytest]\n")

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    def rows(self, *rows: dict[str, Any], name: str = "rows.jsonl") -> Path:
        return self.write(name, "".join(json.dumps(row) + "\n" for row in rows))

    def suite(self, text: str = SUITE, name: str = "evalcheck.yaml") -> Path:
        return self.write(name, text)

    def run(self, *arguments: str, results: bool = False, shuffle: bool = False) -> Ran:
        target = self.path / "out.json"
        target.unlink(missing_ok=True)
        extra = ("--evalcheck-results", str(target)) if results else ()
        # Workers are processes of their own and need a controller that is one too.
        parallel = any(argument.startswith("-n") for argument in arguments)
        runner = (
            self.pytester.runpytest_subprocess if parallel else self.pytester.runpytest_inprocess
        )
        order = () if shuffle else ("-p", "no:randomly")
        ran = runner("-p", "no:cacheprovider", *order, *extra, *arguments)
        document = json.loads(target.read_text()) if target.exists() else None
        return Ran(int(ran.ret), "\n".join(ran.outlines), "\n".join(ran.errlines), document)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)


WAYS = (("-p", "no:xdist"), ("-n0",), ("-n2",), ("-n2", "--dist", "loadgroup"))


@pytest.fixture
def run_every_way(project: Project) -> Callable[..., list[Ran]]:
    """Run plain, with -n0 and with -n2, and check that all say the same."""

    def run(*arguments: str) -> list[Ran]:
        ran = [project.run(*way, *arguments, results=True) for way in WAYS]
        for other in ran[1:]:
            assert other.summary == ran[0].summary
            assert other.status == ran[0].status
            assert other.untimed() == ran[0].untimed()
        return ran

    return run
