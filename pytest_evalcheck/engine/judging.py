"""Requests to judges: from the recordings when they are there, from the model when not."""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.engine import Engine
from pytest_evalcheck.engine.lanes import Lane, Limits
from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.judges.config import JudgeConfig
from pytest_evalcheck.judges.environment import MissingVariable, expand_environment
from pytest_evalcheck.judges.providers import (
    FunctionLoader,
    Provider,
    open_provider,
)
from pytest_evalcheck.judges.providers.daemon_calls import call_in_thread
from pytest_evalcheck.judges.request import Failure, JudgeRequest, Reply
from pytest_evalcheck.judges.trouble import Trouble
from pytest_evalcheck.recordings import Recordings, recording_key
from pytest_evalcheck.safetext import Redactor, make_redactor, redact_secrets
from pytest_evalcheck.suite.host_functions import load_function

__all__ = ["Judges", "Outcome"]

Outcome = Reply | Failure
Future = concurrent.futures.Future

# What says how to call, not what is asked: it changes no reply.
NOT_SENT: Final = frozenset(
    {
        *("name", "api_key", "max_concurrency", "requests_per_minute"),
        *("timeout_s", "retries", "prices", "base_dir", "rootdir"),
    }
)


@dataclass(slots=True)
class Desk:
    """One judge at work: its lane, and what of a request's address is the judge's own.

    Attributes:
        judge: the judge.
        redact: takes the values of its secret variables out of texts.
        lane: its limits and figures.
        identity: the judge's part of the address of every request.
        provider: open from the first call on.
        trouble: why it cannot be asked at all, or None.
        opening: held while the provider is opened.
    """

    judge: JudgeConfig
    redact: Redactor
    lane: Lane = field(init=False)
    identity: dict[str, Any] = field(default_factory=dict)
    provider: Provider | None = None
    trouble: Trouble | None = None
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)


