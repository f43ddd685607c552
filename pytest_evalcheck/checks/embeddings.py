"""Similarity of meaning: the cosine of two embeddings, from an endpoint or a local model."""

from __future__ import annotations

import math
import os
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

from pytest_evalcheck.checks.options import Settings
from pytest_evalcheck.checks.target import Settled, shorten
from pytest_evalcheck.model import Score

__all__ = ["cosine", "is_address", "load_embedding"]

Vector = Sequence[float]
# Texts -> one vector each.
Embed = Callable[[Sequence[str]], list[Vector]]

OPENAI_URL: Final = "https://api.openai.com/v1"
ATTEMPTS: Final = 3
LONGEST_WAIT_S: Final = 10.0
# What an endpoint answers to a request that it cannot take: too long, or unreadable.
REFUSALS: Final = (400, 413, 422)
# Rows in vain, one after the other, after which an endpoint is given up.
HOPELESS: Final = 5
# Vectors that are kept: expected texts recur, row after row.
KEPT: Final = 1024


def load_embedding(settings: Settings) -> Callable[[str, Sequence[str]], float]:
    """Return the measure: the cosine to the nearest expected text; below 0 it counts as 0.

    Raises:
        Settled: blocked, when the package or the API key is missing.
    """
    local = settings["provider"] == "sentence_transformers"
    embed = keep_vectors(local_model(settings) if local else endpoint(settings))

    def measure(text: str, expected: Sequence[str]) -> float:
        if not text.strip():
            return 0.0
        first, *others = embed([text, *expected])
        return max(0.0, *(cosine(first, other) for other in others))

    return measure


def cosine(first: Vector, second: Vector) -> float:
    """Return the cosine of the angle between two vectors of one length, -1..1.

    Raises:
        Settled: blocked `judge_unparsable`, when there is no angle between them.
    """
    lengths = math.hypot(*first) * math.hypot(*second)
    if len(first) != len(second) or not lengths or not math.isfinite(lengths):
        raise blocked("judge_unparsable", "the embeddings are not two vectors of one length")
    return math.fsum(a * b for a, b in zip(first, second, strict=True)) / lengths


def keep_vectors(embed: Embed) -> Embed:
    """Return the same function with the vectors of the latest texts kept."""
    kept: OrderedDict[str, Vector] = OrderedDict()
    lock = Lock()

    def embed_new(texts: Sequence[str]) -> list[Vector]:
        with lock:
            known = {text: kept[text] for text in texts if text in kept}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known |= zip(new, embed(new), strict=True)
        with lock:
            kept.update(known)
            while len(kept) > KEPT:
                kept.popitem(last=False)
        return [known[text] for text in texts]

    return embed_new


def blocked(code: str, reason: str) -> Settled:
    """Return the end of a row whose embedding could not be had."""
    return Settled(Score("blocked", reason=f"{code}: {reason}", code=code))


# ── a model on this machine ───────────────────────────────────────────────────────────


def local_model(settings: Settings) -> Embed:
    """Return the embedding of a sentence-transformers model (extra `embedding`)."""
    from pytest_evalcheck.checks.similarity import missing

    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise missing(error, "pip install 'pytest-evalcheck[embedding]'") from None
    try:
        model = SentenceTransformer(settings["model"])
    except (OSError, ValueError) as error:
        raise blocked(
            "judge_unavailable",
            f"the model {settings['model']!r} cannot be loaded: {shorten(str(error))}",
        ) from None
    return lambda texts: [[float(one) for one in row] for row in model.encode(list(texts))]


# ── an OpenAI-compatible endpoint ─────────────────────────────────────────────────────


