// The real `assay lsp`, driven with the command line and the options of the extension. The variable
// ASSAY_PROGRAM names the program; without it the tests are skipped.

import assert from 'node:assert/strict';
import * as child from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
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
const options = {
  skip: program === '' ? 'ASSAY_PROGRAM is not set' : false,
  // A server that never answers fails the test.
  timeout: 60_000,
};

const settings: Record<string, unknown> = { debounce: 0, path: program, enable: true };
const read = (key: string) => settings[key];

/** A repository with a server for it, as the extension starts it. */
class Conversation {
  readonly file: string;
  readonly uri: string;
  readonly folder: string;
  private readonly server: child.ChildProcess;
  private readonly connection: ProtocolConnection;
  private readonly published: PublishDiagnosticsParams[] = [];
  /** The number of messages from the server that tell of a change. */
  private changes = 0;
  private wake: () => void = () => {};

  /** Starts the server, which ends with the test at the latest. */
  constructor(test: TestContext) {
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
    test.after(() => this.server.kill());
    const { stdin, stdout } = this.server;
    assert.ok(stdin !== null && stdout !== null);
    this.connection = createProtocolConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    this.connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
      this.published.push(params);
      this.changed();
    });
    this.connection.onRequest('workspace/configuration', (params: { items: { section?: string }[] }) =>
      configurationAnswer(params.items, read),
    );
    for (const method of ['client/registerCapability', 'window/workDoneProgress/create']) {
      this.connection.onRequest(method, () => null);
    }
    this.connection.onRequest('workspace/codeLens/refresh', () => {
      this.changed();
      return null;
    });
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

  /**
   * Waits until a version of the file has this number of diagnostics, and returns them. The server
   * may publish the same diagnostics twice, such as after a review.
   */
  async diagnostics(version: number, length: number): Promise<Diagnostic[]> {
    return this.until(async () => {
      const last = this.published.filter((one) => one.uri === this.uri && one.version === version).at(-1);
      return last?.diagnostics.length === length ? last.diagnostics : undefined;
    });
  }

  /** Waits until the status bar would show a text. */
  async status(expected: string): Promise<void> {
    await this.until(async () => {
      const shown = verdictStatus(await this.about<CodeLens[]>('textDocument/codeLens', {}))?.text;
      return shown === expected ? true : undefined;
    });
  }

  /** Reads again after each change until there is a result. */
  private async until<T>(result: () => Promise<T | undefined>): Promise<T> {
    for (;;) {
      const before = this.changes;
      const found = await result();
      if (found !== undefined) {
        return found;
      }
      if (this.changes === before) {
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    }
  }

  private changed(): void {
    this.changes += 1;
    this.wake();
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

test('findings appear while typing, with hover and fixes', options, async (test) => {
  const editor = new Conversation(test);
  const { capabilities } = await editor.initialize();
  assert.deepEqual(capabilities['executeCommandProvider'], {
    commands: ['assay.dismiss', 'assay.explain', 'assay.showRun', 'assay.review'],
  });
  await editor.open(CODE);
  await editor.diagnostics(1, 0);
  await editor.type(2, 1, '    breakpoint()\n');
  const [found] = await editor.diagnostics(2, 1);
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

test('the status bar follows a review, and a dismissal ends a finding', options, async (test) => {
  const editor = new Conversation(test);
  await editor.initialize();
  fs.writeFileSync(editor.file, BROKEN);
  await editor.open(BROKEN);
  const [found] = await editor.diagnostics(1, 1);
  await editor.status('$(circle-outline) assay: not reviewed yet (1)');
  await editor.execute('assay.review', { uri: editor.uri });
  await editor.status('$(error) assay: not ready (1)');
  await editor.diagnostics(1, 1);
  const id = (found?.data as { id: string }).id;
  assert.match(String(await editor.execute('assay.explain', { uri: editor.uri, id })), /raised/);
  const reason = 'shown in the tutorial';
  const answer = await editor.execute('assay.dismiss', { uri: editor.uri, id, reason });
  assert.match(String(answer), /^dismissed: /);
  await editor.diagnostics(1, 0);
  assert.equal(await editor.finish(), 0);
});

test('changed settings of the extension are understood by the server', options, async (test) => {
  const editor = new Conversation(test);
  await editor.initialize();
  await editor.open(BROKEN);
  await editor.diagnostics(1, 1);
  const critical = serverSettings((key) => (key === 'severity' ? 'CRITICAL' : read(key)));
  await editor.notify('workspace/didChangeConfiguration', { settings: { assay: critical } });
  await editor.diagnostics(1, 0);
  await editor.notify('workspace/didChangeConfiguration', { settings: null });
  await editor.diagnostics(1, 1);
  assert.equal(await editor.finish(), 0);
});
