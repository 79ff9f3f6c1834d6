import { LRUCache } from 'lru-cache';
import { findTenants, type Cell, type HostOutcome, type LocatedTenant } from '../db/cells.js';
import { readRows } from '../db/connections/rows.js';
import type { Db } from '../db/database.js';
import { ApiError } from '../errors/errors.js';
import { overloaded } from '../limits/overload/overloaded.js';

export type Tenants = ReturnType<typeof openTenants>;

// A new tenant or host is served after this time at the latest. Without the cache every request would need a round trip.
const CACHE_MS = 10_000;
/** With several cells, a tenant that moves is found in its new cell after this time. */
const CACHE_OF_CELLS_MS = 500;
/** Hosts that tenants have. */
const MAX_CACHED_HOSTS = 1_000;
/** All others. Clients can send arbitrary hosts, which may not evict those of tenants. */
const MAX_CACHED_OTHERS = 1_000;
/** Requests that wait for the tenant of a host that was not known before. */
const MAX_WAITING = 1_000;
/** After a failure, the database is not asked again for this time, so that a flood of hosts does not fill the log. */
const FAILURE_MS = 100;

/** @param others the other cells. `home` is the only database without them. */
export function openTenants(home: Db, others: Cell[] = []) {
  const cells: Cell[] = [{ name: 'home', open: () => Promise.resolve(home) }, ...others];
  const ttl = others.length === 0 ? CACHE_MS : CACHE_OF_CELLS_MS;
  const ofTenants = new LRUCache<string, HostOutcome>({
    max: MAX_CACHED_HOSTS,
    ttl,
    noDeleteOnStaleGet: true,
  });
  const ofOthers = new LRUCache<string, HostOutcome>({ max: MAX_CACHED_OTHERS, ttl });
  const lookUp = combineLookups((hosts) =>
    others.length === 0 ? lookUpIn(home, hosts) : findTenants(cells, hosts),
  );
  let waiting = 0;

  async function find(host: string): Promise<HostOutcome> {
    const wasKnown = ofTenants.peek(host, { allowStale: true }) !== undefined;
    if (waiting >= MAX_WAITING && !wasKnown) throw overloaded();
    waiting += 1;
    const outcome = await lookUp(host);
    waiting -= 1;
    if (outcome.isExact) ofTenants.set(host, outcome);
    else if (!outcome.error || !wasKnown)
      ofOthers.set(host, outcome, outcome.error ? { ttl: FAILURE_MS } : {});
    return outcome;
  }

  async function outcomeOf(host: string): Promise<HostOutcome> {
    const outcome = ofTenants.get(host) ?? ofOthers.get(host) ?? (await find(host));
    if (outcome.error) throw outcome.error;
    return outcome;
  }

  return {
    /**
     * Returns the tenant of the host, or the sandbox with the key that the path names, and its database.
     * @throws ApiError unknown_host, unknown_sandbox; overloaded while too many unknown hosts wait
     */
    async ofHost(header: string | undefined, key?: string): Promise<LocatedTenant> {
      const { tenant, isExact } = await outcomeOf(key === undefined ? hostName(header) : `sandbox/${key}`);
      // The tenant of the host `*` has no part in the sandboxes of others.
      if (key !== undefined && !isExact) throw new ApiError('unknown_sandbox');
      if (!tenant) throw new ApiError('unknown_host');
      return tenant;
    },
  };
}

/**
 * Returns a function that looks up hosts with one query at a time, for all that wait. Anybody can send hosts, so these queries never use
 * more than one connection. A failure is the outcome of all hosts that waited for it.
 */
function combineLookups(
  lookUp: (hosts: string[]) => Promise<Map<string, HostOutcome>>,
): (host: string) => Promise<HostOutcome> {
  let hosts = new Set<string>();
  let next: Promise<(host: string) => HostOutcome> | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let failure: { error: Error; atMs: number } | undefined;

  async function run(): Promise<(host: string) => HostOutcome> {
    const asked = [...hosts];
    hosts = new Set();
    next = undefined;
    if (!failure || performance.now() - failure.atMs > FAILURE_MS) {
      failure = undefined;
      try {
        const found = await lookUp(asked);
        return (host) => found.get(host) ?? UNKNOWN;
      } catch (cause) {
        const error = cause instanceof Error ? cause : new Error('The lookup of a host failed.', { cause });
        failure = { error, atMs: performance.now() };
      }
    }
    const { error } = failure;
    return () => ({ error, isExact: false });
  }

  return async (host) => {
    hosts.add(host);
    next ??= running.then(run);
    running = next;
    return (await next)(host);
  };
}

const UNKNOWN: HostOutcome = { isExact: false };

const LOOKUP = `select host, tenant_of_host(host) as id, exists (select from tenants_at_host(host) where is_exact) as is_exact
  from unnest($1::text[]) as host`;

async function lookUpIn(db: Db, hosts: string[]): Promise<Map<string, HostOutcome>> {
  const rows = await readRows<{ host: string; id: string | null; is_exact: boolean }>(db.pool, LOOKUP, [
    hosts,
  ]);
  return new Map(
    rows.map(({ host, id, is_exact: isExact }) => [
      host,
      id === null ? UNKNOWN : { tenant: { tenantId: id, db }, isExact },
    ]),
  );
}

/** Returns the host of a Host header in lower case, without the port and a trailing dot. */
function hostName(header: string | undefined): string {
  const name = (header ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  // A host with a slash would name a sandbox.
  return /[\0/]/.test(name) ? '' : name.slice(0, 255);
}
