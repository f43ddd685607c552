"""Regular expressions that cannot hang a run, and whose mistakes are told when loading."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pytest_evalcheck.checks.target import Settled, quote
from pytest_evalcheck.errors import ConfigError, Problem

if TYPE_CHECKING:
    import regex

__all__ = ["TIME_LIMIT_S", "Pattern", "compile_pattern"]

# One search may take this long before it counts as catastrophic backtracking.
TIME_LIMIT_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern with its time limit.

    Attributes:
        source: the pattern as written.
        compiled: what the regex package made of it.
        folds: letters match in either case, and both sides are NFC-normalised.
        time_limit_s: seconds one search may take.
    """

    source: str
    compiled: regex.Pattern[str]
    folds: bool
    time_limit_s: float = TIME_LIMIT_S

    def search(self, text: str) -> Any:
        """Return the first match anywhere in the text, or None."""
        return self._limited(self.compiled.search, text)

    def match_whole(self, text: str) -> Any:
        """Return the match of the whole text, or None."""
        return self._limited(self.compiled.fullmatch, text)

    def find_last(self, text: str) -> str | None:
        """Return group 1 (or the whole) of the last match whose group took part, or None."""
        return self._limited(self._last, text)  # type: ignore[no-any-return]

    def _last(self, text: str, timeout: float) -> str | None:
        group = 1 if self.compiled.groups else 0
        last: str | None = None
        for match in self.compiled.finditer(text, timeout=timeout):
            found = match.group(group)
            last = last if found is None else found
        return last

    def _limited(self, search: Callable[..., Any], text: str) -> Any:
        if self.folds and not text.isascii():
            text = unicodedata.normalize("NFC", text)
        try:
            return search(text, timeout=self.time_limit_s)
        except TimeoutError:
            raise Settled.error(
                "timeout",
                f"the pattern {quote(self.source)} took more than {self.time_limit_s:g} s "
                f"on {quote(text, 60)}",
                {"pattern": self.source, "text_characters": len(text)},
            ) from None


def compile_pattern(
    source: str,
    *,
    option: str,
    case_sensitive: bool,
    multiline: bool = False,
    dotall: bool = False,
) -> Pattern:
    """Compile a pattern of a suite.

    Args:
        source: the regular expression, in the syntax of the regex package (that of re).
        option: the option it stands in, for messages.
        case_sensitive: otherwise letters match in either case, by full case folding.
        multiline: `^` and `$` match at line breaks too.
        dotall: `.` matches a line break too.

    Raises:
        ConfigError: the pattern does not compile; the position is named.
    """
    import regex

    flags = regex.V0
    for wanted, flag in (
        (not case_sensitive, regex.IGNORECASE | regex.FULLCASE),
        (multiline, regex.MULTILINE),
        (dotall, regex.DOTALL),
    ):
        flags |= flag if wanted else 0
    try:
        written = source if case_sensitive else unicodedata.normalize("NFC", source)
        return Pattern(source, regex.compile(written, flags), not case_sensitive)
    except (regex.error, OverflowError, RecursionError, ValueError) as error:
        raise pattern_problem(source, option, error) from None


def pattern_problem(source: str, option: str, error: Exception) -> ConfigError:
    """Return the error of a pattern that does not compile."""
    place = getattr(error, "pos", None)
    at = "" if place is None else f" at position {place}"
    return ConfigError(
        Problem(
            found=f"the pattern {quote(source)} does not compile{at}: "
            f"{getattr(error, 'msg', None) or type(error).__name__}",
            fix="Write \\ before a character that is meant as itself, or use contains.",
            where=option,
            keys=(option,),
        )
    )
