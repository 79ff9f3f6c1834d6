import { ApiError } from '../errors/errors.js';
import type { Db } from './database.js';

/** One of the databases that contain tenants (decision 0060). */
export type Cell = {
  name: string;
  /** Returns the database. The first call connects and checks it; a call after a failure tries again. */
  open(): Promise<Db>;
};

/** A tenant, and the database that contains all of its rows. */
export type LocatedTenant = { tenantId: string; db: Db };

/** `is_exact` is false for the tenant that has the host `*`. A cell serves reads of a tenant that it closes for a move. */
type Entry = {
  tenant_id: string;
  is_exact: boolean;
  state: 'arriving' | 'active' | 'moving' | 'moved' | 'gone';
};

type Found = Entry & { db: Db };

/**
 * Finds the tenant of a host in all cells. Their tables of hosts are the directory, so that there is no other one that could
 * differ from them. Returns null if no tenant has the host.
 *
 * @throws ApiError unavailable while a tenant is active nowhere, if a cell that could have it does not respond, and if several
 *   cells serve the host, as after the restore of a backup from before a move
 */
export async function findTenant(cells: Cell[], host: string): Promise<LocatedTenant | null> {
  const answers = await Promise.allSettled(cells.map((cell) => findInCell(cell, host)));
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const exact = found.filter(({ is_exact: isExact }) => isExact);
  if (exact.length === 0 && answers.some(({ status }) => status === 'rejected')) throw unavailable();
  const entries = exact.length > 0 ? exact : found;
  if (entries.length === 0) return null;
  const [serving, ...others] = servingOf(entries);
  if (!serving || others.length > 0) throw unavailable();
  return { tenantId: serving.tenant_id, db: serving.db };
}

async function findInCell(cell: Cell, host: string): Promise<Found[]> {
  const db = await cell.open();
  const { rows } = await db.pool.query<Entry>('select * from tenants_at_host($1)', [host]);
  return rows.map((row) => ({ ...row, db }));
}

function servingOf(entries: Found[]): Found[] {
  const active = entries.filter(({ state }) => state === 'active');
  return active.length > 0 ? active : entries.filter(({ state }) => state === 'moving');
}

const unavailable = () => new ApiError('unavailable', { retryAfterSeconds: 1 });
