import { ApiError } from '../errors/errors.js';
import { groupBy } from '../values/group-by.js';
import { readRows } from './connections/rows.js';
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
  host: string;
  tenant_id: string;
  is_exact: boolean;
  state: 'arriving' | 'active' | 'moving' | 'moved' | 'gone';
};

type Found = Entry & { db: Db };

/** What is known of a host. `isExact`: a tenant has this very host, and not `*`. `error`: nobody can tell now. */
export type HostOutcome = { tenant?: LocatedTenant; isExact: boolean; error?: Error };

/**
 * Finds the tenants of hosts in all cells, with one query per cell. Their tables of hosts are the directory, so that there is no other one
 * that could differ from them. A host without a tenant has none.
 *
 * The error of a host is ApiError unavailable while its tenant is active nowhere, if a cell that could have it does not respond, and if
 * several cells serve the host, as after the restore of a backup from before a move.
 */
export async function findTenants(cells: Cell[], hosts: string[]): Promise<Map<string, HostOutcome>> {
  const answers = await Promise.allSettled(cells.map((cell) => findInCell(cell, hosts)));
  const isComplete = answers.every(({ status }) => status === 'fulfilled');
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const byHost = groupBy(found, ({ host }) => host);
  // One error for all hosts, because each error has a log line with a stack.
  const error = new ApiError('unavailable', { retryAfterSeconds: 1 });
  return new Map(hosts.map((host) => [host, outcomeOf(byHost.get(host) ?? [], isComplete, error)]));
}

function outcomeOf(found: Found[], isComplete: boolean, error: Error): HostOutcome {
  const exact = found.filter(({ is_exact: isExact }) => isExact);
  const isExact = exact.length > 0;
  if (!isExact && !isComplete) return { isExact, error };
  const entries = isExact ? exact : found;
  if (entries.length === 0) return { isExact };
  const [serving, ...others] = servingOf(entries);
  if (!serving || others.length > 0) return { isExact: false, error };
  return { isExact, tenant: { tenantId: serving.tenant_id, db: serving.db } };
}

async function findInCell(cell: Cell, hosts: string[]): Promise<Found[]> {
  const db = await cell.open();
  const rows = await readRows<Entry>(
    db.pool,
    'select host, at_host.* from unnest($1::text[]) as host, tenants_at_host(host) as at_host',
    [hosts],
  );
  return rows.map((row) => ({ ...row, db }));
}

function servingOf(entries: Found[]): Found[] {
  const active = entries.filter(({ state }) => state === 'active');
  return active.length > 0 ? active : entries.filter(({ state }) => state === 'moving');
}
