"""Rubrics: what deserves which score, in a metric entry or in a file of several criteria."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.judges.scales import Direction, Scale, is_number, label_problems, labels_scale

__all__ = [
    "FIVE_STARS",
    "SCALE_KEYS",
    "Criterion",
    "Rubric",
    "read_rubric_file",
    "read_scale",
    "threshold_problems",
]

# CompletionKit's text for a band that was left empty says the same things.
FIVE_STARS: Final[Mapping[int, str]] = {
    5: "meets the instruction in full, nothing worth mentioning is amiss",
    4: "meets the instruction well, with minor flaws only",
    3: "meets the instruction in the main, with clear room for improvement",
    2: "meets the instruction in part, with large gaps or frequent errors",
    1: "does not meet the instruction, or misses its point",
}
SCALE_KEYS: Final = ("rubric_bands", "scale", "labels")
CLAIM_SCALES: Final = ("claims_supported", "claims_unsupported")
STAR_KEYS: Final = ("stars", "score")
TEXT_KEYS: Final = ("description", "text")
CRITERION_KEYS: Final = ("name", "instruction", "description", *SCALE_KEYS, "check")
FILE_KEYS: Final = ("instruction", "description", "criteria")
BAND_LINE: Final = re.compile(
    r"\s*[-*+]\s+\*{0,2}(-?\d+(?:\.\d+)?)\*{0,2}\s*(?::|=|-|–|—)\*{0,2}\s+(\S.*)"
)
SCALE_LINE: Final = re.compile(
    r"\s*(?:[-*+]\s+)?\*{0,2}(?:scale|type)\*{0,2}:\*{0,2}\s*(\S.*?)\s*", re.I
)
BOUNDS: Final = re.compile(r"\[?\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|to|,)\s*(-?\d+(?:\.\d+)?)\s*\]?")
MAX_FILE_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One criterion of a rubric file.

    Attributes:
        name: by which its verdict is found in a reply; unique in the file.
        instruction: what to look at.
        scale: what the judge answers; that of a check is its range.
        check: the options of a check that scores it without the judge, or None.
    """

    name: str
    instruction: str = ""
    scale: Scale
    check: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A rubric file.

    Attributes:
        instruction: what stands before the criteria; the whole text when there are none.
        criteria: the criteria, or nothing for a longer instruction.
    """

    instruction: str = ""
    criteria: tuple[Criterion, ...] = ()


def read_scale(entry: Mapping[str, Any], *, default: Scale | None = None) -> Scale:
    """Return the scale of a metric entry or a criterion.

    Args:
        entry: the mapping that holds `rubric_bands`, `scale` or `labels`.
        default: what an entry without a scale gets.

    Raises:
        ConfigError: with every mistake; there is none, or more than one.
    """
    given = [key for key in SCALE_KEYS if entry.get(key) is not None]
    if len(given) > 1:
        raise ConfigError(
            Problem(
                found=f"{' and '.join(given)} together",
                expected="one of them",
                where=given[1],
                keys=(given[1],),
            )
        )
    if not given:
        if default is not None:
            return default
        raise ConfigError(
            Problem(
                found="a judge metric without a scale",
                expected="rubric_bands, scale or labels",
                fix="Write what deserves which score: rubric_bands: {5: ..., 3: ..., 1: ...}.",
            )
        )
    key = given[0]
    if key == "rubric_bands":
        return read_bands(entry[key])
    if key == "labels":
        problems = label_problems(entry[key])
        if problems:
            raise ConfigError(problems)
        return labels_scale(entry[key])
    return read_plain_scale(entry[key])


def read_plain_scale(written: Any) -> Scale:
    """Return the scale that `scale:` names.

    Raises:
        ConfigError: it names none.
    """
    if written in ("pass_fail", "bool"):
        return Scale(kind="pass_fail")
    if isinstance(written, list | tuple) and len(written) == 2 and all(map(is_number, written)):
        low, high = written
        if low < high:
            whole = all(float(bound).is_integer() for bound in written) and (low, high) != (0, 1)
            return Scale(kind="number", low=float(low), high=float(high), whole=whole)
    offered = near(written, ("pass_fail", *CLAIM_SCALES)) if isinstance(written, str) else ""
    raise ConfigError(
        Problem(
            found=f"the scale {written!r}",
            expected="[lowest, highest] or pass_fail",
            fix=offered
            or ("Write `labels: {label: score}`." if isinstance(written, Mapping) else ""),
            where="scale",
            keys=("scale",),
        )
    )


def read_bands(written: Any) -> Scale:
    """Return the scale of `rubric_bands`.

    Taken are a mapping of score to text; a list of texts, the first of which is the band
    of 1; `stars`, or a list of `{stars, description}` as CompletionKit writes it, for which
    a missing or empty band gets a stock text.

    Raises:
        ConfigError: with every mistake.
    """
    if written == "stars":
        return bands_scale({float(stars): text for stars, text in FIVE_STARS.items()})
    if isinstance(written, Mapping) and any(isinstance(one, Mapping) for one in written.values()):
        written = list(written.values())
    if isinstance(written, list | tuple):
        if any(isinstance(one, Mapping) for one in written):
            return read_star_bands(written)
        written = dict(enumerate(written, start=1))
    if not isinstance(written, Mapping) or len(written) < 2:
        raise ConfigError(
            Problem(
                found=f"rubric_bands {shortened(written)}",
                expected="two scores or more, each with what deserves it",
                where="rubric_bands",
                keys=("rubric_bands",),
            )
        )
    problems = []
    bands: dict[float, str] = {}
    for key, text in written.items():
        score = band_score(key)
        place = ("rubric_bands", key if isinstance(key, str | int) else str(key))
        if score is None or score in bands:
            found = f"the band {key!r}" + (" a second time" if score is not None else "")
            problems.append(Problem(found=found, expected="a score of its own", keys=place))
        elif not isinstance(text, str) or not text.strip():
            problems.append(
                Problem(found=f"the text {text!r}", expected=f"what deserves {key}", keys=place)
            )
        else:
            bands[score] = text.strip()
    if problems:
        raise ConfigError(replace(one, where="rubric_bands") for one in problems)
    return bands_scale(bands)


def read_star_bands(written: Iterable[Any]) -> Scale:
    """Return the scale of one to five stars.

    Raises:
        ConfigError: with every mistake.
    """
    problems = []
    bands = {float(stars): text for stars, text in FIVE_STARS.items()}
    seen = set()
    for index, band in enumerate(written):
        fields = band if isinstance(band, Mapping) else {}
        stars = next((band_score(fields[key]) for key in STAR_KEYS if key in fields), None)
        text = next((fields[key] for key in TEXT_KEYS if key in fields), None)
        unknown = [key for key in fields if key not in (*STAR_KEYS, *TEXT_KEYS)]
        if stars not in bands or stars in seen or unknown or not isinstance(text, str | None):
            problems.append(
                Problem(
                    found=f"the band {shortened(band)}",
                    expected="{stars: 1 to 5, description: text}, each number of stars once",
                    where="rubric_bands",
                    keys=("rubric_bands", index),
                )
            )
        else:
            seen.add(stars)
            bands[stars] = text.strip() if text and text.strip() else bands[stars]
    if problems:
        raise ConfigError(problems)
    return bands_scale(bands)


def bands_scale(bands: Mapping[float, str]) -> Scale:
    scores = sorted(bands, reverse=True)
    return Scale(
        kind="number",
        low=scores[-1],
        high=scores[0],
        bands=tuple((score, bands[score]) for score in scores),
        whole=all(score.is_integer() for score in scores),
    )


def band_score(key: Any) -> float | None:
    """Return the score a band is for; JSON can write it as a text only."""
    if isinstance(key, str) and re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", key, re.ASCII):
        return float(key)
    return float(key) if is_number(key) else None


def threshold_problems(threshold: Any, scale: Scale, direction: Direction) -> list[Problem]:
    """Return what is wrong with a threshold: it must be able to pass and to fail."""
    if not is_number(threshold):
        found, expected = f"the threshold {threshold!r}", "a number on the scale"
    elif not scale.low <= threshold <= scale.high:
        found, expected = f"the threshold {threshold:g}", f"a value from {scale.text()}"
    elif direction == "higher" and threshold == scale.low:
        found, expected = f"{threshold:g} cannot fail", f"above {scale.low:g}"
    elif direction == "lower" and threshold == scale.high:
        found, expected = f"{threshold:g} cannot fail", f"below {scale.high:g}"
    else:
        return []
    return [Problem(found=found, expected=expected, where="threshold", keys=("threshold",))]


def read_rubric_file(path: Path, *, shown: str = "") -> Rubric:
    """Return the rubric in a Markdown or YAML file.

    Markdown: a heading `## name` begins a criterion; under it stand its instruction, a
    line `Scale: pass_fail` or `Scale: 1-5`, bands as list items (`- 5: text`), and for a
    criterion that needs no judge a block of ```yaml with `check:` and its options. Text
    before the first such heading goes before all criteria; without one the whole text is
    the instruction. YAML: `instruction` and `criteria`, a list of mappings with `name`,
    `instruction` and a scale (1 to 5 when not given), or `check` and its options.

    Args:
        path: the file.
        shown: the path for messages; "" shows `path`.

    Raises:
        ConfigError: with every mistake of the file, each with its line where known.
    """
    shown = shown or str(path)
    text = read_rubric_text(path, shown)
    if path.suffix.lower() in (".yaml", ".yml"):
        return read_yaml_rubric(text, shown)
    if path.suffix.lower() in (".md", ".markdown"):
        return read_markdown_rubric(text, shown)
    raise ConfigError(Problem(found=f"the rubric {shown!r}", expected="a .md or .yaml file"))


def read_rubric_text(path: Path, shown: str) -> str:
    """Return the text of a rubric file.

    Raises:
        ConfigError: it cannot be read, is no UTF-8, or says nothing.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            Problem(
                found=f"the rubric {shown!r} cannot be read: {error.strerror}",
                fix="A path is relative to the suite file.",
            )
        ) from None
    try:
        text = data[:MAX_FILE_BYTES].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(Problem(found="a rubric that is not UTF-8", path=shown)) from None
    if not text.strip():
        raise ConfigError(Problem(found="an empty rubric", expected="text", path=shown))
    return text.replace("\r\n", "\n")


def read_yaml_rubric(text: str, shown: str) -> Rubric:
    """Return the rubric of a YAML text.

    Raises:
        ConfigError: with every mistake.
    """
    from pytest_evalcheck.yamlnodes import load_yaml

    document, lines = load_yaml(text, shown)
    if not isinstance(document, Mapping) or not isinstance(document.get("criteria"), list):
        raise ConfigError(
            Problem(
                found="no criteria", expected="criteria: [{name: ...}, ...]", path=shown, line=1
            )
        )
    problems = [unknown_key(key, FILE_KEYS, ()) for key in document if key not in FILE_KEYS]
    criteria = []
    for index, written in enumerate(document["criteria"]):
        try:
            criteria.append(read_criterion(written))
        except ConfigError as error:
            place = ("criteria", index)
            problems += [replace(one, keys=(*place, *one.keys)) for one in error.problems]
    problems += criteria_problems(criteria)
    if problems:
        raise ConfigError(located(problems, shown, lines))
    instruction = document.get("instruction") or document.get("description") or ""
    return Rubric(instruction=str(instruction).strip(), criteria=tuple(criteria))


def located(
    problems: Iterable[Problem], shown: str, lines: Mapping[tuple[str | int, ...], int]
) -> list[Problem]:
    """Return problems with the line of the nearest value that has one."""
    found = []
    for problem in problems:
        keys = problem.keys
        while keys not in lines and keys:
            keys = keys[:-1]
        found.append(problem.located(path=shown, line=lines.get(keys)))
    return found


def read_criterion(written: Any) -> Criterion:
    """Return a criterion of a mapping.

    Raises:
        ConfigError: with every mistake.
    """
    if not isinstance(written, Mapping):
        raise ConfigError(
            Problem(found=f"the criterion {shortened(written)}", expected="a mapping with a name")
        )
    problems = []
    name = written.get("name")
    if not isinstance(name, str) or not re.fullmatch(r"\S(?:.{0,78}\S)?", name):
        problems.append(
            Problem(found=f"the name {name!r}", expected="a short text", keys=("name",))
        )
    instruction = written.get("instruction", written.get("description", ""))
    if not isinstance(instruction, str):
        problems.append(
            Problem(found=shortened(instruction), expected="a text", keys=("instruction",))
        )
    if "check" in written:
        scale, check = check_scale(written, problems)
    else:
        check = None
        problems += [
            unknown_key(key, CRITERION_KEYS, ()) for key in written if key not in CRITERION_KEYS
        ]
        scale = criterion_scale(written, problems)
        if not problems and not instruction.strip() and not scale.bands:
            problems.append(
                Problem(found="no instruction", expected="what to look at", keys=("name",))
            )
    if problems:
        raise ConfigError(problems)
    return Criterion(name=str(name), instruction=instruction.strip(), scale=scale, check=check)


ONE_TO_FIVE: Final = Scale(kind="number", low=1.0, high=5.0, whole=True)


def criterion_scale(written: Mapping[str, Any], problems: list[Problem]) -> Scale:
    """Return the scale of a criterion; what is wrong with it goes to `problems`."""
    if written.get("scale") == "numeric":
        return ONE_TO_FIVE
    try:
        return read_scale(written, default=ONE_TO_FIVE)
    except ConfigError as error:
        problems += error.problems
        return ONE_TO_FIVE


def check_scale(
    written: Mapping[str, Any], problems: list[Problem]
) -> tuple[Scale, Mapping[str, Any]]:
    """Return the scale and the options of a criterion that a check scores."""
    from pytest_evalcheck.checks import compile_check

    options = {
        key: value
        for key, value in written.items()
        if key not in ("name", "instruction", "description")
    }
    try:
        low, high = compile_check(options).score_range or (0.0, 1.0)
    except ConfigError as error:
        problems += error.problems
        low, high = 0.0, 1.0
    return Scale(kind="number", low=low, high=high), options


def criteria_problems(criteria: list[Criterion]) -> list[Problem]:
    """Return what is wrong with criteria as a set."""
    problems = []
    names: dict[str, str] = {}
    for criterion in criteria:
        twin = names.setdefault(criterion_key(criterion.name), criterion.name)
        if sum(criterion_key(one.name) == criterion_key(criterion.name) for one in criteria) > 1:
            problems.append(
                Problem(
                    found=f"two criteria are called {twin!r}",
                    expected="a name of its own for each",
                    keys=("criteria",),
                )
            )
    return list(dict.fromkeys(problems))


def criterion_key(name: str) -> str:
    """Return the key of a criterion in a reply: lower-case letters, digits and `_`."""
    return re.sub(r"\W+", "_", name.casefold()).strip("_") or "criterion"


def read_markdown_rubric(text: str, shown: str) -> Rubric:
    """Return the rubric of a Markdown text.

    Raises:
        ConfigError: with every mistake.
    """
    sections = split_sections(text)
    if len(sections) == 1:
        return Rubric(instruction=text.strip())
    problems: list[Problem] = []
    criteria = []
    for line, title, body in sections[1:]:
        try:
            criteria.append(read_criterion(section_fields(title, body)))
        except ConfigError as error:
            problems += [one.located(path=shown, line=line, where=title) for one in error.problems]
    problems += [one.located(path=shown, line=1) for one in criteria_problems(criteria)]
    if problems:
        raise ConfigError(problems)
    return Rubric(instruction=sections[0][2].strip(), criteria=tuple(criteria))


def split_sections(text: str) -> list[tuple[int, str, str]]:
    """Return line, title and body of what each `##` heading begins; what is before comes first."""
    sections: list[tuple[int, str, list[str]]] = [(1, "", [])]
    fenced = False
    for number, line in enumerate(text.split("\n"), start=1):
        fenced ^= line.lstrip().startswith("```")
        if line.startswith("## ") and not fenced:
            sections.append((number, line[3:].strip().strip("#*` "), []))
        else:
            sections[-1][2].append(line)
    return [(line, title, "\n".join(body)) for line, title, body in sections]


