import type { Registry } from 'prom-client';
import { instrumentsOf } from './instruments.js';

const ATTEMPT_OUTCOMES = ['delivered', 'rejected', 'timeout', 'unreachable', 'unsafe_target'] as const;
/** `retried`: not sent, another attempt follows; `failed`: no more attempts; `skipped`: no recipient, or none that staging mails. */
const MAIL_RESULTS = ['sent', 'skipped', 'retried', 'failed'] as const;
const SYNC_RESULTS = ['succeeded', 'failed'] as const;

/** The values of webhook_attempts.outcome. */
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Counters for the worker's tasks. */
export type OutboundMetrics = ReturnType<typeof countOutbound>;

export function countOutbound(registry: Registry) {
  const { counter, histogram } = instrumentsOf(registry);
  /** Returns a counter with one label. All values start at 0, so that rate() sees the first increment. */
  function tally<Value extends string>(name: string, help: string, label: string, values: readonly Value[]) {
    const counted = counter(name, help, { labelNames: [label] });
    for (const value of values) counted.inc({ [label]: value }, 0);
    return (value: Value) => counted.inc({ [label]: value });
  }
  const attempt = tally('webhook_attempts_total', 'Attempts to send a webhook.', 'outcome', ATTEMPT_OUTCOMES);
  const attemptSeconds = histogram(
    'webhook_attempt_duration_seconds',
    'Duration of an attempt, from the DNS lookup to the end of the response.',
    { buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] },
  );
  const startDelay = histogram(
    'webhook_start_delay_seconds',
    'Time from the creation of a webhook delivery to its first attempt.',
    { buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300] },
  );
  const givenUp = counter('webhooks_given_up_total', 'Webhooks that are not sent any more.');
  return {
    /** Webhooks have failed all attempts, or waited for a URL that was paused. Tests are not counted. */
    webhooksGivenUp: (count: number): void => givenUp.inc(count),
    /** The first attempt of a delivery begins, this time after the delivery was created. */
    webhookStarted: (delaySeconds: number): void => startDelay.observe(Math.max(0, delaySeconds)),
    webhookAttempt(outcome: AttemptOutcome, seconds: number): void {
      attempt(outcome);
      attemptSeconds.observe(seconds);
    },
    mail: tally('mails_total', 'Attempts to send a mail.', 'result', MAIL_RESULTS),
    customerSync: tally('customer_syncs_total', 'Customer synchronisations.', 'result', SYNC_RESULTS),
  };
}
