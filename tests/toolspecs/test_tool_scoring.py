"""The six parts of a tool's score, each rule by a tool of our own."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tools import GOOD, good

from pytest_evalcheck.toolspecs import RULES_VERSION, score_tool
from pytest_evalcheck.toolspecs.arguments import walk_arguments
from pytest_evalcheck.toolspecs.catalog import average_of, rate
from pytest_evalcheck.toolspecs.lookalikes import to_places
from pytest_evalcheck.toolspecs.scoring import share_points
from pytest_evalcheck.toolspecs.words import VERBS, description_tokens, name_tokens


def part(name, **tool):
    return getattr(score_tool({"name": "widget_sorter", **tool}).parts, name)


def words(count):
    return " ".join(["copper"] * count)


def test_the_good_tool_has_every_point_and_no_finding():
    score = score_tool(GOOD)
    assert (score.total, score.parts.text()) == (100, "20/20/25/15/10/10")
    assert score.findings == ()
    assert score.rules_version == RULES_VERSION == 2


def test_a_restatement_in_two_words_with_a_bare_text_argument_gives_six():
    tool = {
        "name": "list_users",
        "description": "List users.",
        "inputSchema": {"type": "object", "properties": {"team": {"type": "string"}}},
    }
    score = score_tool(tool)
    assert (score.total, score.parts.text()) == (6, "6/0/0/0/0/0")


@pytest.mark.parametrize(
    ("text", "points"),
    [
        pytest.param("", 0, id="none"),
        pytest.param(" \n\t", 0, id="blank"),
        pytest.param("\u001c", 0, id="separators are blank"),
        pytest.param("Copper things here", 10, id="something"),
        pytest.param(words(11), 10, id="11 words"),
        pytest.param(words(12), 14, id="12 words"),
        pytest.param(words(24), 14, id="24 words"),
        pytest.param(words(25), 17, id="25 words"),
        pytest.param("Fetch copper", 13, id="a verb"),
        pytest.param("FETCH copper", 13, id="a verb in capitals"),
        pytest.param("Fetches copper", 10, id="not in base form"),
        pytest.param("Fetch " + words(24), 20, id="all of it"),
        pytest.param("A widget", 6, id="one of two name tokens restates"),
        pytest.param("Sort with widget " + words(7), 13, id="ten words are no restatement"),
    ],
)
def test_purpose(text, points):
    assert part("purpose", description=text) == points


@pytest.mark.parametrize(
    ("text", "points"),
    [
        pytest.param("Sorts copper.", 0, id="nothing"),
        pytest.param("Use this to sort.", 5, id="use this to"),
        pytest.param("Use it\nfor copper.", 5, id="over a line end"),
        pytest.param("Use if copper.", 5, id="use if"),
        pytest.param("Use when copper.", 10, id="use when, and when"),
        pytest.param("Only if copper.", 5, id="only if"),
        pytest.param("Do not sort.", 5, id="do not"),
        pytest.param("Don't sort.", 5, id="don't"),
        pytest.param("Don’t sort.", 5, id="don't, typographic"),
        pytest.param("Before calling sort", 5, id="before calling"),
        pytest.param("After sort", 5, id="after"),
        pytest.param("Requires copper", 5, id="requires"),
        pytest.param("Required copper", 0, id="required is another word"),
        pytest.param("It must, should and never break", 15, id="three cues"),
        pytest.param("It must, should, never and always break; avoid", 15, id="at most three"),
        pytest.param("Rather than lead", 5, id="disambiguation alone"),
        pytest.param("Not for lead", 10, id="a cue and a disambiguation"),
        pytest.param("Use copper instead", 10, id="use … instead"),
        pytest.param("Use copper\ninstead", 5, id="use … instead over two lines"),
        pytest.param("Must, should, never; instead of lead", 20, id="all of it"),
        pytest.param("whenever, éwhen, whené", 0, id="inside a word"),
    ],
)
def test_when_to_use(text, points):
    assert part("usage", description=text) == points


def schema(properties, **more):
    return {"type": "object", "properties": properties, **more}


BARE, TOLD = {"type": "string"}, {"type": "string", "description": "said"}


@pytest.mark.parametrize(
    ("input_schema", "points"),
    [
        pytest.param(None, 20, id="no schema"),
        pytest.param({}, 20, id="an empty schema"),
        pytest.param({"type": "object"}, 25, id="no arguments"),
        pytest.param(schema({"a": BARE}), 0, id="bare"),
        pytest.param(schema({"a": TOLD}), 15, id="described"),
        pytest.param(schema({"a": TOLD, "b": BARE}), 8, id="half of 15 goes to the even 8"),
        pytest.param(schema({"a": {**TOLD, "enum": ["x"]}, "b": BARE}), 10, id="2.5 goes to 2"),
        pytest.param(
            schema({c: {**BARE, "format": "uri"} for c in "abc"} | {"d": BARE}), 4, id="3.75"
        ),
        pytest.param(schema({"a": {"type": "integer"}}), 5, id="no strings"),
        pytest.param(schema({"a": {"type": ["string", "null"]}}), 5, id="a list is no string"),
        pytest.param(schema({"a": {**BARE, "default": None}}), 0, id="null is absent"),
        pytest.param(schema({"a": {**BARE, "default": ""}}), 5, id="an empty default"),
        pytest.param(schema({"a": BARE}, required=["a"]), 3, id="required"),
        pytest.param(schema({"a": BARE}, required=[]), 0, id="an empty required"),
        pytest.param(schema({"a": BARE}, additionalProperties=False), 2, id="closed"),
        pytest.param(schema({"a": BARE}, additionalProperties={}), 0, id="open"),
        pytest.param(schema({"a": {"description": " "}}), 5, id="a blank description"),
        pytest.param(schema({"a": True}), 5, id="a property that is a bare true"),
    ],
)
def test_arguments(input_schema, points):
    assert part("arguments", description="x", inputSchema=input_schema) == points


def test_arguments_are_found_at_every_level_but_behind_references():
    found = walk_arguments(
        schema(
            {
                "owner": schema({"id": BARE}),
                "tags": {"type": "array", "items": schema({"label": BARE})},
                "pair": {"items": [schema({"one": BARE}), schema({"two": BARE})]},
                "link": {"$ref": "#/$defs/link"},
            },
            anyOf=[schema({"any": {"oneOf": [schema({"deep": BARE})]}})],
            allOf=[schema({"all": BARE})],
            **{"$defs": {"link": schema({"url": BARE})}},
        )
    )
    assert [argument.path for argument in found] == [
        "owner",
        "owner.id",
        "tags",
        "tags[].label",
        "pair",
        "pair[].one",
        "pair[].two",
        "link",
        "any",
        "any.deep",
        "all",
    ]


def test_a_schema_that_holds_itself_or_is_ten_thousand_deep_is_walked_once():
    loop = schema({})
    loop["properties"]["again"] = loop
    assert [argument.path for argument in walk_arguments(loop)] == ["again"]
    deep = schema({"leaf": BARE})
    for _ in range(10_000):
        deep = schema({"in": deep})
    assert score_tool({"name": "deep", "inputSchema": deep}).arguments == 10_001


@pytest.mark.parametrize(
    ("text", "output_schema", "points"),
    [
        pytest.param("Sorts", None, 0, id="nothing"),
        pytest.param("Sorts", {}, 0, id="an empty schema"),
        pytest.param("Sorts", {"type": "object"}, 8, id="a schema"),
        pytest.param("Returns copper", None, 7, id="returns"),
        pytest.param("Gives back copper", None, 7, id="gives back"),
        pytest.param("Yields copper", {"type": "object"}, 15, id="both"),
        pytest.param("Error responses", None, 0, id="another form of the word"),
    ],
)
def test_return_value(text, output_schema, points):
    assert part("returns", description=text, outputSchema=output_schema) == points


@pytest.mark.parametrize(
    ("text", "annotations", "points"),
    [
        pytest.param("Sorts", {}, 0, id="nothing"),
        pytest.param("Sorts", {"title": "Sort"}, 5, id="a title"),
        pytest.param("Sorts", {"openWorldHint": False}, 5, id="open world"),
        pytest.param("Sorts", {"readOnlyHint": False}, 7, id="a hint"),
        pytest.param("Sorts", {"readOnlyHint": None}, 0, id="null is absent"),
        pytest.param("Sorts", {"custom": 1}, 0, id="an unknown one"),
        pytest.param("Cannot be undone", {"destructiveHint": True}, 10, id="all of it"),
        *(
            pytest.param(text, {}, 3, id=text)
            for text in (
                "A rate limit holds",
                "Rate\nlimits hold",
                "At most 5, the limit",
                "Read-only",
                "Slow and expensive",
                "Deprecated",
                "Costs 2 credits",
                "Results are paginated",
                "Has side effects",
                "Needs permission",
                "Needs authentication",
                "Idempotent",
                "Counts against the quota",
                "Requires an API key",
                "Requires a GitHub token",
                "Requires login",
                "May time out: the timeout is 5 s",
            )
        ),
        pytest.param("Limited", {}, 0, id="limited says not by what"),
        pytest.param("Requires copper", {}, 0, id="requires something else"),
    ],
)
def test_constraints(text, annotations, points):
    assert part("constraints", description=text, annotations=annotations) == points


@pytest.mark.parametrize(
    ("text", "argument", "points"),
    [
        pytest.param("Sorts", {}, 0, id="nothing"),
        pytest.param("Sorts, e.g. copper", {}, 5, id="e.g."),
        pytest.param("Sorts things such as copper", {}, 5, id="such as"),
        pytest.param("Sorts `copper`", {}, 5, id="backticks"),
        pytest.param('Sorts "copper"', {}, 5, id="quotes"),
        pytest.param("Sorts 'copper'", {}, 5, id="single quotes"),
        pytest.param("It doesn't sort what isn't copper", {}, 0, id="apostrophes"),
        pytest.param("Sorts `x`", {}, 0, id="one character"),
        pytest.param(f"Sorts `{'x' * 60}`", {}, 5, id="60 characters"),
        pytest.param(f"Sorts `{'x' * 61}`", {}, 0, id="61 characters"),
        pytest.param("Sorts", {"examples": ["x"]}, 5, id="an argument's examples"),
        pytest.param("Sorts", {"examples": []}, 0, id="none of them"),
        pytest.param("Sorts", {"description": "for example 5"}, 5, id="an argument's text"),
        pytest.param("For example", {"examples": ["x"]}, 10, id="all of it"),
    ],
)
def test_examples(text, argument, points):
    tool = {"description": text, "inputSchema": schema({"a": argument})}
    assert part("examples", **tool) == points


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("get_userName", ("get", "user", "Name")),
        ("API-get.page v2", ("API", "get", "page", "v2")),
        ("HTTPServer", ("HTTPServer",)),
        ("__", ()),
    ],
)
def test_a_name_is_split_at_marks_and_changes_of_case(name, tokens):
    assert name_tokens(name) == tokens


def test_a_description_keeps_telling_words():
    assert description_tokens("Get THE big-data of it, é42, x1y and to 99 users") == {
        "get",
        "big-data",
        "x1y",
        "users",
    }


def test_the_verbs_are_lower_case_and_two_to_three_hundred_odd():
    assert 200 <= len(VERBS) < 400
    assert all(verb.isalpha() and verb.islower() for verb in VERBS)


@pytest.mark.parametrize(
    ("totals", "average"),
    [
        pytest.param([24, 24, 24, 25], 24.2, id="24.25 goes to 24.2"),
        pytest.param([24, 24, 25, 24, 24, 25, 25, 23], 24.2, id="24.25 of eight"),
        pytest.param([1, 2, 2, 2], 1.8, id="1.75 goes to 1.8"),
        pytest.param([7], 7.0, id="one"),
        pytest.param([], None, id="none"),
    ],
)
def test_averages_have_one_decimal_halves_to_even(totals, average):
    assert average_of(totals) == average


def test_points_and_similarities_round_halves_to_even():
    assert share_points(5, [True, False]) == 2
    assert share_points(15, [True, False]) == 8
    assert to_places(Fraction(7, 8)) == 0.88
    assert to_places(Fraction(1, 8)) == 0.12


@pytest.mark.parametrize(
    ("total", "word"),
    [(100, "sunny"), (70, "sunny"), (69.9, "cloudy"), (40, "cloudy"), (39, "rain")],
)
def test_a_score_has_a_word(total, word):
    assert rate(total) == word


def test_a_tool_without_a_description_is_scored():
    assert score_tool(good(description=None)).parts.purpose == 0
