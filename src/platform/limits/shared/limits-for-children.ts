import type { RateLimit } from '../headers/rate-limits.js';
import type { CallOwner, GiveWay, KeyedLimiterOptions } from '../queues/keyed-limiter.js';
import type { AmountLimits, Holder } from './amounts.js';
import type { NotedLogin, TenantNetwork } from './known-networks.js';
import type { Counted, SharedLimits } from './shared-limits.js';

/** What a child process asks the primary process. Messages carry no errors, so that each outcome is a value, and no `undefined`. */
export type LimitCalls = {
  openRateLimiter(limit: RateLimit): void;
  openKeyedLimiter(name: string, options: KeyedLimiterOptions): void;
  openAllotment(name: string, limits: AmountLimits): void;
  /** Returns null if nothing is counted for the key. @param points for a penalty */
  count(
    policy: string,
    how: 'get' | 'consume' | 'penalty',
    key: string,
    points?: number,
  ): Promise<Counted | null>;
  /** Waits until the limits allow the work. Returns the number of the permit, or null if it could not start in time. */
  acquire(name: string, key: string, owner: CallOwner): Promise<number | null>;
  /** Lets others run between two pieces of the work, and resolves when its next piece may run. */
  giveWay(permit: number): Promise<void>;
  release(permit: number): void;
  hasSpace(name: string, key: string, owner: CallOwner): Promise<boolean>;
  take(name: string, holder: Holder, amount: number): Promise<boolean>;
  give(name: string, holder: Holder, amount: number): void;
  isKnownNetwork(network: TenantNetwork): Promise<boolean>;
  noteLogin(login: NotedLogin): void;
};

/** The limits of the primary process, for its child processes. */
export type ChildLimits = {
  /** Returns the calls of one child process, and what gives back everything that it has when it has ended. */
  open(): { calls: LimitCalls; end(): void };
};

export function serveLimits(limits: SharedLimits): ChildLimits {
  const rateLimiters = byName(limits.rateLimiter);
  const keyedLimiters = byName(limits.keyedLimiter);
  const allotments = byName(limits.allotment);
  let lastPermit = 0;

  function open(): { calls: LimitCalls; end(): void } {
    const permits = new Map<number, Permit>();
    const taken = new Map<string, { name: string; holder: Holder; amount: number }>();
    let isEnded = false;

    function note(name: string, holder: Holder, amount: number): void {
      const key = `${name} ${holder.name}`;
      const sum = (taken.get(key)?.amount ?? 0) + amount;
      if (sum === 0) taken.delete(key);
      else taken.set(key, { name, holder, amount: sum });
    }

    const calls: LimitCalls = {
      openRateLimiter: (limit) => rateLimiters.open(limit.policy, limit),
      openKeyedLimiter: (name, options) => keyedLimiters.open(name, name, options),
      openAllotment: (name, given) => allotments.open(name, name, given),
      count: (policy, how, key, points = 1) => {
        const limiter = rateLimiters.get(policy);
        return how === 'penalty' ? limiter.penalty(key, points) : limiter[how](key);
      },
      acquire: (name, key, owner) =>
        new Promise((resolve) => {
          const hold = (giveWay: GiveWay) =>
            new Promise<void>((release) => {
              // It may have ended while it waited.
              if (isEnded) {
                release();
                return;
              }
              lastPermit += 1;
              permits.set(lastPermit, makePermit(giveWay, release));
              resolve(lastPermit);
            });
          // The limiter rejects only what could not start in time.
          keyedLimiters
            .get(name)
            .run(key, hold, owner)
            .catch(() => resolve(null));
        }),
      giveWay: async (permit) => permits.get(permit)?.giveWay(),
      release(permit) {
        permits.get(permit)?.release();
        permits.delete(permit);
      },
      hasSpace: (name, key, owner) =>
        keyedLimiters
          .get(name)
          .assertSpace(key, owner)
          .then(
            () => true,
            () => false,
          ),
      async take(name, holder, amount) {
        const isTaken = !isEnded && (await allotments.get(name).take(holder, amount));
        if (isTaken) note(name, holder, amount);
        return isTaken;
      },
      give(name, holder, amount) {
        allotments.get(name).give(holder, amount);
        note(name, holder, -amount);
      },
      isKnownNetwork: limits.knownNetworks.has,
      noteLogin: limits.knownNetworks.note,
    };
    return {
      calls,
      end() {
        isEnded = true;
        for (const permit of permits.values()) permit.release();
        for (const { name, holder, amount } of taken.values()) allotments.get(name).give(holder, amount);
      },
    };
  }
  return { open };
}

/** The right of a child process to run a work. */
type Permit = { giveWay: GiveWay; release(): void };

/** A process may end while its work has given way. The permit is then given back when its turn comes, because it has none until then. */
function makePermit(giveWay: GiveWay, release: () => void): Permit {
  let turn = Promise.resolve();
  return {
    giveWay: () => (turn = giveWay()),
    release: () => void turn.then(release),
  };
}

/** Keeps what each name stands for. The first child process that names it opens it. */
function byName<Parameters extends unknown[], Opened>(make: (...parameters: Parameters) => Opened) {
  const opened = new Map<string, Opened>();
  return {
    open(name: string, ...parameters: Parameters): void {
      if (!opened.has(name)) opened.set(name, make(...parameters));
    },
    get(name: string): Opened {
      const found = opened.get(name);
      if (!found) throw new Error(`The limit ${name} was not opened.`);
      return found;
    },
  };
}
