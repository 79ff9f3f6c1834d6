import { readdirSync } from 'node:fs';
import { SECRET_SETTINGS } from '../../config/secret-files.js';
import { SETTING_NAMES } from '../../config/settings.js';

/** A variable, or a file of SECRETS_DIR, whose name is no setting and resembles one. */
export type Misspelt = { name: string; setting: string; isFile: boolean };

/**
 * The variables that documents of ours tell an operator to export, and that are no settings. The shell of somebody who has followed such
 * a page has them, and a command that is started there is not misspelt.
 */
export const EXPORTED_BY_DOCUMENTS = [
  'ARCHIVE',
  'BACKUP',
  'BIN',
  'CONFIG',
  'CROSSDOCK_ENVIRONMENT',
  'CROSSDOCK_VERSION',
  'DATA',
  'LOST',
  'REMAINDER',
];

const KNOWN = [...new Set<string>([...SETTING_NAMES, ...SECRET_SETTINGS])];

/** In a long name, two errors are less than another word. Other programs have OTEL_ variables whose names differ by two letters. */
const LONG_NAME = 16;
const limitOf = (setting: string): number =>
  setting.length < LONG_NAME || setting.startsWith('OTEL_') ? 1 : 2;

/** Returns the variables and files that a person has probably misspelt, so that the process works with a default. No values. */
export function findMisspelt(env: NodeJS.ProcessEnv): Misspelt[] {
  const variables = Object.keys(env)
    .filter((name) => !EXPORTED_BY_DOCUMENTS.includes(name))
    .map((name) => ({ name, isFile: false }));
  const files = filesIn(env['SECRETS_DIR']).map((name) => ({ name, isFile: true }));
  return [...variables, ...files].flatMap(({ name, isFile }) => {
    const setting = settingLike(name);
    return setting === undefined ? [] : [{ name, setting, isFile }];
  });
}

/** Returns what is wrong, and what to do. */
export const describeMisspelt = ({
  name,
  setting,
  isFile,
}: Misspelt): { message: string; remedy: string } => ({
  message: `${name} ${isFile ? 'in SECRETS_DIR ' : ''}is no setting, and is not used. It resembles ${setting}.`,
  remedy: `Correct the name, or remove the ${isFile ? 'file' : 'variable'}.`,
});

/** Returns one line per misspelt setting. */
export const misspeltLines = (env: NodeJS.ProcessEnv): string[] =>
  findMisspelt(env)
    .map(describeMisspelt)
    .map(({ message, remedy }) => `${message} ${remedy}`);

function settingLike(name: string): string | undefined {
  if (KNOWN.includes(name)) return undefined;
  const folded = name.toUpperCase().replaceAll('-', '_');
  return KNOWN.find((setting) => distance(folded, setting, limitOf(setting)) <= limitOf(setting));
}

// Our own: leven and fastest-levenshtein count two exchanged letters, the most frequent slip, as two errors, as many as in other words.
/** Returns how many letters must be added, removed, replaced or exchanged with the next one; more than the limit if it is larger. */
function distance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isExchanged =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      next[column] = Math.min(
        (last[column] ?? Infinity) + 1,
        (next[column - 1] ?? Infinity) + 1,
        (last[column - 1] ?? Infinity) + (isSame ? 0 : 1),
        isExchanged ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
      );
    }
    beforeLast = last;
    last = next;
  }
  return last[other.length] ?? Infinity;
}

/** Nothing if the folder cannot be listed: a process needs no right to do so. */
function filesIn(folder: string | undefined): string[] {
  try {
    return folder ? readdirSync(folder) : [];
  } catch {
    return [];
  }
}
