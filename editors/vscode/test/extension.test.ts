import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { beforeEach, test } from 'node:test';

import type { ExtensionContext } from 'vscode';

import manifest from '../package.json';
import { activate, deactivate } from '../src/extension';
import { behaviour, clients, type StubClient } from './stub/languageclient';
import { reset, type StubState } from './stub/vscode';

function repository(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'assay-extension-'));
  fs.mkdirSync(path.join(folder, '.git'));
  return folder;
}

async function start(changes: Partial<StubState> = {}): Promise<StubState> {
  const settings = { 'assay.path': process.execPath, ...changes.settings };
  const state = reset({ folders: [repository()], ...changes, settings });
  await activate({ subscriptions: [] } as unknown as ExtensionContext);
  return state;
}

function client(): StubClient {
  const last = clients.at(-1);
  assert.ok(last !== undefined, 'a client was made');
  return last;
}

beforeEach(() => {
  clients.length = 0;
  behaviour.lenses = [];
  behaviour.startError = undefined;
});

test('the server starts with the program, the arguments and the settings of the user', async () => {
  const settings = { 'assay.arguments': ['-v'], 'assay.base': 'main', 'assay.debounce': 5 };
  await start({ settings });
  assert.deepEqual(client().run, { command: process.execPath, args: ['-v', 'lsp', '--stdio'] });
  const options = { base: 'main', untracked: false, severity: null, debounce: 5 };
  assert.deepEqual(client().options.initializationOptions, options);
  assert.deepEqual(client().options.markdown, { isTrusted: false, supportHtml: false });
  await deactivate();
  assert.equal(client().state, 'disposed');
});

test('each command of the manifest is registered', async () => {
  const state = await start();
  const declared = manifest.contributes.commands.map((command) => command.command);
  assert.deepEqual([...state.commands.keys()].sort(), declared.sort());
  await deactivate();
});

test('a missing program is named with a hint, and the settings open on request', async () => {
  const state = await start({
    settings: { 'assay.path': '/nowhere/assay' },
    choice: 'Open Settings',
  });
  assert.equal(clients.length, 0);
  assert.match(state.messages[0] ?? '', /`\/nowhere\/assay`.*can be started.*cargo install/s);
  await new Promise(setImmediate);
  assert.deepEqual(state.executed, [['workbench.action.openSettings', 'assay.path']]);
  await state.commands.get('assay.reviewNow')?.();
  assert.match(state.messages[1] ?? '', /the server does not run/);
  await deactivate();
});

test('no server starts if it is switched off, or outside of a repository', async () => {
  await start({ settings: { 'assay.enable': false } });
  await deactivate();
  const outside = fs.mkdtempSync(path.join(os.tmpdir(), 'assay-outside-'));
  await start({ folders: [outside] });
  await deactivate();
  await start({ folders: [] });
  await deactivate();
  assert.equal(clients.length, 0);
});

test('a server that does not start is named, and a restart tries again', async () => {
  behaviour.startError = 'exit code 2';
  const state = await start();
  assert.match(state.messages[0] ?? '', /could not be started; the output has the reason/);
  assert.ok(state.log.some((line) => line.includes('exit code 2')));
  behaviour.startError = undefined;
  await state.commands.get('assay.restartServer')?.();
  assert.deepEqual([clients.length, client().state], [2, 'running']);
  await deactivate();
});

test('changed settings reach the server, and a changed program starts it again', async () => {
  const state = await start();
  const change = async (key: string, value: unknown) => {
    state.settings[key] = value;
    const event = { affectsConfiguration: (name: string) => name === key };
    await Promise.all(state.onConfiguration.map((listener) => listener(event)));
  };
  await change('assay.severity', 'HIGH');
  const settings = { assay: { base: null, untracked: false, severity: 'HIGH', debounce: null } };
  assert.deepEqual(client().sent.at(-1), {
    method: 'workspace/didChangeConfiguration',
    params: { settings },
  });
  await change('assay.trace.server', 'verbose');
  assert.equal(clients.length, 1);
  await change('assay.arguments', ['-vv']);
  assert.deepEqual(clients.map((one) => one.state), ['disposed', 'running']);
  await change('assay.enable', false);
  assert.deepEqual(clients.map((one) => one.state), ['disposed', 'disposed']);
  await deactivate();
});

test('the verdict of the active file is in the status bar', async () => {
  const title = 'assay: not ready (1 finding: 1 HIGH); here: 1';
  behaviour.lenses = [{ command: { title, command: 'assay.showRun' } }];
  const state = await start({ activeFile: '/w/a.py' });
  assert.deepEqual(
    [state.status.text, state.status.visible, state.status.isWarning],
    ['$(error) assay: not ready (1)', true, true],
  );
  state.activeFile = undefined;
  await Promise.all(state.onEditor.map((listener) => listener()));
  assert.equal(state.status.visible, false);
  state.activeFile = '/w/a.py';
  let passed = 0;
  client().options.middleware.handleDiagnostics('file:///w/a.py', [], () => void (passed += 1));
  await new Promise(setImmediate);
  assert.deepEqual([passed, state.status.visible], [1, true]);
  await deactivate();
  assert.equal(state.status.visible, false);
});

test('commands are sent for the active file', async () => {
  const state = await start({ activeFile: '/w/a.py' });
  await state.commands.get('assay.reviewNow')?.();
  await state.commands.get('assay.showVerdict')?.();
  const sent = client().sent.filter((one) => one.method === 'workspace/executeCommand');
  assert.deepEqual(
    sent.map((one) => one.params),
    ['assay.review', 'assay.showRun'].map((command) => ({ command, arguments: [{ uri: 'file:///w/a.py' }] })),
  );
  await state.commands.get('assay.fixAllSafe')?.();
  const action = { kind: 'source.fixAll.assay', apply: 'first' };
  assert.deepEqual(state.executed, [['editor.action.sourceAction', action]]);
  await deactivate();
});

test('an untrusted workspace starts no review, by no path', async () => {
  const state = await start({ isTrusted: false, activeFile: '/w/a.py' });
  await state.commands.get('assay.reviewNow')?.();
  const { executeCommand, workspace } = client().options.middleware;
  const next = (command: unknown) => `sent ${String(command)}`;
  assert.equal(executeCommand('assay.review', [], next), undefined);
  assert.equal(executeCommand('assay.dismiss', [], next), undefined);
  assert.equal(executeCommand('assay.explain', [], next), 'sent assay.explain');
  assert.ok(client().sent.every((one) => one.method !== 'workspace/executeCommand'));
  assert.equal(state.messages.filter((text) => text.includes('Trust the workspace')).length, 3);
  const answer = workspace.configuration({ items: [{ section: 'assay' }] }) as object[];
  assert.deepEqual(Object.keys(answer[0] ?? {}), ['base', 'untracked', 'severity', 'debounce']);
  await deactivate();
});
