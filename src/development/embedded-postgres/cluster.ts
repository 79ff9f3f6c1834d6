import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasCluster, type Account, type Binaries, type Location } from './location.js';
import { isAlive, readIfPresent } from './process.js';
import { cannotRun, runAs } from './spawn.js';

/** Returns the superuser's password. It is created before the cluster. */
export async function readPassword({ home, cluster, account }: Location): Promise<string> {
  const file = join(home, 'postgres.password');
  const known = await readIfPresent(file);
  if (known) return known.trim();
  if (await hasCluster({ cluster })) {
    throw new Error(`${file} is missing. Put it back, or remove ${cluster} to begin with an empty database.`);
  }
  // initdb reads the file as this account.
  return storeSecret(file, account);
}

/**
 * Returns the password of the service's own login, which all processes that use the cluster share. Creates it for a cluster
 * of an older version.
 */
export async function readServicePassword({ home }: Location): Promise<string> {
  const file = join(home, 'service.password');
  const known = await readIfPresent(file);
  return known ? known.trim() : storeSecret(file, undefined);
}

/** Creates a secret in `file`, readable only by `owner`. The rename is atomic, so the file is complete or missing. */
async function storeSecret(file: string, owner: Account): Promise<string> {
  const secret = randomBytes(24).toString('base64url');
  await writeFile(`${file}.partial`, `${secret}\n`, { mode: 0o600 });
  if (owner) await chown(`${file}.partial`, owner.uid, owner.gid);
  await rename(`${file}.partial`, file);
  return secret;
}

/** Creates the cluster in a temporary folder and renames it when complete, so that a kill leaves no partial cluster. */
export async function initialise(
  location: Location,
  { initdb }: Binaries,
  log: (line: string) => void,
): Promise<void> {
  const { home, cluster, account } = location;
  log(`Creating the database cluster in ${cluster}.`);
  const fresh = await mkdtemp(join(home, 'postgres.init-'));
  if (account) await chown(fresh, account.uid, account.gid);
  // With the built-in C.UTF-8, lower('É') is 'é'. The C locale does not support the case of accented letters.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const login = [
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${join(home, 'postgres.password')}`,
  ];
  try {
    await promisify(execFile)(initdb, ['-D', fresh, ...locale, ...login], runAs(account, home));
    await rename(fresh, cluster);
  } catch (cause) {
    await rm(fresh, { recursive: true, force: true });
    throw cannotRun(initdb, cause);
  }
}

/** Removes unfinished files of killed processes. */
export async function removeLeftovers(home: string): Promise<void> {
  const names = await readdir(home);
  const partial = names.filter((name) => /^(postgres\.init|binaries\.partial)-/.test(name));
  for (const name of names.filter((name) => name.startsWith('start.lock.'))) {
    const waiter = await readIfPresent(join(home, name));
    if (waiter !== '' && !(await isAlive(waiter))) partial.push(name);
  }
  // An initdb whose parent was killed may still write there. The next start removes the rest.
  await Promise.allSettled(partial.map((name) => rm(join(home, name), { recursive: true, force: true })));
}
