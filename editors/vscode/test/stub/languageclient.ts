// A stub of `vscode-languageclient/node`: records the calls of the extension, and answers them.

export interface StubClient {
  readonly run: { command: string; args: string[] };
  readonly options: {
    initializationOptions: unknown;
    markdown: unknown;
    middleware: {
      handleDiagnostics: (uri: unknown, found: unknown[], next: (...all: unknown[]) => void) => void;
      executeCommand: (command: string, args: unknown[], next: (...all: unknown[]) => unknown) => unknown;
      workspace: { configuration: (params: { items: { section?: string }[] }) => unknown };
    };
  };
  readonly sent: { method: string; params: unknown }[];
  state: 'new' | 'running' | 'disposed';
}

/** All clients that were made, in order. */
export const clients: StubClient[] = [];

/** The behaviour of the next clients. */
export const behaviour: { lenses: unknown; startError: string | undefined } = {
  lenses: [],
  startError: undefined,
};

export class LanguageClient implements StubClient {
  readonly sent: StubClient['sent'] = [];
  state: StubClient['state'] = 'new';

  constructor(
    readonly id: string,
    readonly name: string,
    readonly run: StubClient['run'],
    readonly options: StubClient['options'],
  ) {
    clients.push(this);
  }

  async start(): Promise<void> {
    if (behaviour.startError !== undefined) {
      throw new Error(behaviour.startError);
    }
    this.state = 'running';
  }

  async dispose(): Promise<void> {
    this.state = 'disposed';
  }

  isRunning(): boolean {
    return this.state === 'running';
  }

  async sendRequest(method: string, params: unknown): Promise<unknown> {
    this.sent.push({ method, params });
    return method === 'textDocument/codeLens' ? behaviour.lenses : null;
  }

  async sendNotification(method: string, params: unknown): Promise<void> {
    this.sent.push({ method, params });
  }
}
