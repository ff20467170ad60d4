// The verdict of the last stored review, as the code lens of the server has it. Without an import
// of `vscode`.

/** The part of a code lens that holds the verdict. */
export interface VerdictLens {
  readonly command?: { readonly title: string; readonly command: string } | undefined;
}

/** The text of the status bar. */
export interface VerdictStatus {
  readonly text: string;
  readonly tooltip: string;
  /** True if the item is shown as a warning. */
  readonly isWarning: boolean;
}

/** The command of the code lens with the verdict. */
export const SHOW_RUN = 'assay.showRun';

const TITLE = /^assay: (?<verdict>[^(;]+?)(?: \((?<summary>.*)\))?; here: (?<here>\d+)$/s;

const ICONS: Readonly<Record<string, string>> = {
  ready: '$(pass)',
  'ready with fixes': '$(warning)',
  'not ready': '$(error)',
  incomplete: '$(question)',
};

/** Returns the status for the code lenses of a file; undefined if none has a verdict. */
export function verdictStatus(lenses: readonly VerdictLens[]): VerdictStatus | undefined {
  const title = lenses.find((lens) => lens.command?.command === SHOW_RUN)?.command?.title;
  const groups = title === undefined ? undefined : TITLE.exec(title)?.groups;
  const verdict = groups?.['verdict'];
  if (verdict === undefined) {
    return undefined;
  }
  const summary = groups?.['summary'];
  const here = Number(groups?.['here'] ?? 0);
  const icon = ICONS[verdict] ?? '$(circle-outline)';
  const inFile = here === 0 ? '' : ` (${here})`;
  const last = summary === undefined ? verdict : `${verdict}: ${summary}`;
  return {
    text: `${icon} assay: ${withoutIcons(verdict)}${inFile}`,
    tooltip: `Last stored review: ${last}\nFindings in this file: ${here}\nClick for the reasons.`,
    isWarning: verdict === 'not ready' || verdict === 'incomplete',
  };
}

/** Returns a text in which the status bar sees no icon. */
function withoutIcons(text: string): string {
  return text.replaceAll('$(', '$ (');
}
