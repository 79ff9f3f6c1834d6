import type pg from 'pg';
import { commandLine } from '../../config/commands.js';
import { readOwner } from '../../config/config.js';
import { withClient } from '../../platform/db/connections/roles.js';
import { assertDirectClient } from '../../platform/db/connections/pooler.js';
import { assertOwner, readTablesOwner } from '../../platform/db/owner-check/check-owner.js';

/**
 * Runs `work` on a connection of the role that owns the tables.
 *
 * @param connection the URL of the connection and its setting, by default DATABASE_OWNER_URL
 * @throws Error that says which setting needs which role, when the role is another one; when it leads to a pooler, or the database has no
 *   tables
 */
export async function withOwner<Result>(
  work: (client: pg.Client) => Promise<Result>,
  { url, setting } = readOwner(),
): Promise<Result> {
  return withClient(url, async (client) => {
    await assertDirectClient(setting, client);
    await assertOwner(client, setting);
    if ((await readTablesOwner(client)) === null)
      throw new Error(
        `The database of ${setting} has no tables. Correct the setting, or run ${commandLine('migrate')} first.`,
      );
    return work(client);
  });
}

/** Checks the owner's connection like `withOwner`, for commands that open others with its URL. */
export const assertOwnerConnection = (): Promise<void> => withOwner(() => Promise.resolve());
