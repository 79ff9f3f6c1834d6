import { Gauge, Registry } from 'prom-client';
import type { BacklogRow } from './backlog-queries.js';

const JOB_STATES = ['ready', 'blocked', 'scheduled', 'running', 'failed'] as const;

/** Renders the backlog in the Prometheus text format. */
export type BacklogGauges = { render(backlog: BacklogRow): Promise<string> };

/** These gauges have their own registry, so that they are omitted while the database is unavailable and values would be stale. */
export function makeBacklogGauges(): BacklogGauges {
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `crossdock_${name}`, help, labelNames, registers: [registry] });

  const jobs = gauge('queue_jobs', 'Jobs in the queue.', ['kind', 'state']);
  const oldestReady = gauge(
    'queue_oldest_ready_seconds',
    'Age of the oldest job that a worker could take now.',
    ['kind'],
  );
  const longestRunning = gauge(
    'queue_longest_running_seconds',
    'Time since the start of the longest running job.',
    ['kind'],
  );
  const workerPools = gauge('worker_pools', 'Worker pools with a heartbeat in the last 45 s.');
  const paused = gauge('outbound_paused', '1 while outbound work is paused.');
  const background = {
    rows_done: gauge('background_migration_rows_done', 'Rows that a background migration has processed.', [
      'migration',
    ]),
    rows_total: gauge(
      'background_migration_rows_total',
      'Rows that a background migration has to process, estimated at its start.',
      ['migration'],
    ),
    is_finished: gauge('background_migration_finished', '1 if the background migration has finished.', [
      'migration',
    ]),
  };
  const outbound = {
    pending_deliveries: gauge(
      'webhook_deliveries_pending',
      'Webhook deliveries that are pending, due or scheduled.',
    ),
    oldest_due_delivery_seconds: gauge(
      'webhook_oldest_due_seconds',
      'Age of the most overdue webhook delivery.',
    ),
    paused_endpoints: gauge('webhook_endpoints_paused', 'Courier URLs that are paused.'),
    queued_mails: gauge('mails_queued', 'Mails that are queued, due or scheduled.'),
    oldest_queued_mail_seconds: gauge('mails_oldest_queued_seconds', 'Age of the oldest queued mail.'),
    open_syncs: gauge('customer_syncs_open', 'Customer synchronisations that are queued or running.'),
    oldest_open_sync_seconds: gauge(
      'customer_syncs_oldest_open_seconds',
      'Age of the oldest queued or running customer synchronisation.',
    ),
  } satisfies Record<keyof BacklogRow['outbound'], Gauge>;
  const labels = {
    waiting_labels: gauge('label_jobs_waiting', 'Labels that wait for the printer of a station.'),
    oldest_waiting_label_seconds: gauge(
      'label_jobs_oldest_waiting_seconds',
      'Age of the oldest waiting label.',
    ),
    failed_labels: gauge(
      'label_jobs_failed',
      'Labels that failed, expired or became unconfirmed in the last hour.',
    ),
  } satisfies Record<keyof BacklogRow['labels'], Gauge>;

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
      paused.set(Number(backlog.is_outbound_paused));
      for (const { name: migration, rows_done, rows_total, is_finished } of backlog.background_migrations) {
        background.rows_done.set({ migration }, rows_done);
        background.rows_total.set({ migration }, rows_total);
        background.is_finished.set({ migration }, is_finished ? 1 : 0);
      }
      // `satisfies` above ensures that the gauges have the rows' keys.
      for (const name of Object.keys(outbound) as (keyof typeof outbound)[])
        outbound[name].set(backlog.outbound[name]);
      for (const name of Object.keys(labels) as (keyof typeof labels)[])
        labels[name].set(backlog.labels[name]);
      return registry.metrics();
    },
  };
}
