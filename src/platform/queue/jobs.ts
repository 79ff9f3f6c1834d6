import { sql, type Sql } from '../db/transaction.js';
import type { DeliveryQueue } from './delivery-queues.js';

/** What workers do, and what each is told. Ids only: the rows they name are read in the tenant's scope. */
export type Jobs = {
  /** Sends what is due in a lane, see delivery-queues.ts. */
  deliver: DeliveryQueue;
  sendManifestMail: { tenantId: string; mailId: string };
  sendAccountMail: { tenantId: string; mailId: string };
  /** Looks the user of a request up, makes the token and queues the mail. */
  preparePasswordReset: { tenantId: string; resetId: string };
  syncCustomers: { tenantId: string; runId: string };
  /** On the clock: queues a run for each courier that has a URL for it. */
  scheduleCustomerSyncs: Record<string, never>;
  /** On the clock: wakes what is due and was not woken, and settles what was left half done. */
  sweep: Record<string, never>;
  /** On the clock: chains the audit entries that have been written since. */
  sealAuditLog: Record<string, never>;
  /** On the clock: deletes what is past its keeping. */
  prune: Record<string, never>;
};

/**
 * The statement that queues work, to be done after the commit of the transaction that runs it, at least once. A job that
 * throws is done again after e^attempts seconds, at most six hours.
 *
 * @param payloads what each job is told
 * @param withinSeconds over which they are spread by chance, so that not all begin at once
 */
export function addJobs<Kind extends keyof Jobs>(
  kind: Kind,
  payloads: Jobs[Kind][],
  { maxAttempts = 12, withinSeconds = 0 } = {},
): Sql {
  return sql`select count(*)::int as added from graphile_worker.add_jobs(array(
      select row(${kind}, payload, null, now() + random() * make_interval(secs => ${withinSeconds}), ${maxAttempts},
        null, 0, null)::graphile_worker.job_spec
      from json_array_elements(${JSON.stringify(payloads)}::json) as payload))`;
}
