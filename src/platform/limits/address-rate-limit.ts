import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

/** Limits the request rate per destination address in one process, over all couriers and tenants. */
export type AddressRateLimiter = {
  /** Counts a request to the address. Returns 0 if it may be sent, otherwise the milliseconds until a retry. */
  take(address: string): number;
};

const WINDOW_MS = 1_000;
const MAX_ADDRESSES = 10_000;

// Not rate-limiter-flexible: it is asynchronous, and undici's dispatch must decide synchronously.
export function makeAddressRateLimiter(requestsPerSecond = Infinity): AddressRateLimiter {
  const windows = new Map<string, { endsAtMs: number; count: number }>();
  // Parsing an address for each request to it took a fiftieth of a delivery.
  const keys = new LRUCache<string, string>({ max: MAX_ADDRESSES, memoMethod: keyOf });

  function windowOf(key: string, nowMs: number) {
    const current = windows.get(key);
    if (current && current.endsAtMs > nowMs) return current;
    if (windows.size >= MAX_ADDRESSES) forgetEnded(nowMs);
    const fresh = { endsAtMs: nowMs + WINDOW_MS, count: 0 };
    windows.set(key, fresh);
    return fresh;
  }

  function forgetEnded(nowMs: number): void {
    for (const [key, { endsAtMs }] of windows) if (endsAtMs <= nowMs) windows.delete(key);
  }

  return {
    take(address) {
      const nowMs = performance.now();
      const window = windowOf(keys.memo(address), nowMs);
      if (window.count >= requestsPerSecond) return Math.ceil(window.endsAtMs - nowMs);
      window.count += 1;
      return 0;
    },
  };
}

/** An IPv6 /64 counts as one address, because it usually belongs to one host. */
function keyOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
