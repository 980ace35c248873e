"""Drives a SAI server with the official Python SDK: python_sdk.py auto|legacy path/to/sai mcp."""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters

MODE, COMMAND, *ARGUMENTS = sys.argv[1:]
# Only keeps a server that does not answer from holding this for ever.
PATIENCE_S = 60
VERSIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


async def refused(call):
    """The text of the protocol error that a call ends with."""
    try:
        await call
    except Exception as error:
        return str(error)
    raise AssertionError("the call was not refused")


async def said(client, tool, arguments):
    """What a tool says, as a result or as an error of the protocol."""
    try:
        answer = await asyncio.wait_for(client.call_tool(tool, arguments), PATIENCE_S)
    except MCPError as error:
        return error.message
    return answer.content[0].text


async def call_with_nothing_then_with_the_example(client, tool):
    """Every tool answers; one that lacks arguments shows those of a right call."""
    answer = await said(client, tool, {})
    assert answer, tool
    for line in answer.splitlines():
        if line.startswith("example: "):
            answer = await said(client, tool, json.loads(line.removeprefix("example: ")))
            assert "\nexample: " not in answer, (tool, line, answer)
            return


async def check(client):
    assert client.protocol_version == VERSIONS[MODE], client.protocol_version
    assert client.server_info.name == "sai", client.server_info
    assert "sai_search_code" in client.instructions, client.instructions

    tools = (await client.list_tools()).tools
    assert {"sai_index_status", "sai_search_code"} <= {tool.name for tool in tools}, tools
    for tool in tools:
        assert tool.annotations.read_only_hint is not None, tool
        await call_with_nothing_then_with_the_example(client, tool.name)

    found = await client.call_tool("sai_search_code", {"query": "backoff delay", "limit": "3"})
    assert not found.is_error and found.structured_content is None, found
    assert "src/retry.rs:" in found.content[0].text, found

    found = await client.call_tool("sai_search_code", {"query": "backoff delay", "format": "json"})
    assert json.loads(found.content[0].text) == found.structured_content, found
    assert found.structured_content["hits"][0]["path"] == "src/retry.rs", found

    wrong = await client.call_tool("sai_search_code", {"query": "x", "bogus": 1})
    assert wrong.is_error and "unknown argument `bogus`" in wrong.content[0].text, wrong
    wrong = await client.call_tool("sai_search_code", {})
    assert wrong.is_error and "`query` is empty" in wrong.content[0].text, wrong
    assert "sai_search_code" in await refused(client.call_tool("grep", {}))

    status = await client.call_tool("sai_index_status", {})
    assert status.structured_content["state"] == "ready", status
    resources = (await client.list_resources()).resources
    assert [str(resource.uri) for resource in resources] == ["sai://status"], resources
    read = await client.read_resource("sai://status")
    assert json.loads(read.contents[0].text)["files"] == status.structured_content["files"], read
    assert "sai://status" in await refused(client.read_resource("sai://nothing"))

    calls = (client.call_tool("sai_search_code", {"query": "retry"}) for _ in range(8))
    answers = await asyncio.gather(*calls)
    assert not any(answer.is_error for answer in answers), answers


async def main():
    server = StdioServerParameters(command=COMMAND, args=ARGUMENTS)
    async with Client(server, mode=MODE) as client:
        await check(client)
        print(f"python sdk {MODE}: {client.protocol_version}, every check passed")


asyncio.run(main())
