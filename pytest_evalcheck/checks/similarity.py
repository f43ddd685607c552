"""How near a text is to an expected one, by the figures of the reference libraries (extra `text`).

Each method gives what its library gives: rapidfuzz for edit distances, rouge-score for
ROUGE, sacrebleu for BLEU and chrF (0..1 instead of 0..100). Texts are compared as written.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pytest_evalcheck.checks.options import Option, Settings
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import (
    Finding,
    OperandError,
    Plan,
    Settled,
    as_text,
    fold,
    keep,
    quote,
)
from pytest_evalcheck.model import Score

__all__: list[str] = []

# (text, expected texts) -> 0..1
Measure = Callable[[str, Sequence[str]], float]

INSTALL: Final = "pip install 'pytest-evalcheck[text]'"


@check(
    "similarity",
    Option(
        name="method",
        kind="choice",
        choices=(
            "levenshtein",
            "jaro_winkler",
            "rouge1",
            "rouge2",
            "rougeL",
            "bleu",
            "chrf",
            "embedding",
        ),
        default="levenshtein",
        summary="what is measured",
    ),
    Option(
        name="value", kind="any", summary="the expected text, or a list of which the nearest counts"
    ),
    Option(name="case_sensitive", kind="bool", default=True, summary="compare as written"),
    Option(
        name="stemmer", kind="bool", default=False, summary="ROUGE over Porter stems, as ADK does"
    ),
    Option(name="model", kind="filled_text", summary="embedding: the model; required"),
    Option(
        name="provider",
        kind="choice",
        choices=("openai", "sentence_transformers"),
        default="openai",
        summary="embedding: an OpenAI-compatible endpoint, or a model on this machine",
    ),
    Option(
        name="base_url",
        kind="filled_text",
        summary="embedding: the endpoint; $OPENAI_BASE_URL or OpenAI's own if not given",
    ),
    Option(
        name="api_key_env",
        kind="filled_text",
        default="OPENAI_API_KEY",
        summary="embedding: the environment variable that holds the key",
    ),
    Option(
        name="timeout_s",
        kind="amount",
        default=30,
        summary="embedding: seconds one request may take",
    ),
    summary="the similarity to the expected text, by the method's reference library, reaches "
    "threshold",
    score="share",
)
def build_similarity(settings: Settings) -> Plan:
    """Compile `similarity`; libraries are imported with the first row that is scored."""
    check_options(settings)
    method = settings["method"]
    form = keep if settings["case_sensitive"] else fold
    measure = once(lambda: load_measure(settings))
    readable = READABLE.get(method)

    def read(raw: Any) -> tuple[str, ...]:
        texts = raw if isinstance(raw, list | tuple) and raw else [raw]
        expected = tuple(form(as_text(one)) for one in texts)
        if raw == [] or any(one is None for one in texts):
            raise OperandError("nothing", "a text or a list of texts")
        if not all(one.strip() for one in expected):
            raise OperandError("a blank text", "a text that says something")
        return expected

    def compare(text: str, expected: tuple[str, ...]) -> Finding:
        if readable is not None:
            expected = readable_texts(expected, *readable)
        share = min(measure()(form(text), expected), 1.0)
        wanted = f"text near to {' or '.join(quote(one) for one in expected[:3])} by {method}"
        return Finding(None, share, wanted=wanted, wanted_text=expected[0])

    return Plan(compare=compare, reads="plain", operand=read, operand_optional=True)


def check_options(settings: Settings) -> None:
    """Refuse options that belong to another method, and an embedding without a model."""
    embeds = settings["method"] == "embedding"
    if embeds and settings["model"] is None:
        raise settings.problem("model", "embedding without a model", "the name of the model")
    own = {
        "stemmer": settings["method"].startswith("rouge"),
        "model": embeds,
        "provider": embeds,
        "base_url": embeds and settings["provider"] == "openai",
        "api_key_env": embeds and settings["provider"] == "openai",
        "timeout_s": embeds and settings["provider"] == "openai",
    }
    for name, fits in own.items():
        if name in settings.given and not fits:
            raise settings.problem(
                name, f"method: {settings['method']} does not use {name}", fix="Drop it."
            )
    if settings["base_url"] is not None:
        from pytest_evalcheck.checks.embeddings import is_address

        if not is_address(settings["base_url"]):
            raise settings.problem(
                "base_url",
                f"{settings['base_url']!r}",
                "an address such as http://localhost:11434/v1",
                "Leave it out to take $OPENAI_BASE_URL.",
            )
    if settings["timeout_s"] == 0:
        raise settings.problem("timeout_s", "0", "seconds above 0")


def once(load: Callable[[], Measure]) -> Callable[[], Measure]:
    """Return a function that loads a measure with its first call and keeps it."""
    loaded: list[Measure] = []

    def get() -> Measure:
        if not loaded:
            loaded.append(load())
        return loaded[0]

    return get


def load_measure(settings: Settings) -> Measure:
    """Return the measure of a method.

    Raises:
        Settled: blocked `dependency_missing`, with the command that installs it.
    """
    method = settings["method"]
    if method == "embedding":
        from pytest_evalcheck.checks.embeddings import load_embedding

        return load_embedding(settings)
    try:
        with warnings.catch_warnings():
            # A warning inside another library's import says nothing of the row.
            warnings.simplefilter("ignore")
            return LOADERS[method](settings)
    except ImportError as error:
        raise missing(error, INSTALL) from None


def missing(error: ImportError, install: str) -> Settled:
    """Return the end of a row whose check needs a package that is not installed."""
    name = (error.name or str(error)).partition(".")[0]
    reason = f"dependency_missing: {name} is not installed. Run: {install}"
    return Settled(Score("blocked", code="dependency_missing", reason=reason))


def nearest(measure: Callable[[str, str], float]) -> Measure:
    """Return the measure against several texts: that of the nearest."""
    return lambda text, expected: max(measure(text, one) for one in expected)


# ── edit distances ────────────────────────────────────────────────────────────────────


def load_levenshtein(_settings: Settings) -> Measure:
    """Return 1 - distance / length of the longer text (rapidfuzz, normalized_similarity)."""
    from rapidfuzz.distance import Levenshtein

    return nearest(Levenshtein.normalized_similarity)


def load_jaro_winkler(_settings: Settings) -> Measure:
    """Return Jaro-Winkler's similarity with its prefix weight of 0.1 (rapidfuzz)."""
    from rapidfuzz.distance import JaroWinkler

    return nearest(JaroWinkler.similarity)


