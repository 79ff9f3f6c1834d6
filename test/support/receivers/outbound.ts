import type pg from 'pg';
import { assertEventData } from './webhook-payloads.js';

export type EventRow = {
  id: string;
  courier_id: string;
  sequence: number;
  type: string;
  package_id: string;
  // The value is validated against the contract when it is read.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: Record<string, any>;
  occurred_at: Date;
  /** The deliveries of the event. */
  deliveries: { courier_id: string; endpoint: string; status: string; origin: string }[];
};

/**
 * Returns the events of packages, of one type or all, in their couriers' order. Checks their data against the
 * contract.
 */
export async function eventsOf(
  owner: pg.Pool,
  packageIds: readonly string[],
  type?: string,
): Promise<EventRow[]> {
  const { rows } = await owner.query<EventRow>(
    `select id, courier_id, sequence::int, type, package_id, data, occurred_at,
       array(select jsonb_build_object('courier_id', d.courier_id, 'endpoint', d.endpoint, 'status', d.status,
           'origin', d.origin)
         from webhook_deliveries d where d.tenant_id = e.tenant_id and d.event_id = e.id order by d.id) as deliveries
     from events e where package_id = any($1) and type = coalesce($2, type) order by courier_id, e.sequence`,
    [packageIds, type ?? null],
  );
  for (const row of rows) assertEventData(row.type, row.data);
  return rows;
}

/** Returns the delivery of an event to one URL of a courier before anything was sent. */
export const pendingDelivery = (courierId: string, endpoint: 'add_package' | 'update_package') => [
  { courier_id: courierId, endpoint, status: 'pending', origin: 'event' },
];

export type WaitingJob = { task: string; payload: Record<string, string> };

/** Returns the payloads of waiting jobs of one task. */
export async function waitingJobs(owner: pg.Pool, task: string): Promise<WaitingJob['payload'][]> {
  const { rows } = await owner.query<WaitingJob>(
    `select j.payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
     where t.identifier = $1 and j.locked_at is null and j.attempts = 0 order by j.id`,
    [task],
  );
  return rows.map(({ payload }) => payload);
}

/** Returns the URLs of a courier whose delivery queues have a waiting job. */
export async function waitingDeliveryQueues(owner: pg.Pool, courierId: string): Promise<string[]> {
  const deliveryJobs = await waitingJobs(owner, 'deliver');
  return deliveryJobs.filter((job) => job['courierId'] === courierId).map((job) => String(job['endpoint']));
}

/** Deletes all waiting jobs, as if workers had processed them. */
export async function emptyQueue(owner: pg.Pool): Promise<void> {
  await owner.query('delete from graphile_worker._private_jobs');
}

export type MailRow = {
  courier_id: string;
  manifest_number: string;
  manifest_status: string;
  status: string;
};

/** Returns the mails of a manifest, oldest first. Checks that each has exactly one job. */
export async function mailsOf(owner: pg.Pool, manifestId: string): Promise<MailRow[]> {
  const { rows } = await owner.query<MailRow & { tenant_id: string; id: string }>(
    `select tenant_id, id, courier_id, manifest_number, manifest_status, status from manifest_mails
     where manifest_id = $1 order by id`,
    [manifestId],
  );
  const jobs = await waitingJobs(owner, 'sendManifestMail');
  for (const { tenant_id: tenantId, id: mailId } of rows) {
    const own = jobs.filter((job) => job['mailId'] === mailId);
    if (own.length !== 1 || own[0]?.['tenantId'] !== tenantId)
      throw new Error(`The mail ${mailId} has ${own.length} jobs: ${JSON.stringify(own)}`);
  }
  return rows.map(({ tenant_id: _tenantId, id: _id, ...mail }) => mail);
}

/** Sets both webhook URLs of couriers. The demo couriers have none. */
export async function setWebhookUrls(owner: pg.Pool, courierIds: readonly string[]): Promise<void> {
  await owner.query(
    `update couriers set api_url_add_package = 'https://hooks.example/' || code || '/add',
       api_url_update_package = 'https://hooks.example/' || code || '/update' where id = any($1)`,
    [courierIds],
  );
}
