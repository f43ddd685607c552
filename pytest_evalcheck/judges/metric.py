"""A judge metric: what is asked about a row, and what its replies are worth."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.judges.calibration import CalibrationPlan, read_calibration
from pytest_evalcheck.judges.claims import object_of, read_claims
from pytest_evalcheck.judges.evidence import Section, gather_sections
from pytest_evalcheck.judges.fingerprint import Fingerprint, make_fingerprint
from pytest_evalcheck.judges.metric_keys import key_problems
from pytest_evalcheck.judges.prompt import (
    PROMPT_VERSION,
    SYSTEM,
    Question,
    build_prompt,
    neutral_text,
    reply_schema,
)
from pytest_evalcheck.judges.ready_made import READY_MADE, ready_made_entry
from pytest_evalcheck.judges.reply import (
    READER_VERSION,
    Reading,
    read_reply,
    scored,
    unreadable_score,
)
from pytest_evalcheck.judges.reply_numbers import Unreadable
from pytest_evalcheck.judges.request import Failure, JudgeRequest, Reply
from pytest_evalcheck.judges.rubric import (
    CLAIM_SCALES,
    SCALE_KEYS,
    Criterion,
    Rubric,
    criterion_key,
    read_rubric_file,
    read_scale,
    threshold_problems,
)
from pytest_evalcheck.judges.samples import Combined, combine_orders, combine_samples
from pytest_evalcheck.judges.scales import Direction, Scale
from pytest_evalcheck.model import Row, Score, Scorer, Status

__all__ = ["OUR_KEYS", "JudgeMetric", "compile_judge_metric", "is_judge_entry"]

Outcome = Reply | Failure

# Keys that every metric may have; whoever compiles the suite validates them.
OUR_KEYS: Final = ("name", "gate", "tags", "applies_to", "title", "description")
# What makes an entry a judge metric.
MARKING_KEYS: Final = ("judge", "judge_metric", "instruction", "rubric_bands", "rubric", "pairwise")

UNIT: Final = Scale(kind="number", low=0.0, high=1.0)
PAIR_SCALE: Final = Scale(
    kind="labels", low=0.0, high=1.0, labels=(("first", 1.0), ("tie", 0.5), ("second", 0.0))
)
PAIR_RESULT: Final = Scale(
    kind="labels",
    low=0.0,
    high=1.0,
    labels=(("output better", 1.0), ("tie", 0.5), ("expected better", 0.0)),
)
# CompletionKit's entries; its own keys that change nothing here are let through.
COMPLETIONKIT_ONLY: Final = ("metric_type", "tag_names", "key", "few_shot_examples", "check_config")
REPAIR: Final = (
    "Your earlier reply could not be read ({why}). It began:\n{start}\n\nReply again, with the "
    "JSON object that was asked for and nothing else."
)
# How providers say that a reply ended before its end, or that there is none.
CUT: Final = ("length", "max_tokens")
REFUSED: Final = ("refusal", "content_filter")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeMetric:
    """A compiled judge metric.

    Attributes:
        name: the metric's name; that of the ready-made one, or "" when the entry has none.
        judge: the name of the suite's judge that is asked.
        version: of a ready-made metric, else 1.
        ready_made: its name, or "".
        instruction: what to judge.
        scale: what may be answered; of several criteria and of claims 0 to 1.
        threshold, direction: from where on a row passes.
        sees: what the judge sees, or None for the default.
        samples: how often each row is asked about.
        pairwise: output and expected are compared, in both orders.
        repair: an unreadable reply is asked for once more.
        claims: "" or which claims are counted.
        criteria: those of a rubric file.
        checks: what scores those of them that need no judge, by name.
        abstain_when, decimal: as written.
        calibration: how the judge is calibrated, or None.
    """

    name: str
    judge: str
    scale: Scale
    threshold: float
    version: int = 1
    ready_made: str = ""
    instruction: str = ""
    direction: Direction = "higher"
    sees: tuple[str, ...] | None = None
    samples: int = 1
    pairwise: bool = False
    repair: bool = False
    claims: str = ""
    criteria: tuple[Criterion, ...] = ()
    checks: Mapping[str, Scorer] = field(default_factory=dict)
    abstain_when: str = ""
    decimal: str = "."
    calibration: CalibrationPlan | None = None

    @property
    def source(self) -> str:
        """What scores, with its version: `judge:default`, `tone@1`."""
        return f"{self.ready_made}@{self.version}" if self.ready_made else f"judge:{self.judge}"

    @property
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest possible value."""
        return self.scale.low, self.scale.high

    def requests(self, row: Row) -> tuple[JudgeRequest, ...] | Score:
        """Return what to ask about a row, or its score when there is nothing to ask.

        Pairwise, each sample is two requests: the output first, then the expected first.
        """
        if self.criteria and not self.judged_criteria():
            return self.criteria_score(row, {}, {})
        sections = self.sections(row)
        if isinstance(sections, Score):
            return sections
        question = self.question()
        schema = reply_schema(question)
        orders = pair_orders(sections) if self.pairwise else (sections,)
        prompts = [build_prompt(order, question) for order in orders]
        return tuple(
            JudgeRequest(system=SYSTEM, user=prompt, schema=schema, sample=sample)
            for sample in range(self.samples)
            for prompt in prompts
        )

    def score(self, row: Row, replies: Sequence[Outcome]) -> Score:
        """Return the score of a row.

        Args:
            row: the row.
            replies: what came for each of `requests(row)`, in their order.
        """
        failed = [outcome for outcome in replies if isinstance(outcome, Failure)]
        if len(failed) == len(replies):
            return failure_score(failed[0]) if failed else nothing_score()
        score = self.score_criteria(row, replies) if self.criteria else self.score_answers(replies)
        return with_costs(score, replies)

    def repair_request(
        self, request: JudgeRequest, outcome: Outcome, *, row: Row | None = None
    ) -> JudgeRequest | None:
        """Return the one request that asks again for a reply, or None when it needs none.

        The outcome of the new request takes the place of the first one.
        """
        if not self.repair or not isinstance(outcome, Reply):
            return None
        why = self.repairable(outcome)
        if why is None:
            return None
        start = neutral_text(outcome.text[:500]) or "(nothing)"
        user = f"{request.user}\n\n{REPAIR.format(why=why, start=start)}"
        return replace(request, user=user)

    def repairable(self, reply: Reply) -> str | None:
        """Return why a reply cannot be read, or None where it can, or where it is a refusal."""
        answers = (
            [self.read_criterion(reply, one) for one in self.judged_criteria()]
            if self.criteria
            else [self.read(reply)]
        )
        for answer in answers:
            if isinstance(answer, Unreadable) and answer.code != "judge_abstained":
                return answer.why
        return None

    def fingerprint(self, judge: Mapping[str, Any]) -> Fingerprint:
        """Return what a calibration of this metric is tied to.

        Args:
            judge: plain JSON values of the judge: `provider` and `model` are the model,
                everything else its parameters.
        """
        rubric = [
            *([score, text] for score, text in self.scale.bands),
            *(
                [one.name, one.instruction, one.scale.bands, one.scale.labels, one.check]
                for one in self.criteria
            ),
        ]
        model = ("provider", "model")
        return make_fingerprint(
            model={key: judge.get(key) for key in model},
            parameters={key: value for key, value in judge.items() if key not in model},
            prompt=[
                *(PROMPT_VERSION, self.instruction, self.sees, self.pairwise),
                *(self.abstain_when, self.samples, self.claims, self.repair),
            ],
            rubric=rubric,
            scale=[
                *(self.scale.kind, self.scale.low, self.scale.high, self.scale.labels),
                *(self.scale.whole, self.threshold, self.direction),
            ],
            reader=[READER_VERSION, self.decimal],
        )

    def sections(self, row: Row) -> tuple[Section, ...] | Score:
        """Return the material, or the score of a row that lacks some of it."""
        sees = self.sees
        if self.pairwise:
            shown = [name for name in sees or ("input",) if name not in ("output", "expected")]
            sees = (*(name for name in shown if name != "input" or row.input is not None),)
            sees = (*sees, "output", "expected")
        return gather_sections(row, sees)

    def question(self) -> Question:
        """Return what is asked about the material."""
        return Question(
            instruction=self.instruction,
            scale=self.scale,
            parts=tuple(
                (criterion_key(one.name), one.name, one.instruction, one.scale)
                for one in self.judged_criteria()
            ),
            claims=bool(self.claims),
            pairwise=self.pairwise,
            lower=self.direction == "lower",
            abstain_when=self.abstain_when,
        )

    def judged_criteria(self) -> tuple[Criterion, ...]:
        """Return the criteria that no check scores."""
        return tuple(one for one in self.criteria if one.check is None)

    def read(self, outcome: Outcome) -> Reading | Unreadable:
        """Return what one reply says, or why it says nothing."""
        try:
            return self.read_outcome(outcome)
        except Unreadable as error:
            return error

    def read_outcome(self, outcome: Outcome) -> Reading:
        """Return what one reply says.

        Raises:
            Unreadable: it says nothing beyond doubt.
        """
        said = said_in(outcome)
        if self.claims:
            return read_claims(said, unsupported=self.claims == "claims_unsupported")
        if self.pairwise:
            return read_reply(said, PAIR_SCALE, key="better")
        return read_reply(said, self.scale, decimal=self.decimal)

    def score_answers(self, replies: Sequence[Outcome]) -> Score:
        """Return the score of the samples of a metric without criteria."""
        answers = [self.read(outcome) for outcome in replies]
        orders: list[list[float | None]] = []
        if self.pairwise:
            pairs = [
                (answers[place], turned(answers[place + 1]))
                for place in range(0, len(answers) - 1, 2)
            ]
            orders = [[value_of(one), value_of(other)] for one, other in pairs]
            answers = [combine_orders(one, other) for one, other in pairs]
        try:
            combined = combine_samples(answers, self.scale, self.threshold, self.direction)
        except Unreadable as error:
            lost = unreadable_score(error, first_text(replies))
            return replace(lost, details={**lost.details, "orders": orders}) if orders else lost
        score = scored(
            combined.reading, self.scale, threshold=self.threshold, direction=self.direction
        )
        score = with_samples(score, combined) if len(answers) > 1 else score
        return replace(score, details={**score.details, "orders": orders}) if orders else score

    def score_criteria(self, row: Row, replies: Sequence[Outcome]) -> Score:
        """Return the score of a rubric file: the mean of its criteria over their ranges."""
        verdicts: dict[str, Combined] = {}
        lost: dict[str, Unreadable] = {}
        for criterion in self.judged_criteria():
            answers = [self.read_criterion(outcome, criterion) for outcome in replies]
            scale = criterion.scale
            try:
                verdicts[criterion.name] = combine_samples(answers, scale, scale.high, "higher")
            except Unreadable as error:
                lost[criterion.name] = error
        return self.criteria_score(row, verdicts, lost)

    def read_criterion(self, outcome: Outcome, criterion: Criterion) -> Reading | Unreadable:
        """Return what a reply says on one criterion, found by its key."""
        key = criterion_key(criterion.name)
        try:
            found = [
                value
                for name, value in object_of(said_in(outcome)).items()
                if criterion_key(name) == key
            ]
            if len(found) != 1:
                raise Unreadable(f"the reply has no verdict on {criterion.name!r}")
            verdict = found[0] if isinstance(found[0], Mapping) else {"score": found[0]}
            return read_reply(verdict, criterion.scale, decimal=self.decimal)
        except Unreadable as error:
            return error

    def criteria_score(
        self, row: Row, verdicts: Mapping[str, Combined], lost: Mapping[str, Unreadable]
    ) -> Score:
        """Return the overall score with that of each criterion in its details.

        One criterion without a verdict leaves the whole without one: a mean over the rest
        would be the score of another rubric.
        """
        parts: list[dict[str, Any]] = []
        without: list[Score] = []
        for criterion in self.criteria:
            score = self.criterion_score(row, criterion, verdicts, lost)
            parts.append({"criterion": criterion.name, **part_fields(score)})
            if score.value is None:
                without.append(score)
        if without:
            worst = next((one for one in without if one.status != "non_evaluable"), without[0])
            names = ", ".join(part["criterion"] for part in parts if part["value"] is None)
            reason = f"{worst.reason} (no verdict on {names})"
            return replace(worst, reason=reason, details={**worst.details, "criteria": parts})
        shares = [
            (part["value"] - one.scale.low) / (one.scale.high - one.scale.low)
            for part, one in zip(parts, self.criteria, strict=True)
        ]
        value = min(1.0, max(0.0, sum(shares) / len(shares)))
        said = "; ".join(f"{part['criterion']} {part['value']:g}" for part in parts)
        score = scored(
            Reading(value=value, reason=said, form="criteria"),
            UNIT,
            threshold=self.threshold,
            direction=self.direction,
        )
        flickers = any(combined.flickers for combined in verdicts.values())
        details = {**score.details, "criteria": parts}
        if self.samples > 1:
            details["flickers"] = flickers
        return replace(score, details=details)

    def criterion_score(
        self,
        row: Row,
        criterion: Criterion,
        verdicts: Mapping[str, Combined],
        lost: Mapping[str, Unreadable],
    ) -> Score:
        """Return the score of one criterion, by its check or by the judge."""
        if criterion.check is not None:
            return self.checks[criterion.name](row)
        if criterion.name in lost:
            return unreadable_score(lost[criterion.name], None)
        combined = verdicts[criterion.name]
        score = scored(combined.reading, criterion.scale)
        return with_samples(score, combined) if self.samples > 1 else score


