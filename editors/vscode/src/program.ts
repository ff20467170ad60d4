// The program `assay`: where it is, and its command line. Without an import of `vscode`.

import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

/** The settings that choose the program. A workspace cannot set them. */
export interface ProgramSettings {
  readonly path: string;
  readonly arguments: readonly string[];
}

/** The variables and the system of the process, as far as they decide on the program. */
export interface Machine {
  readonly searchPath: string;
  readonly home: string;
  readonly isWindows: boolean;
}

/** A program that was found, or the reason why there is none. */
export type FoundProgram =
  | { readonly kind: 'found'; readonly program: string }
  | { readonly kind: 'missing'; readonly why: string };

/** The text that tells how to get the program. */
export const INSTALL_HINT =
  'Install assay with `cargo install --locked --path crates/assay` in its repository, or set `assay.path` in your user settings.';

/** Returns the machine of this process. */
export function thisMachine(): Machine {
  return {
    searchPath: process.env['PATH'] ?? '',
    home: os.homedir(),
    isWindows: process.platform === 'win32',
  };
}

/**
 * Returns the absolute path of the program.
 *
 * The search is done here, in absolute folders of `PATH` alone: a process that searches by itself
 * may start a program of the folder that it runs in, and that folder is the workspace.
 */
export function findProgram(setting: string, machine: Machine): FoundProgram {
  const name = setting.trim() === '' ? 'assay' : setting.trim();
  const expanded = name.startsWith('~/') ? path.join(machine.home, name.slice(2)) : name;
  if (path.isAbsolute(expanded)) {
    return isExecutable(expanded, machine)
      ? { kind: 'found', program: expanded }
      : missing(`\`${expanded}\` (setting \`assay.path\`) is no program that can be started.`);
  }
  if (expanded.includes('/') || expanded.includes('\\')) {
    return missing(`\`assay.path\` is \`${expanded}\`; expected a name or an absolute path.`);
  }
  const delimiter = machine.isWindows ? ';' : ':';
  const folders = machine.searchPath.split(delimiter).filter((folder) => path.isAbsolute(folder));
  const names = machine.isWindows ? [`${expanded}.exe`, expanded] : [expanded];
  for (const folder of folders) {
    const program = names.map((one) => path.join(folder, one)).find((one) => isExecutable(one, machine));
    if (program !== undefined) {
      return { kind: 'found', program };
    }
  }
  return missing(`The program \`${expanded}\` is not in \`PATH\`.`);
}

function missing(why: string): FoundProgram {
  return { kind: 'missing', why };
}

function isExecutable(program: string, machine: Machine): boolean {
  try {
    fs.accessSync(program, machine.isWindows ? fs.constants.F_OK : fs.constants.X_OK);
    return fs.statSync(program).isFile();
  } catch {
    return false;
  }
}

/** Returns the arguments of the server. */
export function serverArguments(settings: ProgramSettings): string[] {
  return [...settings.arguments, 'lsp', '--stdio'];
}

/** Returns true if a folder is in a git repository: `.git` is in the folder or above. */
export function isInRepository(folder: string): boolean {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, '.git'))) {
      return true;
    }
    if (path.dirname(at) === at) {
      return false;
    }
  }
}