# ── ROUGE ─────────────────────────────────────────────────────────────────────────────


def load_tokens(settings: Settings) -> Callable[[str], list[str]]:
    """Return rouge-score's tokens of a text: runs of a-z and 0-9, lower case."""
    from rouge_score.tokenize import tokenize

    stemmer = None
    if settings["stemmer"]:
        from nltk.stem.porter import PorterStemmer

        stemmer = PorterStemmer()
    return lambda text: list(tokenize(text, stemmer))


def f_measure(shared: int, found: int, wanted: int) -> float:
    """Return the harmonic mean of precision and recall as rouge-score computes it."""
    precision, recall = shared / max(found, 1), shared / max(wanted, 1)
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def load_rouge_n(size: int) -> Callable[[Settings], Measure]:
    """Return the loader of ROUGE-N: the F-measure of shared n-grams (Lin 2004)."""

    def load(settings: Settings) -> Measure:
        tokens = load_tokens(settings)

        def grams(text: str) -> Counter[tuple[str, ...]]:
            words = tokens(text)
            return Counter(zip(*(words[start:] for start in range(size)), strict=False))

        def measure(text: str, expected: str) -> float:
            found, wanted = grams(text), grams(expected)
            return f_measure((found & wanted).total(), found.total(), wanted.total())

        return nearest(measure)

    return load


def load_rouge_l(settings: Settings) -> Measure:
    """Return ROUGE-L: the F-measure of the longest common subsequence (Lin 2004).

    rapidfuzz finds it in a fraction of the time; the figure is rouge-score's.
    """
    from rapidfuzz.distance import LCSseq

    tokens = load_tokens(settings)

    def measure(text: str, expected: str) -> float:
        found, wanted = tokens(text), tokens(expected)
        return f_measure(LCSseq.similarity(found, wanted), len(found), len(wanted))

    return nearest(measure)


def readable_texts(expected: tuple[str, ...], size: int) -> tuple[str, ...]:
    """Return the expected texts that ROUGE can compare at all.

    Raises:
        Settled: none of them has enough tokens, so that no output could score.
    """
    import re

    fit = tuple(one for one in expected if len(re.findall(r"[a-z0-9]+", one.lower())) >= size)
    if not fit:
        raise Settled.missing(
            "expected_unusable",
            f"ROUGE reads words of a-z and 0-9, and {quote(expected[0])} has fewer than {size}",
        )
    return fit


# The least number of tokens without which a method is 0 whatever the output.
READABLE: Final[Mapping[str, tuple[int]]] = {"rouge1": (1,), "rouge2": (2,), "rougeL": (1,)}


# ── BLEU and chrF ─────────────────────────────────────────────────────────────────────


def load_bleu(_settings: Settings) -> Measure:
    """Return sentence BLEU as sacrebleu computes it (13a tokens, exp smoothing), 0..1."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True)
    return lambda text, expected: float(metric.sentence_score(text, list(expected)).score) / 100


def load_chrf(_settings: Settings) -> Measure:
    """Return sentence chrF2 as sacrebleu computes it, 0..1."""
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF()
    return lambda text, expected: float(metric.sentence_score(text, list(expected)).score) / 100


LOADERS: Final[Mapping[str, Callable[[Settings], Measure]]] = {
    "levenshtein": load_levenshtein,
    "jaro_winkler": load_jaro_winkler,
    "rouge1": load_rouge_n(1),
    "rouge2": load_rouge_n(2),
    "rougeL": load_rouge_l,
    "bleu": load_bleu,
    "chrf": load_chrf,
}