def said_in(outcome: Outcome) -> Any:
    """Return what a reply says: its object, else its text.

    Raises:
        Unreadable: there is no reply, it is a refusal, or it was cut off.
    """
    if isinstance(outcome, Failure):
        raise Unreadable(outcome.reason, outcome.code)
    if outcome.finish in REFUSED:
        raise Unreadable(f"the judge refused ({outcome.finish})", "judge_abstained")
    if isinstance(outcome.value, Mapping):
        return outcome.value
    if outcome.finish in CUT:
        raise Unreadable("the reply was cut off at the token limit; raise max_tokens")
    return outcome.text


def failure_score(failure: Failure) -> Score:
    """Return the score of a row about which no judge could be asked."""
    status: Status = "non_evaluable" if failure.code == "judge_abstained" else "blocked"
    return Score(status, reason=f"{failure.code}: {failure.reason}", code=failure.code)


def nothing_score() -> Score:
    return Score(
        "blocked",
        reason="judge_unavailable: no reply to any request",
        code="judge_unavailable",
    )


def first_text(replies: Sequence[Outcome]) -> str | None:
    return next((one.text for one in replies if isinstance(one, Reply)), None)


def value_of(answer: Reading | Unreadable) -> float | None:
    return answer.value if isinstance(answer, Reading) else None


