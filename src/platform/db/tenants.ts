import type { SystemCaller } from '../identity/callers.js';
import type { Db } from './transaction.js';

/** The service's own scope in every tenant, for background work that goes through them all. */
export async function systemCallers(db: Db): Promise<SystemCaller[]> {
  const { rows } = await db.pool.query<{ id: string }>('select id from all_tenants() as id');
  return rows.map(({ id }) => ({ kind: 'system', tenantId: id }));
}
