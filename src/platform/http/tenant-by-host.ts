import type pg from 'pg';
import { ApiError } from '../errors/errors.js';

export type Tenants = {
  /** The id of the tenant that answers on a request's host. @throws ApiError unknown_host */
  ofHost(host: string | undefined): Promise<string>;
};

// A new tenant or host is served this much later at most; without it every request would pay a round trip.
const CACHE_MS = 10_000;
const MAX_CACHED_HOSTS = 1_000;

export function openTenants(pool: pg.Pool): Tenants {
  const cache = new Map<string, { tenantId: Promise<string | null>; until: number }>();

  return {
    async ofHost(header) {
      const host = hostName(header);
      const cached = cache.get(host);
      const entry = cached && cached.until > Date.now() ? cached : remember(host);
      const tenantId = await entry.tenantId.catch((error: unknown) => {
        cache.delete(host);
        throw error;
      });
      if (!tenantId) throw new ApiError('unknown_host');
      return tenantId;
    },
  };

  function remember(host: string) {
    // hosts are the caller's to invent: the map must not grow with them
    if (cache.size >= MAX_CACHED_HOSTS) cache.clear();
    const entry = { tenantId: lookUp(pool, host), until: Date.now() + CACHE_MS };
    cache.set(host, entry);
    return entry;
  }
}

async function lookUp(pool: pg.Pool, host: string): Promise<string | null> {
  const { rows } = await pool.query<{ id: string | null }>('select tenant_of_host($1) as id', [host]);
  return rows[0]?.id ?? null;
}

/** The host of a Host header: lower case, without the port or a trailing dot. */
function hostName(header: string | undefined): string {
  const name = (header ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  return name.includes('\0') ? '' : name.slice(0, 255);
}