def turned(answer: Reading | Unreadable) -> Reading | Unreadable:
    """Return an answer to the pair in the other order as the output's value."""
    if isinstance(answer, Unreadable):
        return answer
    return replace(answer, value=1.0 - answer.value)


def pair_orders(sections: tuple[Section, ...]) -> tuple[tuple[Section, ...], ...]:
    """Return the material twice, with output and expected as first and second text."""
    rest = tuple(one for one in sections if one.name not in ("output", "expected"))
    texts = {one.name: one.text for one in sections}

    def order(first: str, second: str) -> tuple[Section, ...]:
        pair = (
            Section(name="first", text=texts[first]),
            Section(name="second", text=texts[second]),
        )
        return (*rest, *pair)

    return order("output", "expected"), order("expected", "output")


def with_samples(score: Score, combined: Combined) -> Score:
    """Return a score with its samples, their spread, and whether they flicker."""
    details = {
        **score.details,
        "samples": list(combined.values),
        "spread": combined.spread,
        "flickers": combined.flickers,
    }
    shown = ", ".join("–" if value is None else f"{value:g}" for value in combined.values)
    flickers = ", on both sides of the threshold" if combined.flickers else ""
    return replace(score, reason=f"{score.reason} (samples {shown}{flickers})", details=details)


def with_costs(score: Score, replies: Sequence[Outcome]) -> Score:
    """Return a score with what its calls used: tokens, US dollars, seconds of the longest one.

    A figure that one call lacks is left out, for a sum of some would be no sum.
    """
    answered = [one for one in replies if isinstance(one, Reply)]
    calls = len([one for one in answered if not one.replayed])
    usage: dict[str, Any] = {"calls": calls, "replayed": len(answered) - calls}
    for name in ("tokens_in", "tokens_out", "cost_usd"):
        values = [getattr(one, name) for one in answered]
        if all(value is not None for value in values):
            usage[name] = sum(values)
    latencies = [one.latency_s for one in answered]
    if all(latency is not None for latency in latencies):
        usage["latency_s"] = max(latency for latency in latencies if latency is not None)
    return replace(score, details={**score.details, "judge_calls": usage})


