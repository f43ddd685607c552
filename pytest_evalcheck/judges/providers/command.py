"""A program as the judge: run without a shell, JSON on its standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Mapping
from typing import Any, Final

from pytest_evalcheck.jsonvalues import JsonTextError, json_text, parse_json
from pytest_evalcheck.judges.config import JudgeConfig
from pytest_evalcheck.judges.environment import expand_environment
from pytest_evalcheck.judges.providers.python_function import prompt_text
from pytest_evalcheck.judges.request import JudgeRequest, Reply
from pytest_evalcheck.judges.trouble import Trouble, said_by

__all__ = ["CommandProvider"]

END_WITHIN_S: Final = 1.0
TRY_AGAIN: Final = 75  # EX_TEMPFAIL of sysexits.h: the program asks to be run again


class CommandProvider:
    """Runs a program once a request.

    Its input is `{prompt, system, user, schema, sample, model, temperature, max_tokens, seed}`.
    Its output is text, or an object: one with a text `text` is the reply with its figures
    (`tokens_in`, `tokens_out`, `cost_usd`), any other is the verdict itself.

    Args:
        judge: the judge, of the provider `command`.
        environ: where its variables stand; the program inherits it.

    Raises:
        MissingVariable: a variable is not set.
    """

    def __init__(self, judge: JudgeConfig, environ: Mapping[str, str]) -> None:
        self.judge = judge
        self.notes: list[str] = []
        self.environ = dict(environ)
        self.argv = [expand_environment(word, environ) for word in judge.argv]

    async def ask(self, request: JudgeRequest) -> Reply:
        """Return the reply to one attempt; see `Provider.ask`."""
        started = time.perf_counter()
        process = await self.start()
        try:
            output, errors = await process.communicate(self.question(request))
        finally:
            if process.returncode is None:
                await end_process(process)
        if process.returncode:
            raise self.failed(process.returncode, errors)
        return self.read(output, time.perf_counter() - started)

    async def start(self) -> asyncio.subprocess.Process:
        """Start the program.

        Raises:
            Trouble: it cannot be run.
        """
        try:
            return await asyncio.create_subprocess_exec(
                *self.argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self.judge.base_dir,
                env=self.environ,
                start_new_session=True,  # its children end with it
            )
        except OSError as error:
            raise Trouble(
                "judge_unavailable",
                f"the judge {self.judge.name!r} cannot run {self.argv[0]!r}: "
                f"{error.strerror or error}",
                remedy="stop_lane",
            ) from None

    def question(self, request: JudgeRequest) -> bytes:
        """Return the program's standard input."""
        asked = {
            "prompt": prompt_text(request),
            "system": request.system,
            "user": request.user,
            "schema": request.schema,
            "sample": request.sample,
            "model": self.judge.model,
            "temperature": self.judge.temperature,
            "max_tokens": self.judge.max_tokens,
            "seed": self.judge.seed,
        }
        return json_text(asked).encode("utf-8", "backslashreplace")

    def failed(self, status: int, errors: bytes) -> Trouble:
        """Return the trouble of a program that ended with an error status."""
        last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        said = f": {said_by(last)}" if last else ""
        return Trouble(
            "judge_unavailable",
            f"the judge {self.judge.name!r} ended with status {status}{said}",
            remedy="wait" if status == TRY_AGAIN else "none",
        )

    def read(self, output: bytes, latency_s: float) -> Reply:
        """Return a program's output as a reply.

        Raises:
            Trouble: it is not UTF-8.
        """
        try:
            text = output.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise Trouble(
                "judge_unparsable", f"the judge {self.judge.name!r} wrote no UTF-8"
            ) from None
        try:
            value = parse_json(text)
        except JsonTextError:
            value = text
        if isinstance(value, dict) and isinstance(value.get("text"), str):
            return self.figures(value, latency_s)
        return Reply(
            text=value if isinstance(value, str) else text,
            value=value if isinstance(value, dict) else None,
            latency_s=latency_s,
            finish="stop",
        )

    def figures(self, value: dict[str, Any], latency_s: float) -> Reply:
        """Return an answer that is an object with a text and its figures."""
        tokens_in, tokens_out = (
            count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None
            for count in (value.get("tokens_in"), value.get("tokens_out"))
        )
        cost = value.get("cost_usd")
        if isinstance(cost, bool) or not isinstance(cost, int | float) or not cost >= 0:
            prices = self.judge.prices
            cost = prices.cost_usd(tokens_in, tokens_out) if prices else None
        return Reply(
            text=value["text"],
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            latency_s=latency_s,
            cost_usd=cost,
            finish="stop",
        )

    async def close(self) -> None:
        """Do nothing: every program has ended with its request."""


async def end_process(process: asyncio.subprocess.Process) -> None:
    """End a program that still runs, with its children where the system has process groups."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_WITHIN_S):
            await process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    await pipe.read()  # to its end, which closes it
