"""The score of a whole server: findings, look-alikes, shared notes."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools import good

from pytest_evalcheck.toolspecs import score_catalog
from pytest_evalcheck.toolspecs.catalog import remove_sentences, shared_sentences
from pytest_evalcheck.toolspecs.lookalikes import find_pairs
from pytest_evalcheck.toolspecs.words import description_tokens, name_tokens


def tool(name, description):
    return {"name": name, "description": description}


def distinct(count):
    return [tool(f"tool{at}", f"Weigh metal{at} alloy{at} ingot{at}") for at in range(count)]


NOTE = (
    "This server covers the archive of the city of Elbing alone, from 1772 up to 1945. "
    "Ask for older papers elsewhere, as they were lost."
)
ALIKE = [
    tool("open_box", "Open the copper box with its golden lid"),
    tool("shut_box", "Shut the copper box with its golden lid"),
]


def codes(tools, **more):
    return {(one.severity, one.code) for one in score_catalog(tools, **more).findings}


@pytest.mark.parametrize(
    ("finding", "faulty", "mended"),
    [
        pytest.param(("major", "too_many_tools"), distinct(41), distinct(40), id="41 tools"),
        pytest.param(("minor", "many_tools"), distinct(40), distinct(25), id="40 tools"),
        pytest.param(("minor", "many_tools"), distinct(26), distinct(25), id="26 tools"),
        pytest.param(
            ("minor", "confusable_pair"),
            ALIKE,
            [ALIKE[0], tool("shut_box", "Lower the lid until it clicks; the inverse of open_box")],
            id="a pair",
        ),
        pytest.param(
            ("minor", "confusable_pair_total"),
            [tool(f"t{at}", f"Weigh red blue green yellow metal{at}") for at in range(6)],
            [tool(f"t{at}", f"Weigh red blue green yellow metal{at}") for at in range(4)],
            id="15 pairs",
        ),
        pytest.param(
            ("critical", "identical_description"),
            [tool("a", "Weigh it"), tool("b", " Weigh it\n")],
            [tool("a", "Weigh it"), tool("b", "Weigh lead")],
            id="the same text",
        ),
        pytest.param(
            ("major", "repeated_note"),
            [tool(f"t{at}", f"Weigh metal{at}. {NOTE}") for at in range(3)],
            [tool(f"t{at}", f"Weigh metal{at}.") for at in range(3)],
            id="a note",
        ),
    ],
)
def test_a_finding_of_the_server_appears_and_is_gone_when_mended(finding, faulty, mended):
    assert finding in codes(faulty)
    assert finding not in codes(mended)


@pytest.mark.parametrize(
    ("instructions", "says", "code"),
    [
        pytest.param(None, False, None, id="a bare list cannot tell"),
        pytest.param(None, True, "instructions_missing", id="none"),
        pytest.param(" ", True, "instructions_missing", id="blank"),
        pytest.param("x" * 2048, True, None, id="2,048 characters"),
        pytest.param("x" * 2049, True, "instructions_long", id="2,049 characters"),
    ],
)
def test_instructions(instructions, says, code):
    found = codes([good()], instructions=instructions, says_instructions=says)
    assert found == ({("minor", code)} if code else set())


def test_a_group_of_the_same_text_is_one_finding_and_three_pairs():
    tools = [tool(name, "Weigh the copper ingot") for name in ("a", "b", "c")]
    score = score_catalog(tools)
    (same,) = [one for one in score.findings if one.code == "identical_description"]
    assert same.paths == ("a", "b", "c")
    assert score.pair_total == 3
    assert [(pair.first, pair.second) for pair in score.pairs] == [(0, 1), (0, 2), (1, 2)]
    assert {(pair.description, pair.name) for pair in score.pairs} == {(1.0, 0.0)}


def test_tools_without_a_description_are_no_pair():
    assert score_catalog([tool("a_b", ""), tool("a_b", " ")]).pair_total == 0


def test_names_alike_need_less_of_the_descriptions():
    words = "Weigh red blue"
    tools = [
        tool("user_get", f"{words} one two three"),
        tool("get_user", f"{words} four five six"),
        # Case is kept: User is another token than user.
        tool("getUser", f"{words} seven eight nine"),
    ]
    score = score_catalog(tools)
    assert [(p.first, p.second, p.description, p.name) for p in score.pairs] == []
    tools = [tool(one["name"], f"{one['description']} green") for one in tools]
    score = score_catalog(tools)
    assert [(p.first, p.second, p.description, p.name) for p in score.pairs] == [(0, 1, 0.4, 1.0)]


def test_seven_of_eight_tokens_are_a_similarity_of_0_88():
    seven = "alpha beta gamma delta epsilon zeta eta"
    (pair,) = score_catalog([tool("a", seven), tool("b", f"{seven} theta")]).pairs
    assert pair.description == 0.88


def test_the_twelve_most_alike_are_listed_and_the_rest_counted():
    score = score_catalog([tool(f"t{at}", "Weigh the copper ingot") for at in range(100)])
    assert score.pair_total == 4950
    assert [(pair.first, pair.second) for pair in score.pairs] == [(0, at) for at in range(1, 13)]


# ── notes ─────────────────────────────────────────────────────────────────────────────


def test_a_shared_note_counts_for_no_tool():
    own = [f"Weigh metal{at} when asked." for at in range(3)]
    plain = score_catalog([tool(f"t{at}", text) for at, text in enumerate(own)])
    noted = score_catalog([tool(f"t{at}", f"{text} {NOTE}") for at, text in enumerate(own)])
    assert [one.total for one in noted.tools] == [one.total for one in plain.tools]
    assert noted.pair_total == plain.pair_total
    assert len(noted.repeated) == 2


@pytest.mark.parametrize(
    ("texts", "shared"),
    [
        pytest.param([NOTE] * 2, False, id="two tools"),
        pytest.param([NOTE] * 3 + ["Weigh"] * 3, True, id="half of six"),
        pytest.param([NOTE] * 3 + ["Weigh"] * 4, False, id="three of seven"),
        pytest.param(["Ask elsewhere for what was lost in the fire."] * 3, False, id="few words"),
        pytest.param([f"{NOTE}\n", f" {NOTE}", NOTE.replace(" ", "  ")], True, id="white space"),
    ],
)
def test_what_counts_as_shared(texts, shared):
    assert bool(shared_sentences(texts)) is shared


def test_taking_a_sentence_out_leaves_the_rest_as_it_stands():
    text = "Weigh it.\n\n  Twice!\n  Ask e.g. Bob? Done"
    kept = remove_sentences(text, frozenset({"Twice!"}))
    assert kept == "Weigh it.\n\n\n  Ask e.g. Bob? Done"


# ── the pair search ───────────────────────────────────────────────────────────────────


def pairs_one_by_one(descriptions, names):
    def alike(one, other):
        return len(one & other) / len(one | other) if one | other else 0.0

    found = []
    for first in range(len(names)):
        for second in range(first + 1, len(names)):
            text = alike(descriptions[first], descriptions[second])
            name = alike(names[first], names[second])
            if text >= 0.6 or (name >= 0.66 and text >= 0.35):
                found.append((-text, first, second))
    return sorted(found)


TOKENS = st.frozensets(st.sampled_from("abcdefgh"), max_size=6)


@given(st.lists(st.tuples(TOKENS, TOKENS), max_size=25))
def test_the_pair_search_finds_what_comparing_all_with_all_finds(sets):
    descriptions = [one for one, _ in sets]
    names = [other for _, other in sets]
    wanted = pairs_one_by_one(descriptions, names)
    pairs, total = find_pairs(descriptions, names, most=12)
    assert total == len(wanted)
    assert [(pair.first, pair.second) for pair in pairs] == [pair[1:] for pair in wanted[:12]]


def many(kind):
    chosen = random.Random(7)
    vocabulary = [f"word{at}" for at in range(3000)]
    for at in range(5000):
        name = f"{chosen.choice(vocabulary)}_{chosen.choice(vocabulary)}"
        text = {
            "distinct": " ".join(chosen.choices(vocabulary, k=40)),
            "template": f"Get the thing{at} of the customer account in the billing system.",
            "identical": "Get the thing of the customer account in the billing system.",
        }[kind]
        schema = {"properties": {"id": {"type": "string", "description": "Which one it is"}}}
        yield {"name": name, "description": text, "inputSchema": schema}


@pytest.mark.parametrize("kind", ["distinct", "template", "identical"])
def test_five_thousand_tools_take_less_than_ten_seconds(kind):
    tools = list(many(kind))
    start = time.process_time()
    score = score_catalog(tools)
    assert time.process_time() - start < 10
    assert len(score.tools) == 5000
    assert score.pair_total == {"distinct": 0}.get(kind, 5000 * 4999 // 2)


def test_tokens_of_names_and_texts_are_what_is_compared():
    one, other = ALIKE
    wanted = pairs_one_by_one(
        [description_tokens(one["description"]), description_tokens(other["description"])],
        [frozenset(name_tokens(one["name"])), frozenset(name_tokens(other["name"]))],
    )
    assert score_catalog(ALIKE).pair_total == len(wanted) == 1