def part_fields(score: Score) -> dict[str, Any]:
    """Return what is kept of a criterion's score."""
    return {
        "status": score.status,
        "value": score.value,
        "passed": score.passed,
        "code": score.code,
        "reason": score.reason,
    }


def is_judge_entry(entry: Mapping[Any, Any]) -> bool:
    """Tell whether a metric entry asks for a judge: a native one, or CompletionKit's."""
    if entry.get("metric_type") == "llm_judge":
        return True
    return any(key in entry for key in MARKING_KEYS) and not {"check", "evaluator"} & entry.keys()


def compile_judge_metric(
    entry: Mapping[str, Any],
    *,
    base_dir: Path | None = None,
    rootdir: Path | None = None,
) -> JudgeMetric:
    """Return the judge metric of an entry: native, ready-made or CompletionKit's `llm_judge`.

    Args:
        entry: the metric entry; `name`, `gate`, `tags`, `applies_to`, `title` and
            `description` are let through.
        base_dir: the folder of the suite file.
        rootdir: the folder that no path may leave; `base_dir` when not given.

    Raises:
        ConfigError: with every mistake; each Problem's `keys` is relative to the entry.
    """
    base_dir = base_dir or Path()
    plain = from_completionkit(entry)
    problems = key_problems(plain, OUR_KEYS)
    ready = plain.get("judge_metric")
    merged = merged_entry(plain) if ready in READY_MADE else dict(plain)
    wrong = {problem.keys[0] for problem in problems if problem.keys}
    usable = {key: value for key, value in merged.items() if key not in wrong}
    rubric = read_rubric(usable, base_dir, rootdir or base_dir, problems)
    scale = entry_scale(usable, wrong, rubric, problems)
    if not problems_of_rubric(problems):
        problems += instruction_problems(usable, wrong, rubric)
    problems += clash_problems(usable)
    direction: Direction = usable.get("direction", "higher")
    if "threshold" in usable and scale is not None:
        problems += threshold_problems(usable["threshold"], scale, direction)
    calibration = None
    if usable.get("calibration") is not None and scale is not None:
        try:
            calibration = read_calibration(usable["calibration"], scale)
        except ConfigError as error:
            problems += error.problems
    if problems or scale is None:
        raise ConfigError(dict.fromkeys(problems))
    default = 0.5 if usable.get("pairwise") else scale.default_threshold(direction)
    instruction = "\n\n".join(
        part for part in (usable.get("instruction", "").strip(), rubric.instruction) if part
    )
    return JudgeMetric(
        name=str(usable.get("name") or ready or ""),
        judge=usable.get("judge", "default"),
        version=int(merged.get("version", 1)),
        ready_made=ready or "",
        instruction=instruction or (PAIR_INSTRUCTION if usable.get("pairwise") else ""),
        scale=scale,
        threshold=float(usable.get("threshold", default)),
        direction=direction,
        sees=None if usable.get("sees") is None else tuple(usable["sees"]),
        samples=usable.get("samples", 1),
        pairwise=usable.get("pairwise", False),
        repair=usable.get("repair", False),
        claims=usable["scale"] if usable.get("scale") in CLAIM_SCALES else "",
        criteria=rubric.criteria,
        checks=compiled_checks(rubric, base_dir),
        abstain_when=usable.get("abstain_when", ""),
        decimal=usable.get("decimal", "."),
        calibration=calibration,
    )


