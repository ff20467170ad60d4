// Times pg-boss: `node pg-boss.mjs URL JOBS single|batch`, prints seconds as JSON.
import * as module from 'pg-boss'

const PgBoss = module.PgBoss ?? module.default
const [url, jobs, mode] = [process.argv[2], Number(process.argv[3]), process.argv[4]]
const size = mode === 'batch' ? 50 : 1
const boss = new PgBoss({ connectionString: url, max: 8, supervise: false, schedule: false })
boss.on('error', (error) => { throw error })
await boss.start()
await boss.createQueue('noop')

const seconds = () => Number(process.hrtime.bigint()) / 1e9
const began = seconds()
let next = 0
const push = async () => {
  while (next < jobs) {
    const many = Math.min(size, jobs - next)
    next += many
    if (mode === 'batch') await boss.insert('noop', Array.from({ length: many }, () => ({ data: {} })))
    else await boss.send('noop', {})
  }
}
await Promise.all(Array.from({ length: 8 }, push))
const pushed = seconds()

const work = async () => {
  for (;;) {
    const taken = await boss.fetch('noop', { batchSize: size })
    if (taken.length === 0) return taken
    await boss.complete('noop', taken.map((job) => job.id))
  }
}
await Promise.all(Array.from({ length: 8 }, work))
console.log(JSON.stringify({ push: pushed - began, work: seconds() - pushed }))
process.exit(0)
