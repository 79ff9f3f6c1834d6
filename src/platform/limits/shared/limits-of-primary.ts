import { ApiError } from '../../errors/errors.js';
import type { LimitCalls } from './limits-for-children.js';
import { makeAmounts, makeSums, type AmountLimits, type Holder } from './amounts.js';
import { makeOwnLimits, type Allotment, type SharedLimits } from './shared-limits.js';

/** The calls as a channel sends them: each returns a promise. */
export type RemoteLimits = {
  [Name in keyof LimitCalls]: (
    ...parameters: Parameters<LimitCalls[Name]>
  ) => Promise<Awaited<ReturnType<LimitCalls[Name]>>>;
};

/**
 * Calls the primary process. Rejects if it is lost or does not answer.
 *
 * @param onLate is called with an answer that comes after the rejection
 */
export type Ask = <Answer>(call: () => Promise<Answer>, onLate?: (answer: Answer) => void) => Promise<Answer>;

/**
 * Returns the limits for a child process: the primary process counts. If it is lost or does not answer, the child process goes on within limits
 * of its own, which are those of one process.
 *
 * @param primary its calls
 */
export function openLimitsOfPrimary(primary: RemoteLimits, ask: Ask = (call) => call()): SharedLimits {
  const own = makeOwnLimits();
  return {
    rateLimiter(limit) {
      const fallback = own.rateLimiter(limit);
      send(primary.openRateLimiter(limit));
      const count = (how: 'get' | 'consume' | 'penalty', key: string, points?: number) =>
        ask(() => primary.count(limit.policy, how, key, points));
      return {
        get: (key) => orOwn(count('get', key), () => fallback.get(key)),
        consume: async (key) =>
          (await orOwn(count('consume', key), () => fallback.consume(key))) ?? fallback.consume(key),
        async penalty(key, points) {
          // Always here too: who has failed in this process stays refused by it when the primary process does not answer.
          const counted = await fallback.penalty(key, points);
          return (await orOwn(count('penalty', key, points), () => counted)) ?? counted;
        },
      };
    },

    keyedLimiter(name, options) {
      const fallback = own.keyedLimiter(name, options);
      const overloaded = () => new ApiError('overloaded', { retryAfterSeconds: options.retryAfterSeconds });
      send(primary.openKeyedLimiter(name, options));
      const release = (permit: number | null) => {
        if (permit !== null) send(primary.release(permit));
      };
      return {
        async run(key, work, owner = {}) {
          // A permit that comes late is given back: the work has run without it.
          const permit = await orOwn(
            ask(() => primary.acquire(name, key, owner), release),
            () => undefined,
          );
          if (permit === undefined) return fallback.run(key, work, owner);
          if (permit === null) throw overloaded();
          try {
            // Without the primary process, nobody is left to give way to.
            return await work(() =>
              orOwn(
                ask(() => primary.giveWay(permit)),
                () => undefined,
              ),
            );
          } finally {
            release(permit);
          }
        },
        async assertSpace(key, owner = {}) {
          const hasSpace = await orOwn(
            ask(() => primary.hasSpace(name, key, owner)),
            () => undefined,
          );
          if (hasSpace === undefined) await fallback.assertSpace(key, owner);
          else if (!hasSpace) throw overloaded();
        },
      };
    },

    knownNetworks: {
      has: (network) =>
        orOwn(
          ask(() => primary.isKnownNetwork(network)),
          () => own.knownNetworks.has(network),
        ),
      note(login) {
        own.knownNetworks.note(login);
        send(primary.noteLogin(login));
      },
    },

    allotment(name, limits) {
      send(primary.openAllotment(name, limits));
      return makeSharedAllotment(name, limits, primary, ask);
    },
  };
}

/**
 * This process counts what its holders have, and refuses what is too much for one process alone. It knows how much of that the primary
 * process has granted: not what was taken while that did not answer, and also what it has granted late.
 */
function makeSharedAllotment(name: string, limits: AmountLimits, primary: RemoteLimits, ask: Ask): Allotment {
  const own = makeAmounts(limits);
  const granted = makeSums();

  /** Gives back to the primary process what this one does not have. */
  function settle(holder: Holder): void {
    const excess = granted.of(holder.name) - own.heldBy(holder);
    if (excess <= 0) return;
    granted.add(holder.name, -excess);
    send(primary.give(name, holder, excess));
  }

  return {
    async take(holder, amount) {
      const onLate = (isGranted: boolean) => {
        if (isGranted) granted.add(holder.name, amount);
        settle(holder);
      };
      const isGranted = await orOwn(
        ask(() => primary.take(name, holder, amount), onLate),
        () => undefined,
      );
      if (isGranted === false) return false;
      if (isGranted) granted.add(holder.name, amount);
      const isTaken = own.take(holder, amount);
      settle(holder);
      return isTaken;
    },
    give(holder, amount) {
      own.give(holder, amount);
      settle(holder);
    },
  };
}

/** Returns what the primary process answers, and `otherwise` if it is lost or does not answer. */
const orOwn = <Answer, Own>(
  answer: Promise<Answer>,
  otherwise: () => Own | Promise<Own>,
): Promise<Answer | Own> => answer.catch(otherwise);

/** For messages without an answer. If the primary process is lost, nobody counts any more. */
function send(message: Promise<void>): void {
  message.catch(() => undefined);
}