def compiled_checks(rubric: Rubric, base_dir: Path) -> dict[str, Scorer]:
    """Return what scores the criteria of a rubric that name a check."""
    checked = {one.name: one.check for one in rubric.criteria if one.check is not None}
    if not checked:
        return {}
    from pytest_evalcheck.checks import compile_check

    return {
        name: compile_check(options, base_dir=base_dir).score for name, options in checked.items()
    }


PAIR_INSTRUCTION: Final = (
    "Which of the two texts, the first or the second, answers the input better? Their order "
    "and their length are no merits. Say tie when neither is better."
)


def from_completionkit(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a CompletionKit `llm_judge` entry in our words; another one as it is.

    Its bands are five stars; an entry without any has all five stock ones.

    Raises:
        ConfigError: `metric_type` is another.
    """
    if "metric_type" not in entry:
        return dict(entry)
    if entry["metric_type"] != "llm_judge":
        raise ConfigError(
            Problem(
                found=f"metric_type {entry['metric_type']!r}",
                expected="llm_judge",
                keys=("metric_type",),
            )
        )
    plain = {key: value for key, value in entry.items() if key not in COMPLETIONKIT_ONLY}
    if not any(plain.get(key) for key in SCALE_KEYS) and "rubric" not in plain:
        plain["rubric_bands"] = "stars"
    if entry.get("few_shot_examples"):
        raise ConfigError(
            Problem(
                found="few_shot_examples",
                expected="no examples",
                fix="Write them into the instruction.",
                keys=("few_shot_examples",),
            )
        )
    return plain


def merged_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a ready-made entry with the keys written beside its name before its own.

    A scale of one's own takes the place of the ready-made one and of its threshold.
    """
    made = dict(ready_made_entry(entry["judge_metric"]))
    if any(key in entry for key in (*SCALE_KEYS, "rubric", "pairwise")):
        made = {key: value for key, value in made.items() if key not in (*SCALE_KEYS, "threshold")}
    if "direction" in entry and entry["direction"] != made.get("direction", "higher"):
        made.pop("threshold", None)
    return {**made, **entry}


def read_rubric(
    entry: Mapping[str, Any], base_dir: Path, rootdir: Path, problems: list[Problem]
) -> Rubric:
    """Return the rubric file of an entry, or an empty one; mistakes go to `problems`."""
    if "rubric" not in entry:
        return Rubric()
    path = base_dir / entry["rubric"]
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(rootdir)):
        problems.append(
            Problem(
                found=f"{entry['rubric']!r} leads out of the rootdir",
                expected="a file inside it",
                where="rubric",
                keys=("rubric",),
            )
        )
        return Rubric()
    try:
        return read_rubric_file(path, shown=entry["rubric"])
    except ConfigError as error:
        problems += (
            replace(one, keys=("rubric",)) if not one.path else one for one in error.problems
        )
        return Rubric()


