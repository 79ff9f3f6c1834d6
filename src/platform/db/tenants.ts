import type { SystemCaller } from '../identity/callers.js';
import type { Db } from './database.js';

/** Returns one system caller per tenant, for background jobs that process all tenants. */
export async function systemCallers(db: Db): Promise<SystemCaller[]> {
  const { rows } = await db.pool.query<{ id: string }>('select id from all_tenants() as id');
  return rows.map(({ id }) => ({ kind: 'system', tenantId: id }));
}
