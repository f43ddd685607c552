"""`${NAME}` and `${NAME:-default}` in the values of a judge or a task."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["MissingVariable", "expand_environment", "expand_value", "named_variables"]

VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class MissingVariable(Exception):
    """A variable that has no default is not set, or set to nothing.

    Attributes:
        name: the variable.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"the environment variable {name} is not set")


def expand_environment(text: str, environ: Mapping[str, str]) -> str:
    """Return a text with its variables filled in; everything else stays as it stands.

    A variable that is set to nothing counts as unset, as in the shell's `${NAME:-default}`
    (POSIX.1-2017, Shell Command Language, 2.6.2).

    Raises:
        MissingVariable: a variable without a default has no value.
    """

    def fill(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        value = environ.get(name) or default
        if value is None:
            raise MissingVariable(name)
        return value

    return VARIABLE.sub(fill, text)


def expand_value(value: Any, environ: Mapping[str, str]) -> Any:
    """Return a value of a suite file with the variables in all its texts filled in.

    Raises:
        MissingVariable: a variable without a default has no value.
    """
    if isinstance(value, str):
        return expand_environment(value, environ)
    if isinstance(value, Mapping):
        return {key: expand_value(below, environ) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [expand_value(below, environ) for below in value]
    return value


def named_variables(value: Any) -> list[str]:
    """Return the names of the variables in the texts of a value, each once, in order."""
    if isinstance(value, str):
        names = [match[1] for match in VARIABLE.finditer(value)]
    elif isinstance(value, Mapping):
        names = [name for below in value.values() for name in named_variables(below)]
    elif isinstance(value, list | tuple):
        names = [name for below in value for name in named_variables(below)]
    else:
        names = []
    return list(dict.fromkeys(names))
