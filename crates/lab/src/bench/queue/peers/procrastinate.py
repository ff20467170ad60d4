"""Times procrastinate: `procrastinate.py URL JOBS single|batch`, prints seconds as JSON."""

import asyncio
import json
import logging
import sys
import time

import procrastinate

URL, JOBS, MODE = sys.argv[1], int(sys.argv[2]), sys.argv[3]
SIZE = 50 if MODE == "batch" else 1
WORKERS = 8

app = procrastinate.App(
    connector=procrastinate.PsycopgConnector(conninfo=URL, min_size=WORKERS, max_size=WORKERS + 2)
)


@app.task(name="noop")
async def noop():
    pass


async def push(numbers):
    for _ in numbers:
        if SIZE == 1:
            await noop.defer_async()
        else:
            await noop.batch_defer_async(*({} for _ in range(SIZE)))


async def main():
    logging.disable(logging.CRITICAL)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        numbers = iter(range(JOBS // SIZE))
        began = time.perf_counter()
        await asyncio.gather(*(push(numbers) for _ in range(WORKERS)))
        pushed = time.perf_counter()
        await app.run_worker_async(concurrency=WORKERS, wait=False, install_signal_handlers=False)
        print(json.dumps({"push": pushed - began, "work": time.perf_counter() - pushed}))


asyncio.run(main())
