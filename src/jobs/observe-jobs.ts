import { withSpan } from '../platform/db/database.js';
import { ApiError } from '../platform/errors/errors.js';
import type { Jobs } from '../platform/queue/jobs.js';
import type { RunningJob } from '../platform/queue/runner.js';
import type { TaskDeps } from '../platform/queue/task-context.js';
import { errorTypeOf, type Span } from '../platform/tracing/span.js';

type RunningPayload = { tenantId?: string; courierId?: string; traceparent?: string };
type Work<Payload> = (own: TaskDeps, payload: Payload, job: RunningJob) => Promise<void>;
type Task<Payload> = (payload: Payload, job: RunningJob) => Promise<void>;

/**
 * Returns the task of a kind of job. It logs how each job ended, and is part of the trace that queued the job. The work gets
 * dependencies of one job: its trace, and a log that names it.
 */
export const observeJobs =
  <Payload extends RunningPayload>(deps: TaskDeps, kind: keyof Jobs, work: Work<Payload>): Task<Payload> =>
  (payload, job) =>
    observe(deps, { kind, ...job }, payload, (own) => work(own, payload, job));

async function observe(
  deps: TaskDeps,
  { kind, id, attempt, maxAttempts }: RunningJob & { kind: string },
  payload: RunningPayload,
  run: (own: TaskDeps) => Promise<void>,
): Promise<void> {
  const startMs = performance.now();
  const { tenantId, courierId, traceparent } = payload;
  const span = deps.tracer?.startWork(
    kind,
    { kind: 'consumer', attributes: { 'crossdock.job.id': id, 'crossdock.tenant.id': tenantId } },
    traceparent === undefined ? undefined : { traceparent },
  );
  // Without the tenant, which the lines of the work name themselves.
  const log = deps.log.child({ job: kind, jobId: id, jobAttempt: attempt, ...traceFields(span) });
  const durationMs = () => Math.round(performance.now() - startMs);
  try {
    await run({ ...deps, log, span, db: withSpan(deps.db, span) });
    span?.end();
    log.debug({ tenantId, courierId, status: 'completed', durationMs: durationMs() }, 'job completed');
  } catch (error) {
    deps.db.health.note(error);
    const code = error instanceof ApiError ? error.code : undefined;
    span?.end({ 'crossdock.failure.code': code }, errorTypeOf(error));
    const status = attempt < maxAttempts ? 'retried' : 'failed';
    log.error({ tenantId, courierId, status, code, durationMs: durationMs(), err: error }, 'job failed');
    throw error;
  }
}

const traceFields = (span: Span | undefined) => (span ? { traceId: span.traceId } : {});
