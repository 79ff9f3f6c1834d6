import ipaddr from 'ipaddr.js';

/** Bounds the requests to one address in a process, whichever couriers and tenants they are for. */
export type AddressRateLimiter = {
  /** Counts a request to the address; 0 when it may be sent, else after how many milliseconds to try again. */
  take(address: string): number;
};

const WINDOW_MS = 1_000;
const MAX_ADDRESSES = 10_000;

// Not rate-limiter-flexible: that answers later, and undici hands out a free connection only while it is asked.
export function makeAddressRateLimiter(requestsPerSecond = Infinity): AddressRateLimiter {
  const windows = new Map<string, { endsAtMs: number; count: number }>();

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
      const window = windowOf(keyOf(address), nowMs);
      if (window.count >= requestsPerSecond) return Math.ceil(window.endsAtMs - nowMs);
      window.count += 1;
      return 0;
    },
  };
}

/** An IPv6 network of 64 bits counts as one address: whoever has one of its addresses has them all. */
function keyOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
