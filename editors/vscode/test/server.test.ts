// The real `assay lsp`, driven with the command line and the options of the extension. The variable
// ASSAY_PROGRAM names the program; without it the tests are skipped.

import assert from 'node:assert/strict';
import * as child from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import {
  type CodeAction,
  type CodeLens,
  createProtocolConnection,
  type Diagnostic,
  type Hover,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  StreamMessageReader,
  StreamMessageWriter,
  type TextDocumentEdit,
} from 'vscode-languageserver-protocol/node';

import { findProgram, serverArguments, thisMachine } from '../src/program';
import { configurationAnswer, serverSettings } from '../src/settings';
import { verdictStatus } from '../src/verdict';

const CODE = 'def total(prices):\n    return sum(prices)\n';
const BROKEN = 'def total(prices):\n    breakpoint()\n    return sum(prices)\n';

const program = process.env['ASSAY_PROGRAM'] ?? '';
const options = { skip: program === '' ? 'ASSAY_PROGRAM is not set' : false };

const settings: Record<string, unknown> = { debounce: 0, path: program, enable: true };
const read = (key: string) => settings[key];

/** A repository with a server for it, as the extension starts it. */
class Conversation {
  readonly file: string;
  readonly uri: string;
  readonly folder: string;
  private readonly server: child.ChildProcess;
  private readonly connection: ProtocolConnection;
  private published: PublishDiagnosticsParams[] = [];
  private wake: () => void = () => {};

  constructor() {
    const home = fs.mkdtempSync(path.join(os.tmpdir(), 'assay-server-'));
    this.folder = path.join(home, 'repository');
    fs.mkdirSync(this.folder);
    this.file = path.join(this.folder, 'shop.py');
    this.uri = pathToFileURL(this.file).toString();
    fs.writeFileSync(this.file, CODE);
    this.git('init', '--quiet');
    this.git('add', '--all');
    this.git('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '-m', 'shop');
    const found = findProgram(program, thisMachine());
    assert.ok(found.kind === 'found', 'ASSAY_PROGRAM is a program');
    const args = serverArguments({ path: program, arguments: [] });
    const env = { ...process.env, XDG_STATE_HOME: path.join(home, 'state') };
    this.server = child.spawn(found.program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const { stdin, stdout } = this.server;
    assert.ok(stdin !== null && stdout !== null);
    this.connection = createProtocolConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    this.connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
      this.published.push(params);
      this.wake();
    });
    this.connection.onRequest('workspace/configuration', (params: { items: { section?: string }[] }) =>
      configurationAnswer(params.items, read),
    );
    for (const method of ['client/registerCapability', 'window/workDoneProgress/create', 'workspace/codeLens/refresh']) {
      this.connection.onRequest(method, () => null);
    }
    this.connection.listen();
  }

  private git(...args: string[]): void {
    child.execFileSync('git', args, { cwd: this.folder });
  }

  async initialize(): Promise<{ capabilities: Record<string, unknown> }> {
    const result = await this.request<{ capabilities: Record<string, unknown> }>('initialize', {
      processId: process.pid,
      rootUri: null,
      workspaceFolders: [{ uri: pathToFileURL(this.folder).toString(), name: 'repository' }],
      initializationOptions: serverSettings(read),
      capabilities: {
        workspace: { configuration: true, workspaceEdit: { documentChanges: true } },
        textDocument: {
          codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix', 'source'] } } },
          hover: { contentFormat: ['markdown'] },
        },
      },
    });
    await this.notify('initialized', {});
    return result;
  }

  request<T>(method: string, params: unknown): Promise<T> {
    return this.connection.sendRequest<T>(method, params);
  }

  notify(method: string, params: unknown): Promise<void> {
    return this.connection.sendNotification(method, params);
  }

  open(text: string): Promise<void> {
    const textDocument = { uri: this.uri, languageId: 'python', version: 1, text };
    return this.notify('textDocument/didOpen', { textDocument });
  }

  /** Types a text at the start of a line. */
  type(version: number, line: number, text: string): Promise<void> {
    const at = { line, character: 0 };
    const textDocument = { uri: this.uri, version };
    const contentChanges = [{ range: { start: at, end: at }, text }];
    return this.notify('textDocument/didChange', { textDocument, contentChanges });
  }

