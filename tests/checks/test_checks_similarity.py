"""Similarity is what the reference libraries say, and says so when they cannot be had."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import problems_of, score

from pytest_evalcheck.checks import compile_check
from pytest_evalcheck.checks.embeddings import cosine
from pytest_evalcheck.checks.target import Settled
from pytest_evalcheck.model import Row

for library in ("rapidfuzz", "rouge_score", "sacrebleu"):
    pytest.importorskip(library)

METHODS = ("levenshtein", "jaro_winkler", "rouge1", "rouge2", "rougeL", "bleu", "chrf")
CHECKS = {name: compile_check({"check": "similarity", "method": name}) for name in METHODS}
WORDS = st.lists(
    st.sampled_from(["The", "cat", "cats", "sat", "on", "a", "mat", "mat.", "42", "Straße", "猫"]),
    min_size=1, max_size=12,
).map(" ".join)  # fmt: skip
TEXTS = WORDS | st.text(max_size=30)


def figures():
    """Each method as its library computes it: (output, expected) -> 0..1."""
    import sacrebleu
    from rapidfuzz.distance import JaroWinkler, Levenshtein
    from rouge_score.rouge_scorer import RougeScorer

    def rouge(name):
        scorer = RougeScorer([name], use_stemmer=False)
        return lambda output, expected: scorer.score(expected, output)[name].fmeasure

    return {
        "levenshtein": Levenshtein.normalized_similarity,
        "jaro_winkler": JaroWinkler.similarity,
        **{name: rouge(name) for name in ("rouge1", "rouge2", "rougeL")},
        "bleu": lambda output, expected: sacrebleu.sentence_bleu(output, [expected]).score / 100,
        "chrf": lambda output, expected: sacrebleu.sentence_chrf(output, [expected]).score / 100,
    }


@pytest.fixture(scope="module")
def reference():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return figures()


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=150, deadline=None)
@given(output=TEXTS, expected=TEXTS)
def test_the_figure_is_that_of_the_reference_library(reference, method, output, expected):
    found = CHECKS[method].score(Row(output=output, expected=expected))
    if found.status == "non_evaluable":
        assert found.code == "expected_unusable"
        assert not expected.strip() or reference[method](output, expected) == 0
    else:
        assert found.value == pytest.approx(reference[method](output, expected), abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=50, deadline=None)
@given(text=TEXTS)
def test_a_text_is_as_near_to_itself_as_can_be(method, text):
    found = CHECKS[method].score(Row(output=text, expected=text))
    assert found.status == "non_evaluable" or (found.value, found.passed) == (1.0, True), found


@pytest.mark.parametrize(
    ("method", "output", "expected", "value"),
    [
        ("levenshtein", "kitten", "sitting", 1 - 3 / 7),
        ("jaro_winkler", "MARTHA", "MARHTA", 0.9611111),
        ("rouge1", "the cat sat", "the cat lay down", 4 / 7),
        ("rouge2", "the cat sat", "the cat lay down", 2 / 5),
        ("rougeL", "the cat sat on", "cat the sat", 4 / 7),
        ("bleu", "a b c d", "a b c d", 1.0),
        ("chrf", "", "abc", 0.0),
    ],
)
def test_known_pairs_have_their_known_figures(method, output, expected, value):
    found = CHECKS[method].score(Row(output=output, expected=expected))
    assert found.value == pytest.approx(value, abs=1e-6)


def test_the_stems_are_porters_as_rouge_score_has_them(reference):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(["rouge1"], use_stemmer=True)
    output, expected = "running dogs jumped easily", "the dog runs and jumps easy"
    found = score("similarity", output, expected, method="rouge1", stemmer=True)
    assert found.value == pytest.approx(scorer.score(expected, output)["rouge1"].fmeasure)
    assert found.value > score("similarity", output, expected, method="rouge1").value


def test_the_nearest_of_several_expected_texts_counts():
    found = score("similarity", "cat", ["dog", "cart"])
    assert found.value == pytest.approx(0.75)
    assert score("similarity", "cat", None, value=["dog", "cat"]).passed


def test_texts_are_compared_as_written_unless_asked_otherwise():
    assert score("similarity", "STRASSE", "straße").value < 1
    assert score("similarity", "STRASSE", "straße", case_sensitive=False).value == 1
    assert score("similarity", " a ", "a", strip=True).value == 1


def test_the_threshold_decides_and_a_failure_says_the_figure():
    assert score("similarity", "kitten", "sitting", threshold=0.5714).passed
    found = score("similarity", "kitten", "sitting", threshold=0.6)
    assert found.reason == (
        "found 'kitten', expected text near to 'sitting' by levenshtein "
        "(score 0.5714, threshold 0.6)"
    )


@pytest.mark.parametrize("expected", ["", "  ", [], ["a", " "], [None]])
def test_a_blank_expected_text_is_no_perfect_match(expected):
    # confident-ai/deepeval#3220: two blank texts matched with 1.0
    found = score("similarity", expected if isinstance(expected, str) else "", expected)
    assert (found.status, found.code) == ("non_evaluable", "expected_unusable")


def test_rouge_says_which_texts_it_cannot_read():
    found = score("similarity", "猫が好き", "猫が好き", method="rouge1")
    assert found.code == "expected_unusable"
    assert "ROUGE reads words of a-z and 0-9" in found.reason


def test_a_long_text_is_compared_in_little_time():
    import time

    text = " ".join(f"w{n % 977}" for n in range(8000))
    began = time.process_time()
    assert CHECKS["rougeL"].score(Row(output=text, expected=text + " x")).value > 0.99
    assert CHECKS["levenshtein"].score(Row(output=text, expected=text + " x")).value > 0.99
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "cosine"}, "one of levenshtein"),
        ({"method": "embedding"}, "model: model: embedding without a model"),
        ({"method": "bleu", "model": "m"}, "does not use model"),
        ({"method": "bleu", "stemmer": True}, "does not use stemmer"),
        ({"method": "embedding", "model": "m", "timeout_s": 0}, "seconds above 0"),
        (
            {"method": "embedding", "model": "m", "provider": "sentence_transformers",
             "base_url": "http://x"},
            "does not use base_url",
        ),
        *(
            ({"method": "embedding", "model": "m", "base_url": url}, "an address such as")
            for url in ("localhost:11434", "ftp://x/v1", "http://", "http://x:port/v1", "${URL}/v1")
        ),
        ({"value": " "}, "blank"),
        ({"threshold": 0}, "cannot fail"),
    ],
)  # fmt: skip
def test_a_miswritten_similarity_is_told_when_loading(options, said):
    assert any(said in problem for problem in problems_of("similarity", **options))


MISSING = """
import sys
for name in {names!r}:
    sys.modules[name] = None