def entry_scale(
    entry: Mapping[str, Any], wrong: set[Any], rubric: Rubric, problems: list[Problem]
) -> Scale | None:
    """Return the scale of an entry, or None; what is wrong with it goes to `problems`."""
    given = [key for key in SCALE_KEYS if key in entry]
    if entry.get("pairwise"):
        fixed, why = PAIR_RESULT, "pairwise"
    elif rubric.criteria:
        fixed, why = UNIT, "a rubric of several criteria"
    elif entry.get("scale") in CLAIM_SCALES:
        return UNIT
    else:
        if wrong & {*SCALE_KEYS, "rubric", "judge_metric"} or problems_of_rubric(problems):
            return None
        try:
            return read_scale(entry)
        except ConfigError as error:
            problems += error.problems
            return None
    if given:
        problems.append(
            Problem(found=f"{given[0]} beside {why}", expected="one of them", keys=(given[0],))
        )
    return fixed


def problems_of_rubric(problems: Iterable[Problem]) -> bool:
    """Tell whether the rubric file could not be read: what it would have said is unknown."""
    return any(problem.keys[:1] == ("rubric",) or problem.path for problem in problems)


def instruction_problems(
    entry: Mapping[str, Any], wrong: set[Any], rubric: Rubric
) -> list[Problem]:
    """Return the problem of an entry that does not say what to judge."""
    said = entry.get("instruction") or rubric.instruction or rubric.criteria
    if said or entry.get("pairwise") or wrong & {"instruction", "rubric", "judge_metric"}:
        return []
    return [
        Problem(
            found="a judge metric without an instruction",
            expected="what to judge, as a question or an order",
            fix="Write `instruction:`, or take a ready-made one: `judge_metric: correctness`.",
        )
    ]


def clash_problems(entry: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of keys that cannot stand together."""
    clashes = []
    if entry.get("pairwise") and entry.get("direction") == "lower":
        clashes.append(("direction", "direction: lower beside pairwise", "higher"))
    if entry.get("scale") in CLAIM_SCALES and entry.get("abstain_when"):
        clashes.append(("abstain_when", "abstain_when beside claims", "no abstain_when"))
    if entry.get("pairwise") and entry.get("abstain_when"):
        clashes.append(("abstain_when", "abstain_when beside pairwise", "no abstain_when"))
    return [
        Problem(found=found, expected=expected, where=key, keys=(key,))
        for key, found, expected in clashes
    ]
