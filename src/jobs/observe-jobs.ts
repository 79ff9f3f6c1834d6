import { withSpan } from '../platform/db/database.js';
import { ApiError } from '../platform/errors/errors.js';
import type { Jobs } from '../platform/queue/jobs.js';
import type { RunningJob, Tasks } from '../platform/queue/runner.js';
import type { TaskDeps } from '../platform/queue/task-context.js';
import { errorTypeOf, type Span } from '../platform/tracing/span.js';

/** The work of each kind of job. `deps` belong to one job: its trace, and a log that names it. */
export type Work = { [Kind in keyof Jobs]: (deps: TaskDeps, payload: Jobs[Kind]) => Promise<void> };

/** Returns tasks that log how each job ended, and are part of the trace that queued them. */
export function observeJobs(deps: TaskDeps, work: Work): Tasks {
  const observed = Object.entries(work).map(([kind, run]) => [
    kind,
    // The keys and the payloads are those of `work`.
    (payload: RunningPayload, job: RunningJob) => observe(deps, { kind, ...job }, payload, run as Run),
  ]);
  // Object.fromEntries loses the types of the keys.
  return Object.fromEntries(observed) as Tasks;
}

type RunningPayload = { tenantId?: string; courierId?: string; traceparent?: string };
type Run = (deps: TaskDeps, payload: object) => Promise<void>;

async function observe(
  deps: TaskDeps,
  { kind, id, attempt, maxAttempts }: RunningJob & { kind: string },
  payload: RunningPayload,
  run: Run,
): Promise<void> {
  const startMs = performance.now();
  const { tenantId, courierId, traceparent } = payload;
  const span = deps.tracer?.startWork(
    kind,
    { kind: 'consumer', attributes: { 'crossdock.job.id': id, 'crossdock.tenant.id': tenantId } },
    traceparent === undefined ? undefined : { traceparent },
  );
  const log = deps.log.child({ job: kind, jobId: id, attempt, tenantId, courierId, ...traceFields(span) });
  const durationMs = () => Math.round(performance.now() - startMs);
  try {
    await run({ ...deps, log, span, db: withSpan(deps.db, span) }, payload);
    span?.end();
    log.debug({ status: 'completed', durationMs: durationMs() }, 'job completed');
  } catch (error) {
    const code = error instanceof ApiError ? error.code : undefined;
    span?.end({ 'crossdock.failure.code': code }, errorTypeOf(error));
    const status = attempt < maxAttempts ? 'retried' : 'failed';
    log.error({ status, code, durationMs: durationMs(), err: error }, 'job failed');
    throw error;
  }
}

const traceFields = (span: Span | undefined) => (span ? { traceId: span.traceId } : {});
