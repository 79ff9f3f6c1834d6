import { LRUCache } from 'lru-cache';
import { findTenant, type Cell, type LocatedTenant } from '../db/cells.js';
import type { Db } from '../db/database.js';
import { ApiError } from '../errors/errors.js';

export type Tenants = ReturnType<typeof openTenants>;

// A new tenant or host is served after this time at the latest. Without the cache every request would need a round trip.
const CACHE_MS = 10_000;
/** With several cells, a tenant that moves is found in its new cell after this time. */
const CACHE_OF_CELLS_MS = 500;
const MAX_CACHED_HOSTS = 1_000;

/** @param others the other cells. `home` is the only database without them. */
export function openTenants(home: Db, others: Cell[] = []) {
  const cells: Cell[] = [{ name: 'home', open: () => Promise.resolve(home) }, ...others];
  const lookUp = others.length === 0 ? lookUpIn(home) : (host: string) => findTenant(cells, host);
  // Clients can send arbitrary hosts, so the cache must be bounded.
  const cache = new LRUCache<string, Promise<LocatedTenant | null>>({
    max: MAX_CACHED_HOSTS,
    ttl: others.length === 0 ? CACHE_MS : CACHE_OF_CELLS_MS,
  });

  return {
    /** Returns the host's tenant and its database. @throws ApiError unknown_host */
    async ofHost(header: string | undefined): Promise<LocatedTenant> {
      const host = hostName(header);
      const lookup = cache.get(host) ?? remember(host);
      const tenant = await lookup.catch((error: unknown) => {
        cache.delete(host);
        throw error;
      });
      if (!tenant) throw new ApiError('unknown_host');
      return tenant;
    },
  };

  function remember(host: string): Promise<LocatedTenant | null> {
    const lookup = lookUp(host);
    cache.set(host, lookup);
    return lookup;
  }
}

const lookUpIn =
  (db: Db) =>
  async (host: string): Promise<LocatedTenant | null> => {
    const { rows } = await db.pool.query<{ id: string | null }>('select tenant_of_host($1) as id', [host]);
    const id = rows[0]?.id;
    return id ? { tenantId: id, db } : null;
  };

/** Returns the host of a Host header in lower case, without the port and a trailing dot. */
function hostName(header: string | undefined): string {
  const name = (header ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  return name.includes('\0') ? '' : name.slice(0, 255);
}
