import { setImmediate } from 'node:timers';

// Our own: makeTurns (limits/queues) counts turns, and one turn can cost sixty times another's. No library shares by measured time.

/** The work of a host that waits, and the time that the host has used. */
type Host = { waiting: (() => void)[]; usedMs: number };

export type TurnsByTime = {
  /** The number of hosts whose time is known. */
  knownHosts(): number;
  /** Resolves in a turn of its own of the event loop, when no other host that waits has used less time. */
  take(host: string): Promise<void>;
};

/** Above this number, hosts are forgotten that wait for nothing and owe no time. */
const MAX_KNOWN_HOSTS = 100;

/**
 * Gives one turn of the event loop after another, each to the host that has used the least time (start-time fair queueing). Until the
 * next turn begins, the time is that of the host. A host that comes back has used at least as much as the one that had the last turn, so it
 * saves no time up.
 *
 * @param clock returns milliseconds. Only tests set it
 */
export function makeTurnsByTime(clock: () => number = () => performance.now()): TurnsByTime {
  const hosts = new Map<string, Host>();
  /** What the host of the last turn had used before it. */
  let servedMs = 0;
  let isRunning = false;

  const waitingHosts = () => [...hosts.values()].filter(({ waiting }) => waiting.length > 0);

  function giveTurn(): void {
    const [host] = waitingHosts().sort((a, b) => a.usedMs - b.usedMs);
    isRunning = host !== undefined;
    if (!host) return;
    servedMs = host.usedMs;
    if (hosts.size > MAX_KNOWN_HOSTS) forgetIdle();
    const startedMs = clock();
    host.waiting.shift()?.();
    setImmediate(() => {
      host.usedMs += clock() - startedMs;
      giveTurn();
    });
  }

  /** A host that comes back would have used as much as these have. */
  function forgetIdle(): void {
    for (const [name, { waiting, usedMs }] of hosts)
      if (waiting.length === 0 && usedMs <= servedMs) hosts.delete(name);
  }

  return {
    knownHosts: () => hosts.size,
    take(name) {
      const host = hosts.get(name) ?? { waiting: [], usedMs: 0 };
      hosts.set(name, host);
      if (host.waiting.length === 0) host.usedMs = Math.max(host.usedMs, servedMs);
      if (!isRunning) setImmediate(giveTurn);
      isRunning = true;
      return new Promise((resolve) => void host.waiting.push(resolve));
    },
  };
}
