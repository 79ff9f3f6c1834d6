// A stopped copy of the test server with its template databases. Initialising a cluster, migrating it and loading the
// demo data takes 3 seconds; copying the files takes a fraction of a second. Each run uses its own copy.
import { createHash } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
// Not cpSync: in Node 24 it gives folders the mode 755, and PostgreSQL refuses to start on such data.
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { chooseLocation } from '../../../dist/src/development/embedded-postgres/location.js';
import { projectRoot } from '../../../dist/src/config/project-root.js';

const CACHE = join(projectRoot, 'node_modules', '.cache', 'test-cluster');
// The cluster, and the files beside it that a start needs.
const PARTS = ['postgres', 'postgres.password', 'service.password'];
// The content of the templates depends on these files.
const INGREDIENTS = [
  'prisma/migrations',
  'dist/fixtures',
  'dist/src/development',
  'dist/src/platform/access/secrets.js',
  'dist/src/platform/db',
  'package-lock.json',
  'test/support/service/global-setup.mjs',
];

/** Returns the cache key. It depends on the day too, because the demo data ends today. */
export function keyOfTemplates(config) {
  const hash = createHash('sha256').update(new Date().toISOString().slice(0, 10));
  hash.update(JSON.stringify(config.secrets));
  for (const path of INGREDIENTS.flatMap((name) => filesOf(join(projectRoot, name))))
    hash.update(path).update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}

const filesOf = (path) =>
  statSync(path).isDirectory() ? readdirSync(path).flatMap((name) => filesOf(join(path, name))) : [path];

/** Copies the cached cluster to the location of a server with this `dataDir`. Returns false if there is none. */
export async function restoreCluster(key, dataDir) {
  const kept = join(CACHE, key);
  if (!existsSync(kept)) return false;
  const { home, account } = await chooseLocation(dataDir, () => {});
  for (const part of PARTS) await cp(join(kept, part), join(home, part), { recursive: true });
  if (account)
    for (const path of [...everythingIn(join(home, 'postgres')), join(home, 'postgres.password')])
      chownSync(path, account.uid, account.gid);
  return true;
}

/** Caches the cluster of a stopped server and deletes older ones. */
export async function keepCluster(key, server) {
  const partial = join(CACHE, `${key}.${process.pid}`);
  mkdirSync(CACHE, { recursive: true });
  for (const part of PARTS)
    await cp(join(dirname(server.dataDir), part), join(partial, part), { recursive: true });
  for (const name of readdirSync(CACHE))
    if (!name.startsWith(key)) rmSync(join(CACHE, name), { recursive: true, force: true });
  if (existsSync(join(CACHE, key))) rmSync(partial, { recursive: true });
  else renameSync(partial, join(CACHE, key));
}

const everythingIn = (path) => [
  path,
  ...(statSync(path).isDirectory()
    ? readdirSync(path).flatMap((name) => everythingIn(join(path, name)))
    : []),
];