class Judges:
    """Answers requests to judges; every method may be called from any thread.

    Args:
        engine: makes the calls.
        recordings: where replies are looked up and stored; None for neither.
        load_function: gives the function of a `python` judge; from its file when not given.
        environ: where variables stand; the process's own when not given.
    """

    def __init__(
        self,
        engine: Engine,
        recordings: Recordings | None,
        load_function: FunctionLoader | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.engine = engine
        self.recordings = recordings
        self.load_function = load_function or function_of
        self.environ = os.environ if environ is None else environ
        self.desks: dict[str, Desk] = {}
        self.desk_of: dict[int, Desk] = {}
        self.kept_alive: list[JudgeConfig] = []
        self.under_way: dict[str, Future[Outcome]] = {}
        self.lock = threading.Lock()

    def ask(
        self, request: JudgeRequest, judge: JudgeConfig, *, metric: str = ""
    ) -> Future[Outcome]:
        """Return the future of a reply, or of the failure that says why there is none.

        A recorded reply is there at once. Two equal requests make one call; the second
        gets the reply as replayed.

        Args:
            request: the request, its sample number included.
            judge: who is asked.
            metric: stored with the recording, for a person.

        Returns:
            A future that raises only for a bug, or cancelled by the engine's end.
        """
        desk = self.open_desk(judge)
        if desk.trouble is not None:
            return done(failure_of(desk.trouble))
        content = desk.identity | asked_content(request)
        key = recording_key(content)
        if self.recordings is not None:
            reply = self.recordings.find(key)
            if reply is not None:
                self.engine.replayed += 1
                return done(reply)
            if not self.recordings.takes_new:
                reason = self.recordings.miss_reason(key)
                return done(Failure(code="no_recording", reason=reason, attempts=0))
        with self.lock:
            first = self.under_way.get(key)
            if first is not None:
                return self.follow(first)
            future = self.engine.submit(
                lambda: self.call(desk, request, key, content, metric), desk.lane
            )
            self.under_way[key] = future
        future.add_done_callback(lambda _: self.under_way.pop(key, None))
        return future

    def prepare(self, judge: JudgeConfig) -> None:
        """Begin to import the SDK of a judge and to open its client, in the background.

        The first call need not wait a second for it then. Nothing is done when the
        recordings make it likely that nobody will be called.
        """
        stored = self.recordings
        idle = stored is not None and stored.mode != "all" and stored.had_some
        desk = self.open_desk(judge)
        if not idle and desk.trouble is None:
            self.engine.run_beside(lambda: self.open_provider(desk))

    def notes(self) -> list[str]:
        """Return what was learnt about the models, and what is wrong with the recordings."""
        with self.lock:
            desks = list(self.desks.values())
        learnt = [note for desk in desks if desk.provider for note in desk.provider.notes]
        return learnt + (self.recordings.problems if self.recordings else [])

    def key_of(self, request: JudgeRequest, judge: JudgeConfig) -> str | None:
        """Return the address of a request, or None while a variable of the judge is missing."""
        desk = self.open_desk(judge)
        if not desk.identity:
            return None
        return recording_key(desk.identity | asked_content(request))

    def open_desk(self, judge: JudgeConfig) -> Desk:
        """Return the desk of a judge; equal judges share one, and so their limits."""
        desk = self.desk_of.get(id(judge))
        if desk is not None:
            return desk
        with self.lock:
            name = repr(judge)
            desk = self.desks.get(name) or self.make_desk(judge)
            self.desks[name] = self.desk_of[id(judge)] = desk
            self.kept_alive.append(judge)  # so that no other judge gets its id
            return desk

    def make_desk(self, judge: JudgeConfig) -> Desk:
        """Return a new desk; a variable that is missing is its trouble."""
        limits = Limits(
            max_concurrency=judge.max_concurrency,
            requests_per_minute=judge.requests_per_minute,
            timeout_s=judge.timeout_s,
            retries=judge.retries,
        )
        desk = Desk(judge, make_redactor(judge.secret_variables(), self.environ))
        desk.lane = self.engine.add_lane(
            f"the judge {judge.name!r}", limits, lambda: self.open_provider(desk)
        )
        try:
            desk.identity = identity_of(judge, self.environ)
        except MissingVariable as missing:
            desk.trouble = Trouble(
                "judge_unavailable",
                f"the judge {judge.name!r} needs the environment variable {missing.name}; set it",
            )
        return desk

    async def open_provider(self, desk: Desk) -> None:
        """Open the provider of a desk once, in a thread: importing an SDK takes a second.

        Raises:
            Trouble: it cannot be opened.
        """
        async with desk.opening:
            if desk.provider is not None:
                return
            try:
                desk.provider = await call_in_thread(
                    open_provider, desk.judge, self.environ, self.load_function
                )
            except ConfigError as error:
                reason = (
                    f"the judge {desk.judge.name!r} cannot be opened: {error.problems[0].text()}"
                )
                raise Trouble("judge_unavailable", reason, remedy="stop_lane") from None
            self.engine.when_closing(desk.provider.close)

    async def call(
        self,
        desk: Desk,
        request: JudgeRequest,
        key: str,
        content: Mapping[str, Any],
        metric: str,
    ) -> Reply:
        """Make one attempt, and store what it brings.

        Raises:
            Trouble: it brought nothing.
        """
        if desk.provider is None:
            raise RuntimeError(f"the judge {desk.judge.name!r} was asked before it was opened")
        try:
            reply = redact_reply(await desk.provider.ask(request), desk.redact)
        except Trouble as trouble:
            trouble.reason = redact_secrets(trouble.reason, redact=desk.redact)
            raise
        if self.recordings is not None:
            stored = redact_value(content, desk.redact)
            self.recordings.save(key, stored, reply, metric=metric)
        return reply

    def follow(self, first: Future[Outcome]) -> Future[Outcome]:
        """Return a future that gets the outcome of another request's call."""
        future: Future[Outcome] = Future()
        first.add_done_callback(lambda one: pass_on(one, future))
        return future


def identity_of(judge: JudgeConfig, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what of a judge decides its replies: provider, model, parameters, its own code.

    `base_url` and `extra` count as written: what stands in `${VARIABLES}` is the
    environment's affair, so that a recording is found on every machine and no secret gets
    into an address.

    Raises:
        MissingVariable: the model's name is in a variable that is not set.
    """
    sent = {name: value for name, value in asdict(judge).items() if name not in NOT_SENT}
    params = {name: value for name, value in sent.items() if value not in (None, "", (), {})}
    identity: dict[str, Any] = {
        "provider": params.pop("provider"),
        "model": expand_environment(params.pop("model", ""), environ),
        "params": json.loads(json.dumps(params, default=str)),
    }
    code = code_digests(judge)
    if code:
        identity["code"] = code
    return identity


def function_of(judge: JudgeConfig) -> Callable[..., Any]:
    """Return the function that a `python` judge names.

    Raises:
        ConfigError: there is none, or its module cannot be imported.
    """
    return load_function(
        judge.function, base_dir=judge.base_dir, rootdir=judge.rootdir, may_be_async=True
    )


def code_digests(judge: JudgeConfig) -> dict[str, str]:
    """Return the SHA-256 of the user's files that a judge of their own is made of.

    A `python` judge that was changed is another judge; so is a program beside the suite.
    Line ends do not count, for version control may change them.
    """
    words = [judge.function.rpartition(":")[0]] if judge.function else list(judge.argv)
    digests = {}
    for word in words:
        path = judge.base_dir / word
        if word and "$" not in word and not Path(word).is_absolute() and path.is_file():
            data = path.read_bytes().replace(b"\r\n", b"\n")
            digests[word] = hashlib.sha256(data).hexdigest()[:16]
    return digests


def asked_content(request: JudgeRequest) -> dict[str, Any]:
    """Return what of a request is sent, with its sample number."""
    return {
        "system": request.system,
        "user": request.user,
        "schema": request.schema,
        "sample": request.sample,
    }


def redact_reply(reply: Reply, redact: Redactor) -> Reply:
    """Return a reply without secrets: what is stored is what is read, now and on replay."""
    return replace(
        reply,
        text=redact_secrets(reply.text, redact=redact),
        value=redact_value(reply.value, redact),
    )


def redact_value(value: Any, redact: Redactor) -> Any:
    """Return a JSON value with secrets taken out of all its texts."""
    if isinstance(value, str):
        return redact_secrets(value, redact=redact)
    if isinstance(value, Mapping):
        return {
            redact_value(key, redact): redact_value(below, redact) for key, below in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact_value(below, redact) for below in value]
    return value


def failure_of(trouble: Trouble) -> Failure:
    return Failure(code=trouble.code, reason=trouble.reason, attempts=0)


def done(outcome: Outcome) -> Future[Outcome]:
    future: Future[Outcome] = Future()
    future.set_result(outcome)
    return future


def pass_on(first: Future[Outcome], future: Future[Outcome]) -> None:
    """Settle a future as another one was settled."""
    if not future.set_running_or_notify_cancel():
        return
    if first.cancelled():
        future.set_exception(concurrent.futures.CancelledError())
    elif (error := first.exception()) is not None:
        future.set_exception(error)
    else:
        outcome = first.result()
        future.set_result(
            replace(outcome, replayed=True) if isinstance(outcome, Reply) else outcome
        )
