import { once, sql, type Sql } from '../db/statements.js';
import type { Traced } from '../tracing/span.js';
import type { DeliveryQueue } from './delivery-queues.js';

/** The kinds of jobs and their payloads. A payload contains only ids; the task reads the rows in the tenant's scope. */
export type Jobs = {
  /** Sends the due deliveries of a delivery queue, see delivery-queues.ts. */
  deliver: DeliveryQueue;
  /** Makes the pending deliveries of a delivery queue due, after its URL was changed. A job, because there may be many of them. */
  sendPending: DeliveryQueue;
  sendManifestMail: { tenantId: string; mailId: string };
  sendAccountMail: { tenantId: string; mailId: string };
  sendBillMail: { tenantId: string; mailId: string };
  sendNoticeMail: { tenantId: string; mailId: string };
  /** Cron: finds out what customers of couriers are told, and queues the mails that are due. */
  tellCustomers: Record<string, never>;
  /** Looks up the user of a password reset request, creates the token and queues the mail. */
  preparePasswordReset: { tenantId: string; resetId: string };
  /** Tells the owners of a courier by mail that a request has changed where its data go. */
  tellCourierOwners: { tenantId: string; courierId: string; requestId: string };
  /** Checks a URL of a courier. */
  checkIntegration: { tenantId: string; checkId: string };
  syncCustomers: { tenantId: string; runId: string };
  /** Cron: queues a synchronisation for each courier with a customer list URL. */
  scheduleCustomerSyncs: Record<string, never>;
  /** Cron: reports bills that have become overdue to their couriers. */
  reportOverdueBills: Record<string, never>;
  /** Cron: reports parcels that a carrier has delivered and nobody has scanned to their couriers. */
  reportMissingPrealerts: Record<string, never>;
  /** Plays the steps of lives that are due in a sandbox. */
  playSandbox: { tenantId: string };
  /** Cron: the same in all open sandboxes, and starts the lives of new pre-alerts. */
  playSandboxes: Record<string, never>;
  /** Cron: requeues due deliveries without a job, and ends abandoned synchronisations and idle sessions. */
  sweep: Record<string, never>;
  /** Cron: mails the owners of couriers whose URLs fail. */
  tellOwnersOfFailures: Record<string, never>;
  /** Cron: appends new audit entries to the hash chains. */
  sealAuditLog: Record<string, never>;
  /** Cron: runs batches of background migrations. */
  runBackgroundMigrations: Record<string, never>;
  /** Cron: deletes rows that are past their retention. */
  prune: Record<string, never>;
};

type JobOptions = {
  maxAttempts?: number;
  withinSeconds?: number;
  /** The jobs start after so many seconds at the earliest. */
  afterSeconds?: number;
  /** Of the jobs with the same key that wait, one stays. One that runs does not count: it may have looked too early. */
  key?: string;
};

/**
 * Returns the statement that queues jobs. They run at least once, after the transaction commits. A job that throws is retried
 * after e^attempts seconds, at most six hours.
 *
 * @param payloads one per job
 * @param withinSeconds the jobs start at random times within this period, so that not all start at once
 */
export const addJobs = <Kind extends keyof Jobs>(
  traced: Traced,
  kind: Kind,
  payloads: Jobs[Kind][],
  options?: JobOptions,
): Sql =>
  addSelectedJobs(
    traced,
    kind,
    sql`select payload from json_array_elements(${JSON.stringify(payloads)}::json) as payload`,
    options,
  );

/**
 * The same for payloads that a statement selects, when it runs.
 * @param payloads selects one column, `payload`, of JSON
 */
export const addSelectedJobs = (
  { traceparent }: Traced,
  kind: keyof Jobs,
  payloads: Sql,
  { maxAttempts = 12, withinSeconds = 0, afterSeconds = 0, key }: JobOptions = {},
): Sql =>
  once`select count(*)::int as added from graphile_worker.add_jobs(array(
      select row(${kind}, (payload::jsonb || ${JSON.stringify({ traceparent })}::jsonb)::json, null,
        now() + make_interval(secs => ${afterSeconds}::int) + random() * make_interval(secs => ${withinSeconds}), ${maxAttempts},
        ${key ?? null}::text, 0, null)::graphile_worker.job_spec
      from (${payloads}) as selected))`;

/**
 * Returns the statement that queues a running job again, as if this run had not been: with its attempts, and with its trace.
 *
 * @param withinSeconds the job starts at a random time within this period
 */
export const putBack = <Kind extends keyof Jobs>(
  kind: Kind,
  payload: Jobs[Kind],
  { attempt, maxAttempts, withinSeconds }: { attempt: number; maxAttempts: number; withinSeconds: number },
): Sql =>
  once`select count(*)::int as added
    from graphile_worker.add_job(${kind}, ${JSON.stringify(payload)}::json,
      run_at => now() + random() * make_interval(secs => ${withinSeconds}::float8), max_attempts => ${maxAttempts}::int) as added
    cross join lateral graphile_worker.reschedule_jobs(array[added.id], attempts => ${attempt - 1}::int)`;
