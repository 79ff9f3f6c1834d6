import { realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../config/config.js';
import { SECRET_FILES, SECRET_SETTINGS } from '../../config/secret-files.js';
import { warning, type Finding } from './finding.js';

type Settings = Pick<Config, 'appEnv' | 'secretsDir' | 'tls'>;

/** A folder or file, by its path without symbolic links. */
type Entry = { path: string; mode: number; uid: number; gid: number; device: number; isFolder: boolean };

const WRITABLE_BY_ALL = 0o002;
const WRITABLE_BY_GROUP = 0o020;
const READABLE_BY_ALL = 0o004;
const ENTERED_BY_ALL = 0o001;
const STICKY = 0o1000;

/**
 * Warns of files and folders of secrets that accounts of this machine may write that are neither the service's nor an administrator's.
 * Whoever writes them chooses the keys and the database of the service. Examines SECRETS_DIR, TLS_KEY_FILE and the folders above them.
 * Nothing is examined in development, whose secrets are public, and on Windows, which has no such modes.
 */
export async function checkWritableSecrets(settings: Settings): Promise<Finding[]> {
  if (!isExamined(settings)) return [];
  const entries = await findEntries(settings);
  const above = await foldersAbove(entries);
  const own = ownGroups();
  const byAll = [...entries, ...above].filter((entry) => isWritableBy(entry, WRITABLE_BY_ALL));
  // A group may own a folder further up on purpose, such as /var/local on Debian.
  const byGroup = entries.filter(
    (entry) => isWritableBy(entry, WRITABLE_BY_GROUP) && !byAll.includes(entry) && !isOwnGroup(entry, own),
  );
  return [
    ...describe(byAll, 'Everybody on this machine may write', 'chmod o-w'),
    ...describe(byGroup, 'Accounts of another group than that of this process may write', 'chmod g-w'),
  ];
}

/** Warns of files of secrets that every account of this machine may read. What is examined is as in `checkWritableSecrets`. */
export async function checkReadableSecrets(settings: Settings): Promise<Finding[]> {
  if (!isExamined(settings)) return [];
  const files = (await findEntries(settings)).filter(({ isFolder }) => !isFolder);
  const readable: Entry[] = [];
  for (const file of files) if (await isReadableByAll(file)) readable.push(file);
  if (readable.length === 0) return [];
  return [
    warning(
      `Everybody on this machine may read ${listOf(readable)}.`,
      `Run chmod o-r ${quoted(readable)}, or close their folder to others with chmod o-x. In Kubernetes, set defaultMode: 0440.`,
    ),
  ];
}

const isExamined = ({ appEnv }: Settings): boolean =>
  appEnv !== 'development' && process.platform !== 'win32';

function describe(entries: Entry[], who: string, command: string): Finding[] {
  if (entries.length === 0) return [];
  return [
    warning(
      `${who} ${listOf(entries)}, and so choose the secrets of the service.`,
      `Run ${command} ${quoted(entries)}, and find out whether somebody has changed a secret.`,
    ),
  ];
}

const listOf = (entries: Entry[]): string =>
  entries
    .map(({ path, mode }) => `${path} (mode ${(mode & 0o7777).toString(8).padStart(4, '0')})`)
    .join(', ');

/** Returns the paths as a shell reads them. */
const quoted = (entries: Entry[]): string =>
  entries
    .map(({ path }) => (/^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');

/** In a sticky folder, as Kubernetes mounts secrets, nobody replaces the files of others. */
const isWritableBy = ({ mode, isFolder }: Entry, bit: number): boolean =>
  (mode & bit) !== 0 && !(isFolder && (mode & STICKY) !== 0);

/** Root's group, a group of this process, or the one that a user has alone: it has the number of the user on most systems. */
const isOwnGroup = ({ uid, gid }: Entry, own: Set<number>): boolean => own.has(gid) || gid === uid;

const ownGroups = (): Set<number> =>
  new Set([0, ...(process.getgroups?.() ?? []), ...(process.getegid ? [process.getegid()] : [])]);

/** Returns the folder of SECRETS_DIR, the files of secrets, and the folders that symbolic links lead to. */
async function findEntries({ secretsDir, tls }: Settings): Promise<Entry[]> {
  const names = [...SECRET_SETTINGS, ...SECRET_FILES];
  const inFolder = secretsDir === undefined ? [] : names.map((name) => join(secretsDir, name));
  const files = await entriesOf([...inFolder, ...(tls ? [tls.keyFile] : [])]);
  const folders = [
    ...(secretsDir === undefined ? [] : [secretsDir]),
    ...files.map(({ path }) => dirname(path)),
  ];
  return [...(await entriesOf(folders)), ...files];
}

async function foldersAbove(entries: Entry[]): Promise<Entry[]> {
  const known = new Set(entries.map(({ path }) => path));
  const paths = entries.flatMap(({ path }) => parentsOf(path)).filter((path) => !known.has(path));
  return entriesOf(paths);
}

/** Returns the folders above a path, the nearest first. */
function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...parentsOf(parent)];
}

/** Returns what exists and may be examined, each once. */
async function entriesOf(paths: string[]): Promise<Entry[]> {
  const found = new Map<string, Entry>();
  for (const path of paths) {
    const entry = await entryOf(path);
    if (entry) found.set(entry.path, entry);
  }
  return [...found.values()];
}

/** Other checks report what cannot be read. */
async function entryOf(path: string): Promise<Entry | undefined> {
  try {
    const real = await realpath(resolve(path));
    const stats = await stat(real);
    const { mode, uid, gid, dev: device } = stats;
    return { path: real, mode, uid, gid, device, isFolder: stats.isDirectory() };
  } catch {
    return undefined;
  }
}

/** compose mounts each file by itself into a container, where nobody else is. */
async function isReadableByAll(file: Entry): Promise<boolean> {
  if ((file.mode & READABLE_BY_ALL) === 0) return false;
  const [folder, ...above] = await entriesOf(parentsOf(file.path));
  if (!folder || folder.device !== file.device) return false;
  return [folder, ...above].every(({ mode }) => (mode & ENTERED_BY_ALL) !== 0);
}
