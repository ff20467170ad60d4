"""Calls every tool of the server, over a transport, in one revision of the protocol."""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

REVIEW = {
    "agent_id": "qa", "task_type": "review", "title": "Review PR #456", "description": "Look.",
    "context": {"epic_key": "PROJ-100", "pr_number": 456}, "priority": 7,
    "acceptance_criteria": ["All checks pass"], "plan": {"approach": "Look."},
}
REPORT = json.dumps([{
    "file": "src/a.rs", "line_number": 2, "severity": "HIGH", "category": "correctness",
    "description": "b can fail, and then a panics", "evidence": ["b().unwrap();"],
}])


def transport(arguments):
    if arguments["url"] is None:
        return StdioServerParameters(command=arguments["command"], args=["mcp", "task-queue"])
    headers = {"Authorization": arguments["authorization"]}
    return streamable_http_client(
        arguments["url"], http_client=httpx2.AsyncClient(headers=headers))


async def main(arguments):
    async with Client(transport(arguments), mode=arguments["mode"]) as client:
        assert client.protocol_version == arguments["revision"], client.protocol_version
        called = set()

        async def call(tool, **given):
            called.add(tool)
            # The client itself holds the answer against the schema of the tool.
            result = await client.call_tool(tool, given)
            assert not result.is_error, (tool, result.content)
            assert json.loads(result.content[0].text) == result.structured_content
            return result.structured_content

        first = await call("queue_task_for_agent", **REVIEW)
        second = await call("queue_task_for_agent", **REVIEW, depends_on=[first["task_id"]])
        status = await call("get_queue_status")
        qa = next(queue for queue in status["queues"] if queue["queue"] == "qa")
        assert (qa["ready"], qa["waiting"]) == (1, 1), status
        pending = await call("list_pending_tasks", agent_id="qa")
        assert pending["tasks"][0]["id"] == first["task_id"], pending
        details = await call("get_task_details", task_id=second["task_id"])
        assert details["standing"] == {"state": "waiting", "on": [first["task_id"]]}, details
        assert (await call("get_task_details", task_id="nope"))["error"] == "Task nope not found"
        taken = await call("report_findings", task_id=first["task_id"], report=REPORT)
        assert (taken["report"], taken["verdict"]) == (1, "not_ready"), taken
        found = await call("get_findings", task_id=first["task_id"])
        assert found["findings"][0]["finding"]["line_number"] == 2, found
        assert (await call("cancel_task", task_id=second["task_id"]))["status"] == "cancelled"
        epic = await call("get_epic_progress", epic_key="PROJ-100")
        assert (epic["total"], epic["by_status"]["cancelled"]) == (2, 1), epic

        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert listed == called, listed ^ called
        refused = await client.call_tool("cancel_task", {"task_id": "../../etc"})
        assert refused.is_error and "task_id" in refused.content[0].text, refused


asyncio.run(main(json.loads(sys.argv[1])))
