import { Gauge, Registry } from 'prom-client';
import type { BacklogRow } from './backlog-queries.js';

const JOB_STATES = ['ready', 'blocked', 'scheduled', 'running', 'failed'] as const;

/** What waits, in the text that Prometheus reads. */
export type BacklogGauges = { render(backlog: BacklogRow): Promise<string> };

/** In a registry of their own: while the database is away they are not told at all, an old figure would mislead. */
export function makeBacklogGauges(): BacklogGauges {
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `crossdock_${name}`, help, labelNames, registers: [registry] });

  const jobs = gauge('queue_jobs', 'Jobs in the queue.', ['kind', 'state']);
  const oldestReady = gauge(
    'queue_oldest_ready_seconds',
    'How long the job has waited that a worker could have taken first.',
    ['kind'],
  );
  const longestRunning = gauge(
    'queue_longest_running_seconds',
    'How long a worker has had the job that it took first.',
    ['kind'],
  );
  const workerPools = gauge(
    'worker_pools',
    'Pools of workers that have given a sign of life in the last 45 s.',
  );
  const outbound = {
    pending_deliveries: gauge('webhook_deliveries_pending', 'Webhooks to be sent, now or later.'),
    oldest_due_delivery_seconds: gauge('webhook_oldest_due_seconds', 'How late the latest webhook is.'),
    paused_endpoints: gauge('webhook_endpoints_paused', 'URLs of couriers that are paused.'),
    queued_mails: gauge('mails_queued', 'Mails to be sent, now or later.'),
    oldest_queued_mail_seconds: gauge('mails_oldest_queued_seconds', 'Age of the oldest mail to be sent.'),
    open_syncs: gauge('customer_syncs_open', 'Synchronisations of customers that wait or run.'),
    oldest_open_sync_seconds: gauge(
      'customer_syncs_oldest_open_seconds',
      'Age of the oldest synchronisation of customers that waits or runs.',
    ),
  } satisfies Record<keyof BacklogRow['outbound'], Gauge>;

  return {
    render(backlog) {
      for (const labelled of [jobs, oldestReady, longestRunning]) labelled.reset();
      for (const row of backlog.queue) {
        const { kind } = row;
        for (const state of JOB_STATES) jobs.set({ kind, state }, row[state]);
        oldestReady.set({ kind }, row.oldest_ready_seconds);
        longestRunning.set({ kind }, row.longest_running_seconds);
      }
      workerPools.set(backlog.worker_pools);
      // as: the keys of the gauges are those of the row, see above
      for (const name of Object.keys(outbound) as (keyof typeof outbound)[])
        outbound[name].set(backlog.outbound[name]);
      return registry.metrics();
    },
  };
}
