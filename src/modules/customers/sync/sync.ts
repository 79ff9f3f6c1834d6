import type { Secrets } from '../../../platform/access/secrets.js';
import { makeKeyedLimiter } from '../../../platform/limits/queues/keyed-limiter.js';
import { makeContext, type SystemContext } from '../../../platform/context/request-context.js';
import type { Db } from '../../../platform/db/database.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { OutboundMetrics } from '../../../platform/metrics/outbound.js';
import type { OutboundSender } from '../../../platform/outbound/client.js';
import { addJobs, type Jobs } from '../../../platform/queue/jobs.js';
import type { Span } from '../../../platform/tracing/span.js';
import { quotaOf } from '../../../platform/limits/stored/quotas.js';
import { fetchCustomers, type FetchedBody, type FetchError } from './fetch-customers.js';
import { endRun, startRun, type RunEnd } from './run-queries.js';
import { storeCustomers, type SyncTarget } from './store-customers.js';
import { makeResponseReader, type ResponseReader } from './sync-reader.js';
import type { ReadableResponse } from './sync-response.js';

export type SyncDeps = {
  db: Db;
  config: { customerChangesPerDay: number };
  secrets: Secrets;
  outbound: OutboundSender;
  log: { info(fields: object, message: string): void };
  metrics?: Pick<OutboundMetrics, 'customerSync'> | undefined;
  /** The job's span, if it is traced. */
  span?: Span | undefined;
  /** How long a thread waits for another response. Longer for tests, which send hundreds of small ones. */
  threadIdleMs?: number;
};

export type CustomerSync = (deps: SyncDeps, job: Jobs['syncCustomers']) => Promise<void>;

/**
 * A job in progress holds a response of up to 20 MiB, while it arrives and until it is stored. Further jobs wait before they call the
 * courier's system. Only a few wait here, because a waiting job occupies one of the worker's slots; the others return to the queue. Slow
 * systems of the couriers of one tenant leave a place to other tenants.
 */
const JOBS = { concurrency: 4, perTenant: 3, maxWaiting: 4, maxWaitMs: 600_000, retryAfterSeconds: 60 };

/** Reading a response takes CPU time and 100 MB, storing it takes a connection for seconds. */
const LIMITS = {
  concurrency: 2,
  maxWaiting: JOBS.concurrency,
  maxWaitMs: 600_000,
  retryAfterSeconds: 60,
};

/**
 * Returns the job that reads a courier's customers from the courier's own system. Any failure of that system
 * ends the run as failed. The job throws only for internal errors; a repeated job starts from the beginning.
 * @returns runs a job with its own dependencies; all jobs share the limits and the worker pool
 */
export function makeCustomerSync(shared: Pick<SyncDeps, 'config' | 'threadIdleMs'>): CustomerSync {
  const jobs = makeKeyedLimiter(JOBS);
  const limiter = makeKeyedLimiter(LIMITS);
  const readResponse = makeResponseReader(LIMITS.concurrency, shared.threadIdleMs);
  const quota = quotaOf('customer_changes', shared.config.customerChangesPerDay);

  async function synchronise(deps: SyncDeps, { tenantId, runId }: Jobs['syncCustomers']): Promise<void> {
    // Each writing transaction has its own context. The audit trail names the run instead of a request.
    const newContext = () => makeContext(deps.db, { kind: 'system', tenantId }, runId);
    const starting = newContext();
    const [[run]] = await starting.write([startRun(starting, runId)]);
    // The run was ended by another worker or as abandoned.
    if (!run) return;
    const { courierId } = run;
    const startedMs = performance.now();
    const fetched = await fetchCustomers(deps, tenantId, run);
    if ('isPostponed' in fetched) return requeueJob(newContext(), runId);
    const end =
      'error' in fetched
        ? await failRun(newContext(), runId, fetched)
        : await limiter.run(`${tenantId} ${courierId}`, () =>
            readAndStore(newContext(), { runId, courierId, quota }, readResponse, fetched),
          );
    report(deps, { tenantId, courierId, runId }, startedMs, end);
  }

  return async (deps, job) => {
    const { tenantId, runId } = job;
    const state = { hasStarted: false };
    const work = () => {
      state.hasStarted = true;
      return synchronise(deps, job);
    };
    try {
      await jobs.run(runId, work, { tenant: tenantId });
    } catch (error) {
      // There is no place, or a job of another tenant has got the one in which it waited.
      if (state.hasStarted) throw error;
      await requeueJob(makeContext(deps.db, { kind: 'system', tenantId }, runId), runId);
    }
  };
}

/** The run stays open. Its job is repeated when the address may be called again, or a job has ended. */
async function requeueJob(ctx: SystemContext, runId: string): Promise<void> {
  const job = { tenantId: ctx.tenantId, runId };
  await ctx.write([addJobs(ctx, 'syncCustomers', [job], { withinSeconds: 10 })]);
}

/** Returns undefined if the run was already ended. */
async function failRun(ctx: SystemContext, runId: string, error: FetchError): Promise<RunEnd | undefined> {
  const [ended] = await ctx.write([endRun(ctx, runId, error)]);
  return ended.length === 1 ? error : undefined;
}

async function readAndStore(
  ctx: SystemContext,
  target: SyncTarget,
  readResponse: ResponseReader,
  { httpStatus, body }: FetchedBody,
): Promise<RunEnd | undefined> {
  const response = await readResponse(body);
  return 'error' in response
    ? failRun(ctx, target.runId, { httpStatus, error: response.error })
    : storeOrFail(ctx, target, httpStatus, response);
}

/** What the run tells about a list that was refused. */
const REFUSALS: Partial<Record<ApiError['code'], (target: SyncTarget) => string>> = {
  quota_exceeded: ({ quota }) =>
    `The list would exceed the daily limit of ${quota.limit} changed customers. Nothing was stored. Synchronise again after midnight UTC.`,
  rename_unfinished: () =>
    'The list has a user code that another customer had, whose pre-alerts still get the new code. Nothing was stored. Synchronise again in some minutes.',
};

/** Stores nothing if the list would change more customers than the daily quota allows, or has a code that is not free yet. */
async function storeOrFail(
  ctx: SystemContext,
  target: SyncTarget,
  httpStatus: number,
  response: ReadableResponse,
): Promise<RunEnd | undefined> {
  try {
    return await storeCustomers(ctx, target, httpStatus, response);
  } catch (failure) {
    const error = failure instanceof ApiError ? REFUSALS[failure.code]?.(target) : undefined;
    if (error === undefined) throw failure;
    return failRun(ctx, target.runId, { httpStatus, error });
  }
}

type RunKey = { tenantId: string; courierId: string; runId: string };

/** Logs and counts the end of a run. `end` is undefined if the run had already ended. */
function report({ log, metrics }: SyncDeps, run: RunKey, startedMs: number, end: RunEnd | undefined): void {
  const durationMs = Math.round(performance.now() - startedMs);
  const { httpStatus, error, counts } = end ?? { httpStatus: null, error: 'The run had already ended.' };
  metrics?.customerSync(error === null ? 'succeeded' : 'failed');
  log.info(
    { ...run, durationMs, httpStatus, ...counts, ...(error === null ? {} : { error }) },
    error === null ? 'customers synchronised' : 'customer synchronisation failed',
  );
}
