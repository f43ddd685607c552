"""Short-cuts for tests that ask a judge on loopback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_evalcheck.engine import Budget, Engine, wait_for
from pytest_evalcheck.engine.judging import Judges, Outcome
from pytest_evalcheck.judges.config import JudgeConfig, read_judge
from pytest_evalcheck.judges.request import JudgeRequest
from pytest_evalcheck.recordings import Recordings

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}


def request_of(text: str = "Is 4 even?", **changes: Any) -> JudgeRequest:
    values = {"system": "You judge.", "user": text, "schema": SCHEMA, "sample": 0} | changes
    return JudgeRequest(**values)


def judge_at(server: Any, provider: str = "openai", **keys: Any) -> JudgeConfig:
    address = server.base_url if provider == "openai" else server.url
    return read_judge("default", {"provider": provider, "model": "m-1", "base_url": address} | keys)


@contextmanager
def open_judges(
    folder: Path | None = None,
    mode: Any = "new_episodes",
    *,
    environ: Mapping[str, str] | None = None,
    function: Any = None,
    budget: Budget | None = None,
) -> Iterator[Judges]:
    engine = Engine(budget)
    recordings = None if folder is None else Recordings(folder, mode)
    try:
        loader = None if function is None else lambda _: function
        yield Judges(engine, recordings, loader, environ=environ or {})
    finally:
        engine.close()


def ask_once(judge: JudgeConfig, request: JudgeRequest | None = None, **keys: Any) -> Outcome:
    with open_judges(**keys) as judges:
        return wait_for(judges.ask(request or request_of(), judge))
