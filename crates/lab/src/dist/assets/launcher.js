#!/usr/bin/env node
// Starts the program of the package for this machine, and ends as the program ends.
'use strict';

const { spawn } = require('node:child_process');
const { readFileSync } = require('node:fs');
const { constants } = require('node:os');
const { join } = require('node:path');

const { name, optionalDependencies } = JSON.parse(
  readFileSync(join(__dirname, '..', 'package.json'), 'utf8'),
);
const program = process.platform === 'win32' ? 'bin/assay.exe' : 'bin/assay';
const start = `${name}-${process.platform}-${process.arch}`;

function find() {
  const candidates = Object.keys(optionalDependencies ?? {}).filter((key) => key.startsWith(start));
  for (const candidate of candidates) {
    try {
      return require.resolve(`${candidate}/${program}`);
    } catch {
      // npm installs only the packages that fit the machine.
    }
  }
  return undefined;
}

const found = find();
if (found === undefined) {
  console.error(
    `error: no package of assay for ${process.platform} ${process.arch} is installed; ` +
      'if it exists, install again without `--omit=optional` or `--no-optional`',
  );
  process.exit(2);
}

const child = spawn(found, process.argv.slice(2), { stdio: 'inherit' });
// A terminal sends its signals to both processes; the program decides how to end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => child.kill(signal));
}
child.on('error', (error) => {
  console.error(`error: cannot start \`${found}\`: ${error.message}`);
  process.exit(2);
});
child.on('exit', (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});
