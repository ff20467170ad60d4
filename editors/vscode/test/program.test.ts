import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';

import { findProgram, isInRepository, type Machine, serverArguments } from '../src/program';

function folder(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'assay-program-'));
}

function program(at: string, mode = 0o755): string {
  fs.writeFileSync(at, '#!/bin/sh\n', { mode });
  return at;
}

function machine(searchPath: string, home = '/nowhere'): Machine {
  return { searchPath, home, isWindows: false };
}

test('a name is searched in the absolute folders of PATH', () => {
  const [first, second] = [folder(), folder()];
  program(path.join(first, 'assay'), 0o644);
  const expected = program(path.join(second, 'assay'));
  for (const setting of ['assay', '', '  ']) {
    const found = findProgram(setting, machine(`.::bin:${first}:${second}`));
    assert.deepEqual(found, { kind: 'found', program: expected });
  }
});

test('a folder of the workspace in PATH is not searched', () => {
  const workspace = folder();
  program(path.join(workspace, 'assay'));
  const before = process.cwd();
  process.chdir(workspace);
  try {
    const found = findProgram('assay', machine('.:'));
    assert.deepEqual(found, { kind: 'missing', why: 'The program `assay` is not in `PATH`.' });
  } finally {
    process.chdir(before);
  }
});

test('an absolute path and a path in the home are used as they are', () => {
  const home = folder();
  const expected = program(path.join(home, 'assay-dev'));
  assert.deepEqual(findProgram(expected, machine('')), { kind: 'found', program: expected });
  const found = findProgram('~/assay-dev', machine('', home));
  assert.deepEqual(found, { kind: 'found', program: expected });
});

test('a relative path and a path without a program are refused with the reason', () => {
  const why = (setting: string) => {
    const found = findProgram(setting, machine('/bin'));
    return found.kind === 'missing' ? found.why : 'found';
  };
  assert.match(why('./assay'), /expected a name or an absolute path/);
  assert.match(why('/nowhere/assay'), /is no program that can be started/);
  assert.match(why(folder()), /is no program that can be started/);
});

test('the arguments of the user come before the command', () => {
  assert.deepEqual(serverArguments({ path: 'assay', arguments: ['-v'] }), ['-v', 'lsp', '--stdio']);
});

test('a folder below a repository is in the repository', () => {
  const root = folder();
  const inside = path.join(root, 'a', 'b');
  fs.mkdirSync(inside, { recursive: true });
  assert.equal(isInRepository(inside), false);
  fs.writeFileSync(path.join(root, '.git'), 'gitdir: elsewhere\n');
  assert.equal(isInRepository(inside), true);
});
