// The commands that need a trusted workspace. Without an import of `vscode`.

/** The commands of the server that can start analysers of the repository. */
const COMMANDS_THAT_REVIEW: readonly string[] = ['assay.review', 'assay.dismiss'];

/** The message if a command needs trust. */
export const NEEDS_TRUST =
  'assay: this command can start analysers that the repository configures. Trust the workspace to use it.';

/** Returns true if a command of the server may run in a workspace. */
export function isAllowed(command: string, isTrusted: boolean): boolean {
  return isTrusted || !COMMANDS_THAT_REVIEW.includes(command);
}
