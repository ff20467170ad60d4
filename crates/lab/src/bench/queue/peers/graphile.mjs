// Times graphile-worker: `node graphile.mjs URL JOBS single|batch`, prints seconds as JSON.
import { makeWorkerUtils, run, Logger } from 'graphile-worker'

const [url, jobs, mode] = [process.argv[2], Number(process.argv[3]), process.argv[4]]
const quiet = new Logger(() => () => {})
const utils = await makeWorkerUtils({ connectionString: url, maxPoolSize: 8, logger: quiet })
await utils.migrate()

const seconds = () => Number(process.hrtime.bigint()) / 1e9
const began = seconds()
let next = 0
const push = async () => {
  while (next < jobs) {
    const start = next
    next += mode === 'batch' ? 50 : 1
    if (mode === 'batch') {
      const many = Math.min(50, jobs - start)
      await utils.addJobs(Array.from({ length: many }, () => ({ identifier: 'noop', payload: {} })))
    } else {
      await utils.addJob('noop', {})
    }
  }
}
await Promise.all(Array.from({ length: 8 }, push))
const pushed = seconds()

let done = 0
let finish
const finished = new Promise((resolve) => (finish = resolve))
const tuned = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }
const runner = await run({
  connectionString: url,
  concurrency: mode === 'batch' ? 24 : 8,
  maxPoolSize: 10,
  noHandleSignals: true,
  logger: quiet,
  preset: { worker: mode === 'batch' ? tuned : {} },
  taskList: { noop: async () => { if (++done === jobs) finish() } },
})
await finished
await runner.stop()
console.log(JSON.stringify({ push: pushed - began, work: seconds() - pushed }))
await utils.release()
process.exit(0)
