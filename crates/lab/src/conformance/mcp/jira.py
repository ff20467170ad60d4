"""Calls every tool of `assay mcp jira` over stdio, in one revision of the protocol."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


def server(arguments, *more):
    return StdioServerParameters(
        command=arguments["command"], args=["mcp", "jira", *more], env=arguments["env"])


async def every_tool(arguments):
    async with Client(server(arguments), mode=arguments["mode"]) as client:
        assert client.protocol_version == arguments["revision"], client.protocol_version
        called = set()

        async def call(tool, **given):
            called.add(tool)
            # The client itself holds the answer against the schema of the tool.
            result = await client.call_tool("jira_" + tool, given)
            assert not result.is_error, (tool, result.content)
            assert json.loads(result.content[0].text) == result.structured_content
            return result.structured_content

        made = await call("create_epic_with_subtasks", summary="Login", subtasks=[{"summary": "One"}])
        ticket = made["subtasks"][0]
        await call("create_epic", summary="Another")
        await call("create_issue", summary="A bug", issue_type="Bug", epic_key=made["epic"])
        await call("create_subtask", summary="A part", parent_key=ticket)
        await call("add_comment", issue_key=ticket, comment="Look at `a`.")
        moved = await call("transition_issue", issue_key=ticket, transition="code_review")
        assert (moved["status"], moved["moved"]) == ("Code Review", True), moved
        await call("update_field", issue_key=ticket, field="summary", value="First")
        seen = await call("get_issue", issue_key=ticket)
        assert seen["summary"] == "First" and len(seen["comments"]) == 1, seen
        found = await call("search_issues", jql="project = PROJ")
        assert len(found["issues"]) == 5, found

        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert listed == {"jira_" + tool for tool in called}, listed
        for tool, given, expected in [
            ("get_issue", {"issue_key": "no ticket"}, "`issue_key`"),
            ("create_issue", {"summary": ""}, "`summary`"),
            ("transition_issue", {"issue_key": ticket, "transition": "Nowhere"}, "available transitions"),
            ("get_issue", {"issue_key": "PROJ-99"}, "404"),
        ]:
            refused = await client.call_tool("jira_" + tool, given)
            assert refused.is_error and expected in refused.content[0].text, (tool, refused)


async def refused(arguments, agent, tool, given, expected):
    async with Client(server(arguments, *agent), mode=arguments["mode"]) as client:
        answer = await client.call_tool("jira_" + tool, given)
        assert answer.is_error and expected in answer.content[0].text, answer


async def main(arguments):
    match arguments["what"]:
        case "tools":
            await every_tool(arguments)
        case "permission":
            given = {"summary": "One more"}
            await refused(arguments, ["--agent", "qa"], "create_issue", given, "`create_tickets`")
        case "down":
            comment = {"issue_key": "PROJ-1", "comment": "Thanks."}
            await refused(arguments, [], "add_comment", comment, "did not answer")


asyncio.run(main(json.loads(sys.argv[1])))
