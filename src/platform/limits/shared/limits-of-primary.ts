import { ApiError } from '../../errors/errors.js';
import type { LimitCalls } from './limits-for-children.js';
import { makeOwnLimits, type SharedLimits } from './shared-limits.js';

/** The calls as a channel sends them: each returns a promise. */
export type RemoteLimits = {
  [Name in keyof LimitCalls]: (
    ...parameters: Parameters<LimitCalls[Name]>
  ) => Promise<Awaited<ReturnType<LimitCalls[Name]>>>;
};

/**
 * Returns the limits for a child process: the primary process counts. If it is lost, the child process completes its requests within
 * limits of its own.
 *
 * @param primary its calls. They reject when the primary process is lost
 */
export function openLimitsOfPrimary(primary: RemoteLimits): SharedLimits {
  const own = makeOwnLimits();
  return {
    rateLimiter(limit) {
      const fallback = own.rateLimiter(limit);
      send(primary.openRateLimiter(limit));
      const count = (how: 'get' | 'consume' | 'penalty', key: string, points?: number) =>
        primary.count(limit.policy, how, key, points);
      return {
        get: (key) => orOwn(count('get', key), () => fallback.get(key)),
        consume: async (key) =>
          (await orOwn(count('consume', key), () => fallback.consume(key))) ?? fallback.consume(key),
        penalty: async (key, points) =>
          (await orOwn(count('penalty', key, points), () => fallback.penalty(key, points))) ??
          fallback.penalty(key, points),
      };
    },

    keyedLimiter(name, options) {
      const fallback = own.keyedLimiter(name, options);
      const overloaded = () => new ApiError('overloaded', { retryAfterSeconds: options.retryAfterSeconds });
      send(primary.openKeyedLimiter(name, options));
      return {
        async run(key, work, owner = {}) {
          const permit = await orOwn(primary.acquire(name, key, owner), () => undefined);
          if (permit === undefined) return fallback.run(key, work, owner);
          if (permit === null) throw overloaded();
          try {
            // Without the primary process, nobody is left to give way to.
            return await work(() => orOwn(primary.giveWay(permit), () => undefined));
          } finally {
            send(primary.release(permit));
          }
        },
        async assertSpace(key, owner = {}) {
          const hasSpace = await orOwn(primary.hasSpace(name, key, owner), () => undefined);
          if (hasSpace === undefined) await fallback.assertSpace(key, owner);
          else if (!hasSpace) throw overloaded();
        },
      };
    },

    allotment(name, limits) {
      send(primary.openAllotment(name, limits));
      return {
        take: (holder, amount) => orOwn(primary.take(name, holder, amount), () => true),
        give: (holder, amount) => send(primary.give(name, holder, amount)),
      };
    },
  };
}

/** Returns what the primary process answers, and `otherwise` if it is lost. */
const orOwn = <Answer, Own>(
  answer: Promise<Answer>,
  otherwise: () => Own | Promise<Own>,
): Promise<Answer | Own> => answer.catch(otherwise);

/** For messages without an answer. If the primary process is lost, nobody counts any more. */
function send(message: Promise<void>): void {
  message.catch(() => undefined);
}
