import { hostname } from 'node:os';
import type pg from 'pg';
import type { Config } from '../config/config.js';
import { readRows } from '../platform/db/connections/rows.js';
import { withClient } from '../platform/db/connections/roles.js';
import { newId } from '../platform/values/ids.js';
import { fingerprint } from './deployment.js';

/** A process is taken for ended after three missed intervals. */
const INTERVAL_MS = 15_000;

type Process = { id: string; name: string; encryptionKeys: string[] };

/**
 * Records that this process runs and which encryption keys it has, until the returned function is called. Development records nothing,
 * because its keys are public.
 *
 * @param url of the service's connection
 */
export async function announceProcess(
  { appEnv, secrets }: Pick<Config, 'appEnv' | 'secrets'>,
  kind: string,
  url: string,
): Promise<() => Promise<void>> {
  if (appEnv === 'development') return () => Promise.resolve();
  const own: Process = {
    id: newId(),
    name: `${kind} ${hostname()} pid ${process.pid}`,
    encryptionKeys: secrets.encryptionKeys.map(({ key }) => fingerprint(key)),
  };
  // A database that is away is reported elsewhere. A start that got this far has reached it.
  const announce = () => withClient(url, (client) => record(client, own)).catch(() => undefined);
  await announce();
  const timer = setInterval(() => void announce(), INTERVAL_MS).unref();
  return async () => {
    clearInterval(timer);
    await withClient(url, (client) =>
      client.query('delete from installation.processes where id = $1', [own.id]),
    ).catch(() => undefined);
  };
}

async function record(client: pg.ClientBase, { id, name, encryptionKeys }: Process): Promise<void> {
  await client.query(
    `with forgotten as (delete from installation.processes where seen_at < now() - interval '1 day')
     insert into installation.processes as process (id, name, encryption_keys) values ($1, $2, $3)
     on conflict (id) do update set seen_at = now()`,
    [id, name, encryptionKeys],
  );
}

/** Returns the processes that run without the key, with the times of their starts. */
export const findWithoutKey = (
  client: pg.ClientBase,
  key: Buffer,
): Promise<{ name: string; startedAt: Date }[]> =>
  readRows(
    client,
    `select name, started_at as "startedAt" from installation.processes
     where seen_at > now() - interval '45 s' and not encryption_keys @> array[$1] order by started_at`,
    [fingerprint(key)],
  );
