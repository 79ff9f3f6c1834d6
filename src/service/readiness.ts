import { join } from 'node:path';
import { listPending } from '../db/migrate.js';
import type { Db } from '../db/transaction.js';
import { Fault } from '../errors.js';
import { projectRoot } from '../root.js';

const MIGRATIONS = join(projectRoot, 'prisma', 'migrations');

/**
 * Ready means: the database answers, and has every migration that this build knows.
 *
 * @throws Fault unavailable
 */
export async function assertReady({ pool }: Db): Promise<void> {
  const pending = await listPending(pool, MIGRATIONS);
  if (pending.length > 0)
    throw new Fault('unavailable', 'The database is not migrated yet.', { retryAfterSeconds: 5 });
}
