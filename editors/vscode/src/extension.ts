// The extension: one client of `assay lsp` for the workspace, its commands and its status bar item.

import * as vscode from 'vscode';
import {
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
  type ServerOptions,
} from 'vscode-languageclient/node';

import { findProgram, INSTALL_HINT, isInRepository, serverArguments, thisMachine } from './program';
import {
  configurationAnswer,
  RESTART_KEYS,
  SERVER_KEYS,
  serverSettings,
  textList,
} from './settings';
import { isAllowed, NEEDS_TRUST } from './trust';
import { type VerdictLens, verdictStatus } from './verdict';

const SECTION = 'assay';
const FIX_ALL = 'source.fixAll.assay';
const OPEN_SETTINGS = 'Open Settings';

let session: Session | undefined;

/** Starts the extension; VS Code calls this function. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  session = new Session();
  context.subscriptions.push(session);
  await session.restart();
}

/** Stops the server; VS Code calls this function. */
export async function deactivate(): Promise<void> {
  await session?.stop();
  session = undefined;
}

function read(key: string): unknown {
  return vscode.workspace.getConfiguration(SECTION).get(key);
}

/** The client with its commands and its status bar item. */
class Session implements vscode.Disposable {
  private client: LanguageClient | undefined;
  /** The end of the last start or stop, so that two of them do not overlap. */
  private last: Promise<void> = Promise.resolve();
  private readonly output = vscode.window.createOutputChannel('assay', { log: true });
  private readonly status = vscode.window.createStatusBarItem(
    'assay.verdict',
    vscode.StatusBarAlignment.Left,
  );
  private readonly parts: vscode.Disposable[];

  constructor() {
    this.status.name = 'assay';
    this.status.command = 'assay.showVerdict';
    const command = (name: string, run: () => Promise<unknown> | unknown) =>
      vscode.commands.registerCommand(name, run);
    this.parts = [
      this.output,
      this.status,
      command('assay.restartServer', () => this.restart()),
      command('assay.fixAllSafe', () => this.fixAllSafe()),
      command('assay.reviewNow', () => this.execute('assay.review')),
      command('assay.showVerdict', () => this.execute('assay.showRun')),
      command('assay.showOutput', () => this.output.show()),
      vscode.workspace.onDidChangeConfiguration((event) => this.changeSettings(event)),
      vscode.window.onDidChangeActiveTextEditor(() => this.showVerdict()),
    ];
  }

  dispose(): void {
    this.parts.forEach((part) => part.dispose());
  }

  /** Starts the server, or starts it again. */
  restart(): Promise<void> {
    return this.after(async () => {
      await this.stopClient();
      await this.startClient();
    });
  }

  /** Stops the server. */
  stop(): Promise<void> {
    return this.after(() => this.stopClient());
  }

  private after(step: () => Promise<void>): Promise<void> {
    this.last = this.last.then(step, step);
    return this.last;
  }

  private async stopClient(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.status.hide();
    // A server that could not be started cannot be stopped either.
    await client?.dispose().catch((error: unknown) => this.output.warn(String(error)));
  }

  private async startClient(): Promise<void> {
    if (read('enable') === false) {
      this.output.info('assay.enable is false, so the server is not started');
      return;
    }
    const folders = vscode.workspace.workspaceFolders ?? [];
    const local = folders.filter((folder) => folder.uri.scheme === 'file');
    if (!local.some((folder) => isInRepository(folder.uri.fsPath))) {
      this.output.info('no folder of the workspace is in a git repository');
      return;
    }
    const found = findProgram(String(read('path') ?? ''), thisMachine());
    if (found.kind === 'missing') {
      this.output.error(found.why);
      void this.explainMissing(found.why);
      return;
    }
    const run: ServerOptions = {
      command: found.program,
      args: serverArguments({ path: found.program, arguments: textList(read('arguments')) }),
    };
    const client = new LanguageClient(SECTION, 'assay', run, this.clientOptions());
    this.client = client;
    try {
      await client.start();
      await this.showVerdict();
    } catch (error) {
      this.client = undefined;
      this.output.error(String(error));
      const why = `\`${found.program} lsp\` could not be started; the output has the reason.`;
      void vscode.window.showErrorMessage(`assay: ${why}`);
    }
  }

