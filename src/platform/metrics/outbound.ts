import { Counter, Histogram, type Registry } from 'prom-client';

const ATTEMPT_OUTCOMES = ['delivered', 'rejected', 'timeout', 'unreachable', 'unsafe_target'] as const;
const MAIL_RESULTS = ['sent', 'skipped', 'retried', 'failed'] as const;
const SYNC_RESULTS = ['succeeded', 'failed'] as const;

/** The values of webhook_attempts.outcome. */
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];
/** `retried`: not sent, another attempt follows; `failed`: no more attempts; `skipped`: no recipient, or none that staging mails. */
type MailResult = (typeof MAIL_RESULTS)[number];
type CustomerSyncResult = (typeof SYNC_RESULTS)[number];

/** Counters for the worker's tasks. */
export type OutboundMetrics = {
  webhookAttempt(outcome: AttemptOutcome, seconds: number): void;
  /** The first attempt of a delivery begins, this time after the delivery was created. */
  webhookStarted(delaySeconds: number): void;
  mail(result: MailResult): void;
  customerSync(result: CustomerSyncResult): void;
};

export function countOutbound(registry: Registry): OutboundMetrics {
  const attempt = makeTally(
    registry,
    { name: 'crossdock_webhook_attempts_total', help: 'Attempts to send a webhook.', label: 'outcome' },
    ATTEMPT_OUTCOMES,
  );
  const attemptSeconds = new Histogram({
    name: 'crossdock_webhook_attempt_duration_seconds',
    help: 'Duration of an attempt, from the DNS lookup to the end of the response.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const startDelay = new Histogram({
    name: 'crossdock_webhook_start_delay_seconds',
    help: 'Time from the creation of a webhook delivery to its first attempt.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300],
    registers: [registry],
  });
  return {
    webhookStarted: (delaySeconds) => startDelay.observe(Math.max(0, delaySeconds)),
    webhookAttempt(outcome, seconds) {
      attempt(outcome);
      attemptSeconds.observe(seconds);
    },
    mail: makeTally(
      registry,
      { name: 'crossdock_mails_total', help: 'Attempts to send a mail.', label: 'result' },
      MAIL_RESULTS,
    ),
    customerSync: makeTally(
      registry,
      { name: 'crossdock_customer_syncs_total', help: 'Customer synchronisations.', label: 'result' },
      SYNC_RESULTS,
    ),
  };
}

/** Returns a counter with one label. All values start at 0, so that rate() sees the first increment. */
function makeTally<Value extends string>(
  registry: Registry,
  { name, help, label }: { name: string; help: string; label: string },
  values: readonly Value[],
): (value: Value) => void {
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
  for (const value of values) counter.inc({ [label]: value }, 0);
  return (value) => counter.inc({ [label]: value });
}
