// A stub of the module `vscode`: the parts that the extension uses, and a record of their use.

export interface StubState {
  settings: Record<string, unknown>;
  folders: string[];
  isTrusted: boolean;
  activeFile: string | undefined;
  /** The choice of the user in the next message. */
  choice: string | undefined;
  messages: string[];
  log: string[];
  executed: unknown[][];
  commands: Map<string, () => unknown>;
  status: { text: string; tooltip: string; visible: boolean; isWarning: boolean };
  onConfiguration: ((event: unknown) => unknown)[];
  onEditor: (() => unknown)[];
}

function freshState(): StubState {
  return {
    settings: {},
    folders: [],
    isTrusted: true,
    activeFile: undefined,
    choice: undefined,
    messages: [],
    log: [],
    executed: [],
    commands: new Map(),
    status: { text: '', tooltip: '', visible: false, isWarning: false },
    onConfiguration: [],
    onEditor: [],
  };
}

export let state: StubState = freshState();

export function reset(changes: Partial<StubState>): StubState {
  state = { ...freshState(), ...changes };
  return state;
}

const disposable = { dispose(): void {} };

function uri(path: string) {
  return { scheme: 'file', fsPath: path, toString: () => `file://${path}` };
}

async function show(message: string): Promise<string | undefined> {
  state.messages.push(message);
  return state.choice;
}

export const StatusBarAlignment = { Left: 1, Right: 2 };

export class ThemeColor {
  constructor(readonly id: string) {}
}

export const window = {
  showErrorMessage: show,
  showWarningMessage: show,
  createOutputChannel() {
    const log = (text: string) => void state.log.push(text);
    return { ...disposable, info: log, warn: log, error: log, debug: log, show: () => log('shown') };
  },
  createStatusBarItem() {
    return {
      ...disposable,
      set text(text: string) {
        state.status.text = text;
      },
      set tooltip(text: string) {
        state.status.tooltip = text;
      },
      set backgroundColor(color: ThemeColor | undefined) {
        state.status.isWarning = color !== undefined;
      },
      show: () => void (state.status.visible = true),
      hide: () => void (state.status.visible = false),
    };
  },
  onDidChangeActiveTextEditor(listener: () => unknown) {
    state.onEditor.push(listener);
    return disposable;
  },
  get activeTextEditor() {
    return state.activeFile === undefined ? undefined : { document: { uri: uri(state.activeFile) } };
  },
};

export const workspace = {
  getConfiguration: (section: string) => ({
    get: (key: string) => state.settings[`${section}.${key}`],
  }),
  get workspaceFolders() {
    return state.folders.map((folder) => ({ uri: uri(folder) }));
  },
  get isTrusted() {
    return state.isTrusted;
  },
  onDidChangeConfiguration(listener: (event: unknown) => unknown) {
    state.onConfiguration.push(listener);
    return disposable;
  },
};

export const commands = {
  registerCommand(name: string, run: () => unknown) {
    state.commands.set(name, run);
    return disposable;
  },
  async executeCommand(...call: unknown[]) {
    state.executed.push(call);
  },
};