  /** Returns the diagnostics of a version of the file, and waits for them. */
  async diagnostics(version: number): Promise<Diagnostic[]> {
    for (;;) {
      const at = this.published.findIndex((one) => one.uri === this.uri && one.version === version);
      const [found] = at < 0 ? [] : this.published.splice(at, 1);
      if (found !== undefined) {
        return found.diagnostics;
      }
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  about<T>(method: string, more: object): Promise<T> {
    return this.request<T>(method, { textDocument: { uri: this.uri }, ...more });
  }

  actions(line: number, only?: string[]): Promise<CodeAction[]> {
    const at = { line, character: 0 };
    const context = { diagnostics: [], ...(only === undefined ? {} : { only }) };
    return this.about('textDocument/codeAction', { range: { start: at, end: at }, context });
  }

  execute(command: string, argument: object): Promise<unknown> {
    return this.request('workspace/executeCommand', { command, arguments: [argument] });
  }

  async finish(): Promise<number> {
    const exit = once(this.server, 'exit');
    await this.request('shutdown', null);
    await this.notify('exit', undefined);
    const [code] = (await exit) as [number];
    this.connection.dispose();
    return code;
  }
}

function newText(action: CodeAction | undefined): string | undefined {
  const change = action?.edit?.documentChanges?.[0] as TextDocumentEdit | undefined;
  const edit = change?.edits[0];
  return edit !== undefined && 'newText' in edit ? edit.newText : undefined;
}

test('findings appear while typing, with hover and fixes', options, async () => {
  const editor = new Conversation();
  const { capabilities } = await editor.initialize();
  assert.deepEqual(capabilities['executeCommandProvider'], {
    commands: ['assay.dismiss', 'assay.explain', 'assay.showRun', 'assay.review'],
  });
  await editor.open(CODE);
  assert.deepEqual(await editor.diagnostics(1), []);
  await editor.type(2, 1, '    breakpoint()\n');
  const [found] = await editor.diagnostics(2);
  assert.deepEqual([found?.code, found?.source, found?.severity], ['python/debugger', 'assay', 1]);
  const hover = await editor.about<Hover>('textDocument/hover', { position: { line: 1, character: 6 } });
  const text = (hover.contents as { value: string }).value;
  assert.match(text, /Why: .*Evidence:.*breakpoint\(\)/s);
  const actions = await editor.actions(1);
  assert.deepEqual(
    actions.map((action) => action.title.split(':')[0]),
    ['Fix', 'Dismiss', 'Explain', 'Apply all safe fixes of assay in this file'],
  );
  const [all] = await editor.actions(0, ['source.fixAll.assay']);
  assert.equal(newText(all), newText(actions[0]));
  assert.equal(await editor.finish(), 0);
});

test('the status bar follows a review, and a dismissal ends a finding', options, async () => {
  const editor = new Conversation();
  await editor.initialize();
  fs.writeFileSync(editor.file, BROKEN);
  await editor.open(BROKEN);
  const [found] = await editor.diagnostics(1);
  const status = async () => verdictStatus(await editor.about<CodeLens[]>('textDocument/codeLens', {}));
  assert.equal((await status())?.text, '$(circle-outline) assay: not reviewed yet (1)');
  await editor.execute('assay.review', { uri: editor.uri });
  await editor.diagnostics(1);
  assert.equal((await status())?.text, '$(error) assay: not ready (1)');
  const id = (found?.data as { id: string }).id;
  assert.match(String(await editor.execute('assay.explain', { uri: editor.uri, id })), /raised/);
  const reason = 'shown in the tutorial';
  const answer = await editor.execute('assay.dismiss', { uri: editor.uri, id, reason });
  assert.match(String(answer), /^dismissed: /);
  assert.deepEqual(await editor.diagnostics(1), []);
  assert.equal(await editor.finish(), 0);
});

test('changed settings of the extension are understood by the server', options, async () => {
  const editor = new Conversation();
  await editor.initialize();
  await editor.open(BROKEN);
  assert.equal((await editor.diagnostics(1)).length, 1);
  const critical = serverSettings((key) => (key === 'severity' ? 'CRITICAL' : read(key)));
  await editor.notify('workspace/didChangeConfiguration', { settings: { assay: critical } });
  assert.deepEqual(await editor.diagnostics(1), []);
  await editor.notify('workspace/didChangeConfiguration', { settings: null });
  assert.equal((await editor.diagnostics(1)).length, 1);
  assert.equal(await editor.finish(), 0);
});
