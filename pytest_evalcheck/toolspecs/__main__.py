"""`python -m pytest_evalcheck.toolspecs COMMAND...` prints the dump of a stdio server."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from pytest_evalcheck.errors import DatasetError
from pytest_evalcheck.toolspecs.server import ServerCommand, list_server

USAGE = "usage: python -m pytest_evalcheck.toolspecs [--timeout SECONDS] COMMAND [ARGUMENT ...]"


def main(arguments: Sequence[str]) -> int:
    """Print the tools of the server that the arguments start; return the exit status."""
    timeout_s, command = 60.0, list(arguments)
    if command[:1] == ["--timeout"] and len(command) > 1:
        try:
            timeout_s = float(command[1])
        except ValueError:
            timeout_s = 0.0
        command = command[2:]
    if command[:1] == ["--"]:
        command = command[1:]
    if not command or command[0].startswith("-") or not timeout_s > 0:
        sys.stderr.write(f"{USAGE}\n")
        return 2
    try:
        document = list_server(ServerCommand(command=tuple(command), timeout_s=timeout_s))
    except DatasetError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    json.dump(document, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
