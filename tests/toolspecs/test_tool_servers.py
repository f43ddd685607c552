"""Servers that are started and asked, and the ways in which they fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from pytest_evalcheck.errors import DatasetError
from pytest_evalcheck.toolspecs.dump import parse_dump, read_dump
from pytest_evalcheck.toolspecs.server import ServerCommand, list_server

# A server in the standard library alone: it answers two requests and gives two pages.
SERVER = """
import json, sys
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n"); sys.stdout.flush()
PREPARE
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    page = (asked.get("params") or {}).get("cursor")
    if asked["method"] == "initialize":
        send({"id": asked["id"], "result": {
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "scales", "version": "1"},
            "instructions": "Weigh first."}})
    elif asked["method"] == "tools/list":
        tool = {"name": "melt" if page else "weigh", "inputSchema": {"type": "object"}}
        result = {"tools": [tool]} if page else {"tools": [tool], "nextCursor": "2"}
        send({"id": asked["id"], "result": result})
    else:
        send({"id": asked["id"], "error": {"code": -32601, "message": "unknown"}})
"""


@pytest.fixture
def server(tmp_path):
    pytest.importorskip("mcp")

    def make(prepare=""):
        path = tmp_path / "server.py"
        path.write_text(SERVER.replace("PREPARE", prepare), "utf-8")
        return (sys.executable, str(path))

    return make


def test_a_server_is_listed_page_by_page(server):
    document = list_server(ServerCommand(command=server()))
    assert [tool["name"] for tool in document["tools"]] == ["weigh", "melt"]
    assert (document["server"]["name"], document["instructions"]) == ("scales", "Weigh first.")


def test_a_file_with_a_command_is_a_dump(server, tmp_path):
    path = tmp_path / "server.json"
    path.write_text(json.dumps({"command": list(server()), "timeout_s": 30}), "utf-8")
    dump = read_dump(path)
    assert [(listed.name, listed.line) for listed in dump.tools] == [("weigh", 1), ("melt", 1)]
    assert dump.instructions == "Weigh first."


def test_noise_on_standard_output_does_not_disturb(server):
    command = server('print("Starting up ..."); print("{broken"); sys.stdout.flush()')
    assert len(list_server(ServerCommand(command=command))["tools"]) == 2


def test_a_server_that_hangs_ends_at_the_time_limit_with_its_standard_error(server):
    command = server(
        'import time; print("no licence", file=sys.stderr, flush=True); time.sleep(60)'
    )
    start = time.monotonic()
    with pytest.raises(DatasetError) as caught:
        list_server(ServerCommand(command=command, timeout_s=2), "t.json")
    assert time.monotonic() - start < 20
    said = str(caught.value)
    assert said.startswith("t.json: the server '")
    assert "gave no list of tools within 2 s; its standard error ends: no licence." in said


def test_a_server_that_dies_is_told_with_its_standard_error(server):
    command = server('sys.exit("no \\x1b[31mlicence found")')
    with pytest.raises(DatasetError) as caught:
        list_server(ServerCommand(command=command, timeout_s=20))
    said = str(caught.value)
    assert "gave no list of tools: " in said
    assert "licence found" in said
    assert "\x1b" not in said


def test_a_program_that_is_not_there_is_told():
    pytest.importorskip("mcp")
    with pytest.raises(DatasetError, match="cannot be started: No such file or directory"):
        list_server(ServerCommand(command=("no-such-program-here",)))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"command": "npx server"}, 't.json: command: npx server, expected a list such as ["npx"'),
        ({"command": []}, "t.json: command: [], expected a list such as"),
        ({"command": ["a"], "timout_s": 5}, "Did you mean 'timeout_s'?"),
        ({"command": ["a"], "timeout_s": 0}, "timeout_s: 0, expected a number of seconds above 0"),
        ({"command": ["a"], "env": {"A": "secret"}}, "a list of names of environment variables"),
        ({"command": ["a"], "env": ["NO_SUCH_NAME_1"]}, "the environment has no NO_SUCH_NAME_1"),
    ],
)
def test_a_command_that_is_mis_written_is_not_run(document, message):
    with pytest.raises(DatasetError) as caught:
        parse_dump(json.dumps(document), "t.json")
    assert message in str(caught.value)


def test_only_named_variables_are_handed_on(server, monkeypatch):
    monkeypatch.setenv("SCALES_GIVEN", "yes")
    monkeypatch.setenv("SCALES_KEPT", "no")
    command = server(
        'import os; sys.exit(0) if "SCALES_KEPT" in os.environ or '
        '"SCALES_GIVEN" not in os.environ else None'
    )
    listed = list_server(ServerCommand(command=command, env=("SCALES_GIVEN",)))
    assert len(listed["tools"]) == 2


def test_the_command_line_prints_a_dump(server):
    ran = subprocess.run(
        [sys.executable, "-m", "pytest_evalcheck.toolspecs", *server()],
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(parse_dump(ran.stdout).tools) == 2
    ran = subprocess.run(
        [sys.executable, "-m", "pytest_evalcheck.toolspecs"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("usage: ")


def test_without_the_extra_the_install_command_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(DatasetError, match=r"pip install 'pytest-evalcheck\[mcp\]'"):
        list_server(ServerCommand(command=("a",)))


def test_a_published_server_is_listed():
    pytest.importorskip("mcp_server_time")
    command = (sys.executable, "-m", "mcp_server_time")
    env = ("PYTHONPATH",) if "PYTHONPATH" in os.environ else ()
    listed = list_server(ServerCommand(command=command, env=env))
    assert {tool["name"] for tool in listed["tools"]} == {"get_current_time", "convert_time"}
