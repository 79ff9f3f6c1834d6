import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { verified, type Receiver } from '../receivers/receiver.js';
import { webhookSecret } from '../receivers/webhooks.js';
import { until } from '../service/processes.js';
import type { Acknowledged } from './load.js';

export type Comparison = {
  /** Acknowledged rows that were looked for. */
  compared: number;
  lost: string[];
  doubled: string[];
};

/** Looks for each acknowledged row, which must exist exactly once. */
export async function compareRows(owner: pg.Pool, rows: Acknowledged[], prefix: string): Promise<Comparison> {
  const counts = new Map<string, number>();
  for (const table of ['prealerts', 'packages'] as const) {
    const { rows: found } = await owner.query<{ number: string; count: number }>(
      `select tracking_number as number, count(*)::int as count from ${table}
       where starts_with(tracking_number, $1) group by 1`,
      [`${prefix}-`],
    );
    for (const { number, count } of found) counts.set(`${table} ${number}`, count);
  }
  const keys = rows.map(({ table, number }) => `${table} ${number}`);
  return {
    compared: keys.length,
    lost: keys.filter((key) => !counts.has(key)),
    doubled: [...counts].filter(([, count]) => count > 1).map(([key]) => key),
  };
}

export type WebhookComparison = {
  events: number;
  requests: number;
  /** Requests that repeat an event, with the same id. */
  repeated: number;
  undelivered: string[];
  unknown: string[];
};

/** Waits until nothing is pending, and compares the events of the courier with what its receiver got. */
export async function compareWebhooks(
  owner: pg.Pool,
  receiver: Receiver,
  prefix: string,
): Promise<WebhookComparison> {
  await until(async () => {
    const { rows } = await owner.query(
      "select from webhook_deliveries where status = 'pending' and courier_id = $1 limit 1",
      [DEMO.couriers.IEX],
    );
    return rows.length === 0;
  }, 120_000);
  const { rows } = await owner.query<{ id: string }>(
    `select e.id from events e join packages p on p.tenant_id = e.tenant_id and p.id = e.package_id
     where starts_with(p.tracking_number, $1)`,
    [`${prefix}-`],
  );
  const ids = new Set(rows.map(({ id }) => id));
  const got = receiver.received.map((request) => {
    const id = request.headers['webhook-id'] ?? '';
    // Its payload and its header name the same event, or this throws.
    const { event_id: signed } = verified(webhookSecret('s'), request) as { event_id: string };
    return signed === id ? id : `${id} is not ${signed}`;
  });
  const distinct = new Set(got);
  return {
    events: ids.size,
    requests: got.length,
    repeated: got.length - distinct.size,
    undelivered: [...ids].filter((id) => !distinct.has(id)),
    unknown: [...distinct].filter((id) => !ids.has(id)),
  };
}
