"""Times pgqueuer: `pgqueuer.py URL JOBS single|batch`, prints seconds as JSON."""

import asyncio
import json
import logging
import sys
import time

import asyncpg
from pgqueuer.db import AsyncpgDriver
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

URL, JOBS, MODE = sys.argv[1], int(sys.argv[2]), sys.argv[3]
SIZE = 50 if MODE == "batch" else 1
WORKERS = 8


async def push(connection, numbers):
    queries = Queries(AsyncpgDriver(connection))
    for _ in numbers:
        await queries.enqueue(["noop"] * SIZE, [None] * SIZE, [0] * SIZE)


async def work(connection):
    manager = QueueManager(Queries(AsyncpgDriver(connection)))

    @manager.entrypoint("noop")
    async def noop(job):
        pass

    await manager.run(batch_size=SIZE, mode=QueueExecutionMode.drain)


async def main():
    logging.disable(logging.CRITICAL)
    connections = [await asyncpg.connect(URL) for _ in range(WORKERS)]
    await Queries(AsyncpgDriver(connections[0])).install()
    numbers = iter(range(JOBS // SIZE))
    began = time.perf_counter()
    await asyncio.gather(*(push(connection, numbers) for connection in connections))
    pushed = time.perf_counter()
    await asyncio.gather(*(work(connection) for connection in connections))
    print(json.dumps({"push": pushed - began, "work": time.perf_counter() - pushed}))


asyncio.run(main())
