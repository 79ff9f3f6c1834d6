import type { DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import type { TaskDeps } from '../../../platform/queue/task-context.js';
import type { Span } from '../../../platform/tracing/span.js';
import type { ClaimedRow } from './claim-queries.js';
import type { AttemptResult } from './settle-queries.js';

export type AttemptObservers = Pick<TaskDeps, 'metrics' | 'log' | 'tracer' | 'span'>;

/** An attempt in progress, for the metrics, the trace and the log. */
export type ObservedAttempt = {
  span: Span | undefined;
  postponed(): void;
  /** `isGivenUp` if no other attempt follows a failed one. */
  ended(
    result: Pick<AttemptResult, 'outcome' | 'http_status'> & { isGivenUp: boolean },
    durationMs: number,
  ): void;
};

/** @param number of the attempt, from 1 */
export function observeAttempt(
  { metrics, log, tracer, span: job }: AttemptObservers,
  { tenantId, courierId, endpoint }: DeliveryQueue,
  { deliveryId, createdAt, traceparent }: ClaimedRow,
  { number, sentAt }: { number: number; sentAt: Date },
): ObservedAttempt {
  // A job sends the webhooks of many requests. Each webhook belongs to the trace of its own request.
  const isOfJob = traceparent !== null && job !== undefined && traceparent.includes(job.traceId);
  const parent = isOfJob ? { traceparent: job.traceparent } : { traceparent: traceparent ?? '', link: job };
  const attributes = {
    'crossdock.delivery.id': deliveryId,
    'crossdock.delivery.attempt': number,
    'http.request.method': 'POST',
  };
  const span =
    traceparent === null
      ? undefined
      : tracer?.startWork(`webhook ${endpoint}`, { kind: 'client', attributes }, parent);
  return {
    span,
    postponed: () => span?.end({}, 'postponed'),
    ended({ outcome, http_status: status, isGivenUp }, durationMs) {
      metrics?.webhookAttempt(outcome, durationMs / 1_000);
      if (isGivenUp) metrics?.webhooksGivenUp(1);
      if (number === 1) metrics?.webhookStarted((sentAt.getTime() - createdAt.getTime()) / 1_000);
      const isDelivered = outcome === 'delivered';
      span?.end({ 'http.response.status_code': status ?? undefined }, isDelivered ? undefined : outcome);
      log[levelOf(isDelivered, isGivenUp)](
        {
          tenantId,
          courierId,
          deliveryId,
          endpoint,
          attempt: number,
          outcome,
          status,
          durationMs: Math.round(durationMs),
          ...(isGivenUp && { givenUp: true }),
          ...(span &&
            span.traceId !== job?.traceId && { [job ? 'deliveryTraceId' : 'traceId']: span.traceId }),
        },
        isDelivered ? 'webhook delivered' : 'webhook not delivered',
      );
    },
  };
}

function levelOf(isDelivered: boolean, isGivenUp: boolean): 'debug' | 'info' | 'warn' {
  if (isGivenUp) return 'warn';
  return isDelivered ? 'debug' : 'info';
}
