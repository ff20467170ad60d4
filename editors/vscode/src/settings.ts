// The settings of the server. Without an import of `vscode`.

/** Reads one setting of the section `assay`. */
export type ReadSetting = (key: string) => unknown;

/** The settings that the server understands. Others would be refused by the server. */
export interface ServerSettings {
  readonly base: string | null;
  readonly untracked: boolean;
  readonly severity: string | null;
  readonly debounce: number | null;
}

/** The settings that need a new server if they change. */
export const RESTART_KEYS = ['enable', 'path', 'arguments'] as const;

/** The settings that a running server takes. */
export const SERVER_KEYS = ['base', 'untracked', 'severity', 'debounce'] as const;

/** Returns the settings for the server; values of a wrong type have their default. */
export function serverSettings(read: ReadSetting): ServerSettings {
  return {
    base: text(read('base')),
    untracked: read('untracked') === true,
    severity: text(read('severity')),
    debounce: count(read('debounce')),
  };
}

/** Returns the text of a setting; null if the setting is empty or no text. */
function text(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null;
}

/** Returns the texts of a list; other values are left out. */
export function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

/**
 * Returns the answer to `workspace/configuration`: the section `assay` without the settings that
 * are for the extension alone.
 */
export function configurationAnswer(
  items: readonly { readonly section?: string | undefined }[],
  read: ReadSetting,
): (ServerSettings | null)[] {
  return items.map((item) => (item.section === 'assay' ? serverSettings(read) : null));
}
