"""Calls every tool of `assay mcp github` over stdio, in one revision of the protocol."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


def server(arguments, *more):
    return StdioServerParameters(
        command=arguments["command"], args=["mcp", "github", *more], env=arguments["env"])


async def every_tool(arguments):
    async with Client(server(arguments), mode=arguments["mode"]) as client:
        assert client.protocol_version == arguments["revision"], client.protocol_version
        called = set()

        async def call(tool, **given):
            called.add(tool)
            # The client itself holds the answer against the schema of the tool.
            result = await client.call_tool("github_" + tool, given)
            assert not result.is_error, (tool, result.content)
            assert json.loads(result.content[0].text) == result.structured_content
            return result.structured_content

        pull = await call("get_pr", pr_number=1)
        assert (pull["title"], pull["state"]) == ("Merge feature", "open"), pull
        assert await call("get_pr_by_branch", branch="feature") == pull
        assert "+one" in (await call("get_pr_diff", pr_number=1))["diff"]
        assert (await call("get_check_runs", pr_number=1))["check_runs"] == []
        await call("add_pr_comment", pr_number=1, path="src/a.rs", line=1, body="Why?")
        review = await call(
            "submit_review", pr_number=1, event="REQUEST_CHANGES", body="Not yet.",
            comments=[{"path": "src/a.rs", "start_line": 1, "line": 2, "body": "Wrong."}])
        assert review["state"] == "CHANGES_REQUESTED", review
        said = await call("get_pr_comments", pr_number=1)
        assert [len(said[kind]) for kind in ("reviews", "on_lines", "below")] == [1, 2, 0], said
        branch = await call("create_branch", branch="fix", **{"from": "feature"})
        opened = await call("create_pr", title="Fix", head="fix", draft=True)
        assert (opened["number"], opened["head_commit"]) == (2, branch["commit"]), opened
        assert (await call("update_pr", pr_number=2, state="closed"))["state"] == "closed"
        linked = await call("link_pr_to_jira", pr_number=1, jira_key="PROJ-1")
        assert linked["pull_request_changed"], linked

        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert listed == {"github_" + tool for tool in called}, listed
        for tool, given, expected in [
            ("get_pr", {"pr_number": "one"}, "`pr_number`"),
            ("get_pr", {"pr_number": 1, "repo": "octo/other"}, "github.repositories"),
            ("submit_review", {"pr_number": 1, "event": "APPROVED"}, "`event`"),
            ("submit_review", {"pr_number": 1, "event": "APPROVE"}, "this tool cannot approve"),
            ("add_pr_comment", {"pr_number": 1, "line": 1, "body": "b"}, "`path`"),
            ("get_pr", {"pr_number": 9}, "404"),
        ]:
            refused = await client.call_tool("github_" + tool, given)
            assert refused.is_error and expected in refused.content[0].text, (tool, refused)


async def refused(arguments, agent, tool, given, expected):
    async with Client(server(arguments, *agent), mode=arguments["mode"]) as client:
        answer = await client.call_tool("github_" + tool, given)
        assert answer.is_error and expected in answer.content[0].text, answer


async def main(arguments):
    match arguments["what"]:
        case "tools":
            await every_tool(arguments)
        case "permission":
            await refused(arguments, ["--agent", "qa"], "create_branch", {"branch": "b"}, "`push`")
        case "down":
            comment = {"pr_number": 1, "body": "Thanks."}
            await refused(arguments, [], "add_pr_comment", comment, "did not answer")


asyncio.run(main(json.loads(sys.argv[1])))