from pytest_evalcheck import score
found = score({metric!r}, {{"output": "a b", "expected": "a b"}})
print(found.status, found.reason)
"""


@pytest.mark.parametrize(
    ("options", "install"),
    [
        *(({"method": method}, "text") for method in METHODS),
        ({"method": "embedding", "model": "m"}, "http"),
        ({"method": "embedding", "model": "m", "provider": "sentence_transformers"}, "embedding"),
    ],
)
def test_a_missing_library_blocks_with_the_command_that_installs_it(options, install):
    names = ["rapidfuzz", "rouge_score", "sacrebleu", "httpx", "sentence_transformers"]
    program = MISSING.format(names=names, metric={"check": "similarity", **options})
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("blocked dependency_missing: ")
    assert f"pip install 'pytest-evalcheck[{install}]'" in ran.stdout


def test_nothing_is_imported_before_a_row_is_scored():
    program = (
        "import sys\n"
        "from pytest_evalcheck.checks import compile_check\n"
        "compile_check({'check': 'similarity', 'method': 'bleu', 'compare_to': 'expected'})\n"
        "print([n for n in ('rapidfuzz', 'rouge_score', 'sacrebleu', 'httpx') if n in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"


# ── embeddings ────────────────────────────────────────────────────────────────────────

VECTORS = {"cat": [1.0, 0.0], "kitten": [0.6, 0.8], "anti": [-1.0, 0.0], "zero": [0.0, 0.0]}


class Endpoint(BaseHTTPRequestHandler):
    """Answers as an embeddings endpoint does; what comes first is in `server.before`."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, self.headers.get("Authorization"), body))
        status, text = 200, None
        if self.server.before:
            status, text = self.server.before.pop(0)
        if text is None:
            data = [
                {"index": index, "embedding": VECTORS[one]}
                for index, one in reversed(list(enumerate(body["input"])))
            ]
            text = json.dumps({"data": data})
        self.send_response(status)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        """Print nothing."""


class KeepAlive(Endpoint):
    """Leaves the connection open for the next request."""

    protocol_version = "HTTP/1.1"


@pytest.fixture
def server(monkeypatch):
    pytest.importorskip("httpx")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = HTTPServer(("127.0.0.1", 0), Endpoint)
    made.seen, made.before = [], []
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def embedding(server, **options):
    return compile_check(
        {
            "check": "similarity",
            "method": "embedding",
            "model": "small",
            "base_url": f"http://127.0.0.1:{server.server_port}/v1",
            "api_key_env": "SOME_KEY",
            **options,
        }
    )


