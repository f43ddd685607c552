"""The exceptions a user may meet, and the one form in which a mistake is told.

EvalcheckError
├── ConfigError      a suite file, a metric or an option is mis-written
└── DatasetError     a dataset file or one of its rows cannot be used

Both carry every problem that was found, not only the first: an error is data
first and text last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

__all__ = ["ConfigError", "DatasetError", "EvalcheckError", "Problem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake in a file a user wrote.

    Attributes:
        found: what stands there, as a phrase ("'thresold' is not a key here").
        expected: what should stand there, or "" where `found` says it all.
        fix: what to do, as a full sentence, or "".
        where: the place inside the file in words ("metrics[2] 'total': tolerance").
        path: the file, as the user would type it, or "" when there is none.
        line: the 1-based physical line, or None when unknown.
        keys: the path of mapping keys and list indices to the value at fault,
            relative to what was being read; a loader that knows line numbers
            turns it into `line`.
    """

    found: str
    expected: str = ""
    fix: str = ""
    where: str = ""
    path: str = ""
    line: int | None = None
    keys: tuple[str | int, ...] = ()

    def text(self) -> str:
        """Return `path:line: where: found, expected. What to do.` on one line."""
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        parts = [part for part in (place, self.where) if part]
        said = f"{self.found}, expected {self.expected}" if self.expected else self.found
        said = said.rstrip(".") + "."
        return ": ".join([*parts, said]) + (f" {self.fix}" if self.fix else "")

    def located(self, *, path: str, line: int | None, where: str = "") -> Problem:
        """Return the same problem with its place filled in where it had none."""
        return replace(
            self,
            path=self.path or path,
            line=self.line if self.line is not None else line,
            where=": ".join(part for part in (where, self.where) if part),
        )


class EvalcheckError(Exception):
    """Base of every error that a user's input can cause.

    Attributes:
        problems: all that was found, in the order of the file.
    """

    def __init__(self, problems: Problem | str | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem(found=problems)
        self.problems: tuple[Problem, ...] = (
            (problems,) if isinstance(problems, Problem) else tuple(problems)
        )
        super().__init__("\n".join(problem.text() for problem in self.problems))

    def __reduce__(self) -> tuple[type[EvalcheckError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class ConfigError(EvalcheckError):
    """A suite file, a metric or an option is mis-written."""


class DatasetError(EvalcheckError):
    """A dataset file, or a row of one, cannot be used as it stands."""
