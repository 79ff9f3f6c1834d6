import { Registry, type Gauge } from 'prom-client';
import type { BacklogRow } from './backlog-queries.js';
import { instrumentsOf } from './instruments.js';

const JOB_STATES = ['ready', 'blocked', 'scheduled', 'running', 'failed'] as const;

/** These gauges have their own registry, so that they are omitted while the database is unavailable and values would be stale. */
export function makeBacklogGauges() {
  const registry = new Registry();
  const { gauge } = instrumentsOf(registry);
  const jobs = gauge('queue_jobs', 'Jobs in the queue.', { labelNames: ['kind', 'state'] });
  const ofKind = { labelNames: ['kind'] };
  const oldestReady = gauge(
    'queue_oldest_ready_seconds',
    'Age of the oldest job that a worker could take now.',
    ofKind,
  );
  const longestRunning = gauge(
    'queue_longest_running_seconds',
    'Time since the start of the longest running job.',
    ofKind,
  );
  const workerPools = gauge('worker_pools', 'Worker pools with a heartbeat in the last 45 s.');
  const paused = gauge('outbound_paused', '1 while outbound work is paused.');
  const ofMigration = { labelNames: ['migration'] };
  const rowsDone = gauge(
    'background_migration_rows_done',
    'Rows that a background migration has processed.',
    ofMigration,
  );
  const rowsTotal = gauge(
    'background_migration_rows_total',
    'Rows that a background migration has to process, estimated at its start.',
    ofMigration,
  );
  const finished = gauge(
    'background_migration_finished',
    '1 if the background migration has finished.',
    ofMigration,
  );
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
    /** Renders the backlog in the Prometheus text format. */
    render(backlog: BacklogRow): Promise<string> {
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
        rowsDone.set({ migration }, rows_done);
        rowsTotal.set({ migration }, rows_total);
        finished.set({ migration }, is_finished ? 1 : 0);
      }
      setAll(outbound, backlog.outbound);
      setAll(labels, backlog.labels);
      return registry.metrics();
    },
  };
}

function setAll<Name extends string>(gauges: Record<Name, Gauge>, values: Record<Name, number>): void {
  // Object.keys() returns the keys of the gauges.
  for (const name of Object.keys(gauges) as Name[]) gauges[name].set(values[name]);
}
