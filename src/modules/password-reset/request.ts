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

/** In each replica for itself; the limit per user name counts in the database. */
const PER_ADDRESS = { points: 20, duration: 15 * 60 };

/**
 * Takes requests for a reset. No user is looked up here: known and unknown names cost the same statements and get the
 * same answer, and a worker does the rest.
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
