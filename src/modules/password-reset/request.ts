import { RateLimiterMemory } from 'rate-limiter-flexible';
import { networkOf } from '../../platform/values/network-address.js';
import { countAttempt, lockedOut, lockLeft, resetThrottle } from '../auth/public.js';
import { transaction, type Rows } from '../../platform/db/transaction.js';
import type { Deps } from '../dependencies.js';
import { consume } from '../../platform/access/rate-limit.js';
import { newId } from '../../platform/values/ids.js';
import { addJobs } from '../../platform/queue/jobs.js';
import { insertRequest } from './queries.js';

export type ResetRequest = { tenantId: string; username: string; address: string };

export type ResetRequests = { request(deps: Deps, wanted: ResetRequest): Promise<void> };

/** Counted per replica. The limit per user name is counted in the database. */
const PER_ADDRESS = { points: 20, duration: 15 * 60 };

/**
 * Stores requests for a password reset. It does not look up the user: known and unknown names execute the
 * same statements and get the same response. The worker does the rest.
 */
export function openResetRequests(): ResetRequests {
  const limiter = new RateLimiterMemory(PER_ADDRESS);
  return {
    async request({ db }, { tenantId, username, address }) {
      await consume(limiter, `${tenantId} ${networkOf(address)}`, 'too_many_attempts');
      const caller = { kind: 'system', tenantId } as const;
      const throttle = resetThrottle(username);
      const id = newId();
      await transaction(db, caller, async (tx) => {
        const counted = await tx.query(countAttempt(caller, throttle));
        if (counted.length === 0)
          throw lockedOut(await tx.query<Rows[number]>(lockLeft(db, caller, throttle)));
        await tx.execute(insertRequest(caller, id, username));
        await tx.query(addJobs('preparePasswordReset', [{ tenantId, resetId: id }]));
      });
    },
  };
}