def section_fields(title: str, body: str) -> dict[str, Any]:
    """Return a Markdown section as a criterion's mapping.

    Raises:
        ConfigError: its block of YAML cannot be read.
    """
    fields: dict[str, Any] = {"name": title}
    body, options = without_yaml(body)
    bands: dict[str, str] = {}
    said = []
    for line in body.split("\n"):
        if (band := BAND_LINE.fullmatch(line)) is not None:
            bands[band[1]] = band[2].strip()
        elif (scale := SCALE_LINE.fullmatch(line)) is not None:
            fields["scale"] = scale_word(scale[1])
        else:
            said.append(line)
    if bands:
        fields["rubric_bands"] = bands
        if isinstance(fields.get("scale"), list):
            del fields["scale"]
    return {**fields, "instruction": "\n".join(said).strip(), **options}


def scale_word(written: str) -> Any:
    """Return what a `Scale:` line of Markdown says, as YAML would."""
    bounds = BOUNDS.fullmatch(written.strip("`* "))
    if bounds is not None:
        return [float(bounds[1]), float(bounds[2])]
    return written.strip("`* .").lower().replace("/", "_").replace(" ", "_")


def without_yaml(body: str) -> tuple[str, dict[str, Any]]:
    """Return a section without its block of YAML, and what that says.

    Raises:
        ConfigError: it is no mapping.
    """
    match = re.search(r"^```ya?ml[ \t]*\n(.*?)^```[ \t]*$", body, re.DOTALL | re.MULTILINE)
    if match is None:
        return body, {}
    from pytest_evalcheck.yamlnodes import load_yaml

    options, _ = load_yaml(match[1], "")
    if not isinstance(options, Mapping):
        raise ConfigError(Problem(found="a yaml block that is no mapping", expected="a mapping"))
    return body[: match.start()] + body[match.end() :], dict(options)


def unknown_key(key: Any, known: Iterable[str], place: tuple[str | int, ...]) -> Problem:
    return Problem(
        found=f"{key!r} is not a key here",
        expected="one of " + ", ".join(known),
        fix=near(key, known),
        keys=(*place, str(key)),
    )


def near(name: Any, known: Iterable[str]) -> str:
    """Return the sentence that offers the nearest name, or ""."""
    found = get_close_matches(str(name).lower(), list(known), n=1)
    return f"Did you mean {found[0]!r}?" if found else ""


def shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