  private async explainMissing(why: string): Promise<void> {
    const message = `assay: ${why} ${INSTALL_HINT}`;
    const choice = await vscode.window.showErrorMessage(message, OPEN_SETTINGS);
    if (choice === OPEN_SETTINGS) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'assay.path');
    }
  }

  private clientOptions(): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: 'file' }],
      initializationOptions: serverSettings(read),
      outputChannel: this.output,
      traceOutputChannel: this.output,
      // Findings quote the change under review: no text of theirs is trusted or is HTML.
      markdown: { isTrusted: false, supportHtml: false },
      middleware: this.middleware(),
    };
  }

  private middleware(): Middleware {
    return {
      handleDiagnostics: (uri, diagnostics, next) => {
        next(uri, diagnostics);
        void this.showVerdict();
      },
      executeCommand: (command, args, next) => {
        if (isAllowed(command, vscode.workspace.isTrusted)) {
          return next(command, args);
        }
        void vscode.window.showWarningMessage(NEEDS_TRUST);
        return undefined;
      },
      workspace: { configuration: (params) => configurationAnswer(params.items, read) },
    };
  }

  private async changeSettings(event: vscode.ConfigurationChangeEvent): Promise<void> {
    const changes = (keys: readonly string[]) =>
      keys.some((key) => event.affectsConfiguration(`${SECTION}.${key}`));
    if (changes(RESTART_KEYS)) {
      await this.restart();
    } else if (changes(SERVER_KEYS)) {
      const settings = { [SECTION]: serverSettings(read) };
      await this.client?.sendNotification('workspace/didChangeConfiguration', { settings });
    }
  }

  private async fixAllSafe(): Promise<void> {
    const argument = { kind: FIX_ALL, apply: 'first' };
    await vscode.commands.executeCommand('editor.action.sourceAction', argument);
  }

  /** Runs a command of the server for the file of the active editor. */
  private async execute(command: string): Promise<void> {
    if (this.client === undefined) {
      void vscode.window.showWarningMessage('assay: the server does not run; see the output.');
      return;
    }
    if (!isAllowed(command, vscode.workspace.isTrusted)) {
      void vscode.window.showWarningMessage(NEEDS_TRUST);
      return;
    }
    try {
      const params = { command, arguments: [this.activeFile() ?? {}] };
      await this.client.sendRequest('workspace/executeCommand', params);
    } catch (error) {
      void vscode.window.showErrorMessage(`assay: ${messageOf(error)}`);
    }
    await this.showVerdict();
  }

  private activeFile(): { uri: string } | undefined {
    const document = vscode.window.activeTextEditor?.document;
    return document?.uri.scheme === 'file' ? { uri: document.uri.toString() } : undefined;
  }

  /** Shows the verdict for the file of the active editor in the status bar. */
  private async showVerdict(): Promise<void> {
    const file = this.activeFile();
    const status = file === undefined ? undefined : verdictStatus(await this.lenses(file));
    if (status === undefined) {
      this.status.hide();
      return;
    }
    this.status.text = status.text;
    this.status.tooltip = status.tooltip;
    this.status.backgroundColor = status.isWarning
      ? new vscode.ThemeColor('statusBarItem.warningBackground')
      : undefined;
    this.status.show();
  }

  private async lenses(textDocument: { uri: string }): Promise<VerdictLens[]> {
    const client = this.client;
    if (client === undefined || !client.isRunning()) {
      return [];
    }
    try {
      const found = await client.sendRequest('textDocument/codeLens', { textDocument });
      return (found as VerdictLens[] | null) ?? [];
    } catch (error) {
      this.output.debug(`no verdict: ${messageOf(error)}`);
      return [];
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