def endpoint(settings: Settings) -> Embed:
    """Return the embedding through POST {base_url}/embeddings (extra `http`).

    Raises:
        Settled: blocked: httpx is not installed, or OpenAI's own endpoint lacks its key.
    """
    from pytest_evalcheck.checks.similarity import missing

    try:
        import httpx
    except ImportError as error:
        raise missing(error, "pip install 'pytest-evalcheck[http]'") from None
    base = settings["base_url"] or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
    if not is_address(base):
        raise blocked("judge_unavailable", f"$OPENAI_BASE_URL is no address: {base!r}")
    key = os.environ.get(settings["api_key_env"], "").strip()
    if not key and base == OPENAI_URL:
        raise blocked("judge_unavailable", f"${settings['api_key_env']} holds no API key")
    client = httpx.Client(
        timeout=settings["timeout_s"],
        headers={"Authorization": f"Bearer {key}"} if key else {},
    )
    url = f"{base.rstrip('/')}/embeddings"
    line = Line()

    def embed(texts: Sequence[str]) -> list[Vector]:
        body = {"model": settings["model"], "input": list(texts), "encoding_format": "float"}
        reply = line.carry(lambda attempts: post(client, url, body, attempts))
        return read_vectors(reply, len(texts))

    # A connection left open would be a ResourceWarning in the host's run.
    weakref.finalize(embed, client.close)
    return embed


class Refused(Settled):
    """The endpoint works, and does not take what one row asked of it."""


class Line:
    """The line to an endpoint: a dead one does not cost each row its attempts and waits.

    After a row in vain the next gets one attempt; after `HOPELESS` in a row nothing is
    asked any more.
    """

    def __init__(self) -> None:
        self._in_vain = 0
        self._trouble: Settled | None = None

    def carry(self, ask: Callable[[int], Any]) -> Any:
        """Return the reply to a request that is given the number of its attempts.

        Raises:
            Settled: blocked, with what the endpoint said, now or the last time.
        """
        if self._trouble is not None and self._in_vain >= HOPELESS:
            raise blocked(
                str(self._trouble.score.code),
                f"not asked after {HOPELESS} rows in vain, the last: {self._trouble.score.reason}",
            )
        try:
            reply = ask(1 if self._in_vain else ATTEMPTS)
        except Refused:
            self._in_vain = 0
            raise
        except Settled as trouble:
            self._trouble = trouble
            self._in_vain += 1
            raise
        self._in_vain = 0
        return reply


def post(client: Any, url: str, body: Mapping[str, Any], attempts: int) -> Any:
    """Return the reply to a request as JSON; what may pass is tried again.

    Raises:
        Settled: blocked, with what the endpoint said.
    """
    import httpx

    trouble = blocked("judge_unavailable", f"{url} gave no answer")
    for attempt in range(attempts):
        wait_s = 0.5 * 2**attempt
        try:
            reply = client.post(url, json=body)
        except httpx.TimeoutException:
            trouble = blocked("timeout", f"{url} did not answer in time")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            trouble = blocked("judge_unavailable", f"{url}: {shorten(str(error))}")
        else:
            if reply.is_success:
                return parsed(reply)
            trouble = blocked(
                "judge_unavailable", f"{url} answered {reply.status_code}: {shorten(reply.text)}"
            )
            if reply.status_code in REFUSALS:
                raise Refused(trouble.score)
            if reply.status_code not in (408, 409, 429) and reply.status_code < 500:
                break
            wait_s = retry_after_s(reply, wait_s)
        if attempt + 1 < attempts:
            time.sleep(min(wait_s, LONGEST_WAIT_S))
    raise trouble


def is_address(text: str) -> bool:
    """Tell whether a text is an address that can be asked: http or https, and a host."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def retry_after_s(reply: Any, otherwise: float) -> float:
    """Return the seconds a reply asks to wait, or another number where it says none."""
    said = reply.headers.get("retry-after", "")
    return float(said) if said.isdecimal() else otherwise


def parsed(reply: Any) -> Any:
    """Return a reply as JSON.

    Raises:
        Settled: blocked `judge_unparsable`.
    """
    try:
        return reply.json()
    except ValueError:
        raise blocked(
            "judge_unparsable", f"{reply.url} answered no JSON: {shorten(reply.text)}"
        ) from None


def read_vectors(reply: Any, count: int) -> list[Vector]:
    """Return the vectors of a reply in the order of the texts.

    Raises:
        Settled: blocked `judge_unparsable`: there are not so many, or they are no numbers.
    """
    try:
        data = sorted(reply["data"], key=lambda one: one["index"])
        vectors: list[Vector] = [[float(number) for number in one["embedding"]] for one in data]
    except (KeyError, TypeError, ValueError):
        raise blocked("judge_unparsable", "the reply holds no embeddings") from None
    if len(vectors) != count or not all(vectors):
        raise blocked("judge_unparsable", f"{len(vectors)} embeddings for {count} texts")
    return vectors
