// Reports what became of the tests of `node --test` to a file outside of the work tree.

import { appendFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const support = dirname(fileURLToPath(import.meta.url));
const report = join(dirname(support), 'reports', `node-${process.pid}.jsonl`);
const tell = (line) => appendFileSync(report, `${JSON.stringify(line)}\n`);

const place = (data) => `${data.file}:${data.line}:${data.column}:${data.nesting}:${data.name}`;
const isFile = (data) => data.nesting === 0 && data.file !== undefined && resolve(data.name) === data.file;

function message(error) {
  const cause = error?.cause;
  const said = cause?.stack ?? cause?.message ?? (typeof cause === 'string' ? cause : undefined);
  return String(said ?? error?.message ?? 'failed').slice(-4000);
}

export default async function* reporter(source) {
  tell({ run: 'begin' });
  const suites = new Map();
  const begun = new Map();
  let count = 0;
  for await (const { type, data } of source) {
    if (type === 'test:dequeue' && !isFile(data)) {
      begun.set(place(data), (begun.get(place(data)) ?? 0) + 1);
    } else if (type === 'test:start') {
      const names = suites.get(data.file) ?? [];
      names.length = data.nesting;
      suites.set(data.file, [...names, data.name]);
    } else if (type === 'test:pass' || type === 'test:fail') {
      begun.set(place(data), (begun.get(place(data)) ?? 0) - 1);
      const failed = type === 'test:fail' && data.todo === undefined;
      const isPart = data.details?.type === 'suite' || isFile(data);
      const reason = data.details?.error?.failureType;
      // A suite fails with its tests, which are reported themselves.
      if (isPart && (!failed || reason === 'subtestsFailed')) {
        if (isFile(data)) tell({ ran: data.file });
        continue;
      }
      const left = data.skip !== undefined || data.todo !== undefined;
      const above = (suites.get(data.file) ?? []).slice(0, data.nesting);
      count += 1;
      tell({
        test: [...above, data.name].join(' > '),
        file: data.file,
        outcome: failed ? 'failed' : left ? 'skipped' : 'passed',
        message: failed ? message(data.details?.error) : '',
        seconds: (data.details?.duration_ms ?? 0) / 1000,
      });
    }
  }
  for (const [at, left] of begun) {
    if (left > 0) tell({ begun: at.split(':').slice(4).join(':') });
  }
  tell({ run: 'end', count });
}
