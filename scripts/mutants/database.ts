import type pg from 'pg';
import { withoutGuard, type DatabaseMutant } from './mutant.js';

/** Removes the guard from a migrated database. @throws if it is not there */
export async function removeGuard(client: pg.ClientBase, mutant: DatabaseMutant): Promise<void> {
  if ('statement' in mutant) {
    await client.query(mutant.statement);
    return;
  }
  const { rows } = await client.query<{ definition: string }>(
    `select pg_get_functiondef(p.oid) as definition from pg_proc p
     where p.proname = $1 and p.pronamespace = 'public'::regnamespace`,
    [mutant.function],
  );
  const [row, ...others] = rows;
  if (!row || others.length > 0)
    throw new Error(`Expected one function ${mutant.function}, found ${rows.length}.`);
  await client.query(withoutGuard(row.definition, mutant));
}