def test_an_embedding_is_asked_for_once_and_compared_by_its_cosine(server, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "k1")
    check = embedding(server, threshold=0.6)
    assert check.score(Row(output="kitten", expected="cat")).value == pytest.approx(0.6)
    assert check.score(Row(output="cat", expected="kitten")).passed
    assert check.score(Row(output="anti", expected="cat")).value == 0.0
    assert check.score(Row(output=" ", expected="cat")).value == 0.0
    assert [(path, key, body["input"]) for path, key, body in server.seen] == [
        ("/v1/embeddings", "Bearer k1", ["kitten", "cat"]),
        ("/v1/embeddings", "Bearer k1", ["anti"]),
    ]
    assert server.seen[0][2]["model"] == "small"


def test_a_trouble_that_may_pass_is_tried_again(server):
    server.before = [(429, "slow down"), (503, "busy")]
    assert embedding(server).score(Row(output="cat", expected="cat")).value == pytest.approx(1)
    assert len(server.seen) == 3
    assert server.seen[0][1] is None


@pytest.mark.parametrize(
    ("before", "code", "said"),
    [
        ([(401, "bad key")], "judge_unavailable", "answered 401: bad key"),
        ([(500, "broken")] * 3, "judge_unavailable", "answered 500: broken"),
        ([(200, "<html>")], "judge_unparsable", "no JSON"),
        ([(200, "{}")], "judge_unparsable", "no embeddings"),
        ([(200, '{"data": []}')], "judge_unparsable", "0 embeddings for 2 texts"),
        (
            [(200, '{"data": [{"index": 0, "embedding":[1]}, {"index": 1, "embedding": [1, 2]}]}')],
            "judge_unparsable", "one length",
        ),
        (
            [(200, '{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}')],
            "judge_unparsable", "one length",
        ),
    ],
)  # fmt: skip
def test_an_endpoint_that_fails_blocks_the_row(server, before, code, said):
    server.before = list(before)
    found = embedding(server).score(Row(output="cat", expected="kitten"))
    assert (found.status, found.code) == ("blocked", code)
    assert said in found.reason


def test_a_dead_endpoint_does_not_cost_each_row_its_attempts(server):
    server.before = [(503, "down")] * 20
    check = embedding(server)
    rows = [Row(output=name, expected="kitten") for name in ("cat", "anti") * 4]
    found = [check.score(row) for row in rows]
    assert {(one.status, one.code) for one in found} == {("blocked", "judge_unavailable")}
    # Three attempts for the first row, one for each of the next, none after five in vain.
    assert len(server.seen) == 3 + 4
    assert "not asked after 5 rows in vain" in found[-1].reason
    assert "answered 503: down" in found[-1].reason


def test_an_endpoint_that_comes_back_is_asked_on(server):
    server.before = [(503, "down")] * 4
    check = embedding(server)
    row = Row(output="cat", expected="kitten")
    assert [check.score(row).status for _ in range(3)] == ["blocked", "blocked", "scored"]


def test_rows_that_an_endpoint_refuses_do_not_stop_the_others(server):
    server.before = [(400, "too long")] * 7
    check = embedding(server)
    row = Row(output="cat", expected="kitten")
    found = [check.score(row) for _ in range(8)]
    assert [one.status for one in found] == ["blocked"] * 7 + ["scored"]
    assert "answered 400: too long" in found[6].reason


def test_no_connection_is_left_open(server):
    program = (
        "import gc, os\n"
        "from pytest_evalcheck.checks import compile_check\n"
        "from pytest_evalcheck.model import Row\n"
        "check = compile_check({'check': 'similarity', 'method': 'embedding', 'model': 'm',\n"
        f"    'base_url': 'http://127.0.0.1:{server.server_port}/v1'}})\n"
        "print(check.score(Row(output='cat', expected='kitten')).status)\n"
        "del check; gc.collect()\n"
    )
    server.RequestHandlerClass = KeepAlive
    ran = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("scored\n", "")


def test_no_endpoint_and_no_key_block_the_row(monkeypatch):
    pytest.importorskip("httpx")
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    found = score("similarity", "a", "b", method="embedding", model="m")
    assert (found.status, found.code) == ("blocked", "judge_unavailable")
    assert "$OPENAI_API_KEY holds no API key" in found.reason
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost")
    found = score("similarity", "a", "b", method="embedding", model="m")
    assert "$OPENAI_BASE_URL is no address: 'localhost'" in found.reason


def test_a_model_on_this_machine_is_used_through_its_package(monkeypatch):
    class SentenceTransformer:
        def __init__(self, name):
            if name != "mini":
                raise OSError(f"no model {name}")

        def encode(self, texts):
            return [VECTORS[text] for text in texts]

    module = type(sys)("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    options = {"method": "embedding", "provider": "sentence_transformers"}
    assert score("similarity", "kitten", "cat", model="mini", **options).value == pytest.approx(0.6)
    assert score("similarity", "kitten", "cat", model="huge", **options).status == "blocked"


def test_vectors_without_a_direction_have_no_cosine():
    with pytest.raises(Settled):
        cosine([0.0, 0.0], [1.0, 0.0])
