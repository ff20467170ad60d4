// The bundle that is packed, with the real `vscode-languageclient`.

import assert from 'node:assert/strict';
import Module from 'node:module';
import * as path from 'node:path';
import { test } from 'node:test';

type Load = (name: string, ...rest: unknown[]) => unknown;

/** Returns a class of which each member is such a class, so that the client library can load. */
function anyClass(): object {
  const members: Record<PropertyKey, unknown> = {};
  return new Proxy(class {}, {
    get: (target, key) =>
      key === 'prototype' ? target.prototype : (members[key] ??= anyClass()),
  });
}

test('the bundle needs no module besides vscode, and exports the entry points', () => {
  const loader = Module as unknown as { _load: Load };
  const load = loader._load;
  const vscode = anyClass();
  const asked: string[] = [];
  loader._load = (name, ...rest) => {
    asked.push(name);
    return name === 'vscode' ? vscode : load(name, ...rest);
  };
  try {
    const bundle = path.join(__dirname, '..', 'dist', 'extension.js');
    const exported = load(bundle, null, false) as Record<string, unknown>;
    assert.equal(typeof exported['activate'], 'function');
    assert.equal(typeof exported['deactivate'], 'function');
  } finally {
    loader._load = load;
  }
  const others = asked.filter((name) => name !== 'vscode' && !Module.isBuiltin(name));
  assert.deepEqual(others, []);
});
