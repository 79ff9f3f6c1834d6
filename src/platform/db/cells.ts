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

const RETRY_AFTER_SECONDS = 1;

/**
 * Finds the tenant of a host in all cells. Their tables of hosts are the directory, so that there is no other one that could
 * differ from them. Returns null if no tenant has the host.
 *
 * @throws ApiError unavailable while a tenant is active nowhere, or if a cell that could have it does not respond
 */
export async function findTenant(cells: Cell[], host: string): Promise<LocatedTenant | null> {
  const answers = await Promise.allSettled(cells.map((cell) => findInCell(cell, host)));
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const exact = found.filter(({ is_exact: isExact }) => isExact);
  const serving = exact.length > 0 ? servingOf(exact) : undefined;
  if (serving) return serving;
  const areAllAnswered = answers.every(({ status }) => status === 'fulfilled');
  if (exact.length > 0 || !areAllAnswered)
    throw new ApiError('unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  if (found.length === 0) return null;
  const other = servingOf(found);
  if (!other) throw new ApiError('unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  return other;
}

async function findInCell(cell: Cell, host: string): Promise<Found[]> {
  const db = await cell.open();
  const { rows } = await db.pool.query<Entry>('select * from tenants_at_host($1)', [host]);
  return rows.map((row) => ({ ...row, db }));
}

function servingOf(found: Found[]): LocatedTenant | undefined {
  const entry =
    found.find(({ state }) => state === 'active') ?? found.find(({ state }) => state === 'moving');
  return entry && { tenantId: entry.tenant_id, db: entry.db };
}
