import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { ApiError } from '../errors/errors.js';

export type Tenants = {
  /** Returns the id of the host's tenant. @throws ApiError unknown_host */
  ofHost(host: string | undefined): Promise<string>;
};

// A new tenant or host is served after this time at the latest. Without the cache every request would need a round trip.
const CACHE_MS = 10_000;
const MAX_CACHED_HOSTS = 1_000;

export function openTenants(pool: pg.Pool): Tenants {
  // Clients can send arbitrary hosts, so the cache must be bounded.
  const cache = new LRUCache<string, Promise<string | null>>({ max: MAX_CACHED_HOSTS, ttl: CACHE_MS });

  return {
    async ofHost(header) {
      const host = hostName(header);
      const lookup = cache.get(host) ?? remember(host);
      const tenantId = await lookup.catch((error: unknown) => {
        cache.delete(host);
        throw error;
      });
      if (!tenantId) throw new ApiError('unknown_host');
      return tenantId;
    },
  };

  function remember(host: string): Promise<string | null> {
    const lookup = lookUp(pool, host);
    cache.set(host, lookup);
    return lookup;
  }
}

async function lookUp(pool: pg.Pool, host: string): Promise<string | null> {
  const { rows } = await pool.query<{ id: string | null }>('select tenant_of_host($1) as id', [host]);
  return rows[0]?.id ?? null;
}

/** Returns the host of a Host header in lower case, without the port and a trailing dot. */
function hostName(header: string | undefined): string {
  const name = (header ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  return name.includes('\0') ? '' : name.slice(0, 255);
}
