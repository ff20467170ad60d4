//! The scripts that time the peers, each in its own process.
//!
//! Each prints the median of repeated runs in seconds.

/// Times `json_repair.loads` on a text.
pub(super) const JSON_REPAIR: &str = r#"
import statistics
import sys
import time

import json_repair

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
times = []
for _ in range(200):
    start = time.perf_counter()
    json_repair.loads(text)
    times.append(time.perf_counter() - start)
print(statistics.median(times))
"#;

/// Times `JSON.parse(jsonrepair(…))` on the content of a text's fence.
pub(super) const JSONREPAIR: &str = r#"
import { readFileSync } from 'node:fs'
import { jsonrepair } from 'jsonrepair'

const text = readFileSync(process.argv[2], 'utf8')
const times = []
for (let run = 0; run < 2000; run++) {
  const start = process.hrtime.bigint()
  JSON.parse(jsonrepair(text.slice(text.indexOf('```json\n') + 8, text.lastIndexOf('```'))))
  times.push(Number(process.hrtime.bigint() - start) / 1e9)
}
times.sort((a, b) => a - b)
console.log(times[times.length / 2])
"#;

/// Times the comparison of every issue of a round with those of past rounds by `difflib`.
pub(super) const DIFFLIB: &str = r#"
import difflib
import json
import sys
import time

with open(sys.argv[1], encoding="utf-8") as file:
    current, past = json.load(file)
start = time.perf_counter()
for issue in current:
    for other in past:
        difflib.SequenceMatcher(None, issue, other).ratio() >= 0.8
print(time.perf_counter() - start)
"#;
