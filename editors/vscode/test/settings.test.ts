import assert from 'node:assert/strict';
import { test } from 'node:test';

import manifest from '../package.json';
import { configurationAnswer, RESTART_KEYS, SERVER_KEYS, serverSettings } from '../src/settings';
import { isAllowed } from '../src/trust';
import { verdictStatus } from '../src/verdict';

const read = (settings: Record<string, unknown>) => (key: string) => settings[key];

test('the server gets its own settings alone', () => {
  const all = { path: '/x', trace: { server: 'off' }, base: 'main', untracked: true, severity: 'HIGH', debounce: 0 };
  const expected = { base: 'main', untracked: true, severity: 'HIGH', debounce: 0 };
  assert.deepEqual(serverSettings(read(all)), expected);
  const asked = [{ section: 'assay' }, { section: 'editor' }, {}];
  assert.deepEqual(configurationAnswer(asked, read(all)), [expected, null, null]);
});

test('empty settings and settings of a wrong type have their default', () => {
  const none = { base: null, untracked: false, severity: null, debounce: null };
  assert.deepEqual(serverSettings(read({})), none);
  const wrong = { base: 7, untracked: 'yes', severity: ' ', debounce: -1 };
  assert.deepEqual(serverSettings(read(wrong)), none);
});

test('each setting of the manifest is used, and no workspace chooses a program', () => {
  const properties: Record<string, { scope: string }> = manifest.contributes.configuration.properties;
  const used = [...RESTART_KEYS, ...SERVER_KEYS, 'trace.server'].map((key) => `assay.${key}`);
  assert.deepEqual(Object.keys(properties).sort(), used.sort());
  for (const key of ['assay.path', 'assay.arguments']) {
    assert.equal(properties[key]?.scope, 'machine');
    assert.ok(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.includes(key));
  }
});

test('commands that start analysers need a trusted workspace', () => {
  for (const command of ['assay.review', 'assay.dismiss']) {
    assert.deepEqual([isAllowed(command, true), isAllowed(command, false)], [true, false]);
  }
  assert.ok(isAllowed('assay.explain', false) && isAllowed('assay.showRun', false));
});

const lens = (title: string, command = 'assay.showRun') => [{ command: { title, command } }];

test('the status bar shows the verdict and the findings of the file', () => {
  const status = verdictStatus(lens('assay: not ready (1 finding: 1 HIGH); here: 2'));
  assert.equal(status?.text, '$(error) assay: not ready (2)');
  assert.match(status?.tooltip ?? '', /not ready: 1 finding: 1 HIGH\nFindings in this file: 2/);
  assert.equal(status?.isWarning, true);
  const ready = verdictStatus(lens('assay: ready (no findings); here: 0'));
  assert.deepEqual([ready?.text, ready?.isWarning], ['$(pass) assay: ready', false]);
  const none = verdictStatus(lens('assay: not reviewed yet; here: 0'));
  assert.equal(none?.text, '$(circle-outline) assay: not reviewed yet');
});

test('no status is shown without a verdict, and a verdict is not taken from other lenses', () => {
  assert.equal(verdictStatus([]), undefined);
  assert.equal(verdictStatus([{}]), undefined);
  assert.equal(verdictStatus(lens('assay: ready; here: 0', 'other.command')), undefined);
  assert.equal(verdictStatus(lens('ready')), undefined);
});

test('a text of the server adds no icon to the status bar', () => {
  const status = verdictStatus(lens('assay: $(bug); here: 0'));
  assert.ok(!(status?.text ?? '').includes('$(bug)'), status?.text);
});
