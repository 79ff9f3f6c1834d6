import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../values/ids.js';
import { readRow, readValue } from '../connections/rows.js';
import { inTransactionWithLocks } from '../migrations/lock-retries.js';
import type { OwnedCell } from './cell-state.js';
import { MARKERS } from './tenant-tables.js';

/** Replication of one tenant. The publication, the slot and the subscription have one name. */
export type Link = { name: string; tenantId: string; publisher: OwnedCell; subscriber: OwnedCell };

const POLL_MS = 50;
const END_LIMIT_MS = 30_000;

/** Publishes the rows of the tenant, and reserves the WAL from now on. Waits for the transactions that run. */
export async function publish(
  { name, tenantId, publisher: { client } }: Link,
  tables: string[],
): Promise<void> {
  if (!(await exists(client, 'pg_publication', 'pubname', name))) {
    const filtered = [...tables, MARKERS].map((table) => `${table} where (tenant_id = '${tenantId}')`);
    await inTransactionWithLocks(
      client,
      { lockTimeoutMs: 500, giveUpAfterMs: 300_000, maxPauseMs: 1_000 },
      async () => {
        await client.query(`create publication ${name} for table ${filtered.join(', ')}`);
      },
      () => undefined,
    );
  }
  if (!(await exists(client, 'pg_replication_slots', 'slot_name', name)))
    await client.query("select pg_create_logical_replication_slot($1, 'pgoutput')", [name]);
}

/** @param copiesRows whether the rows that exist are copied first */
export async function subscribe(
  { name, publisher, subscriber: { client } }: Link,
  copiesRows: boolean,
): Promise<void> {
  if (await exists(client, 'pg_subscription', 'subname', name)) return;
  await client.query(
    `create subscription ${name} connection ${client.escapeLiteral(publisher.url)} publication ${name}
     with (create_slot = false, slot_name = ${name}, copy_data = ${String(copiesRows)})`,
  );
}

const exists = (client: OwnedCell['client'], catalogue: string, column: string, name: string) =>
  readValue<boolean>(client, `select exists (select from ${catalogue} where ${column} = $1)`, [name]);

/** Waits until the rows of all tables are copied. @throws Error if the copy of a table fails */
export async function waitUntilCopied(
  { name, subscriber }: Link,
  log: (line: string) => void,
): Promise<void> {
  let reported = -1;
  for (;;) {
    const { copied, total, errors } = await readRow<{ copied: number; total: number; errors: number | null }>(
      subscriber.client,
      `select count(*) filter (where r.srsubstate = 'r')::int as copied, count(*)::int as total,
         (select (t.sync_error_count + t.apply_error_count)::int from pg_stat_subscription_stats t where t.subname = $1) as errors
       from pg_subscription s join pg_subscription_rel r on r.srsubid = s.oid where s.subname = $1`,
      [name],
    );
    if (copied === total) return;
    if (errors)
      throw new Error(
        `The copy fails. The log of the server of the cell ${subscriber.name} has the reason. Correct it, and run the command again, or use --undo.`,
      );
    if (copied > reported) log(`Copied ${copied} of ${total} tables.`);
    reported = copied;
    await sleep(10 * POLL_MS);
  }
}

/**
 * Waits until the subscriber has applied everything that the publisher has committed: a marker that is committed last arrives
 * last.
 *
 * @throws Error after the time limit
 */
export async function catchUp({ tenantId, publisher, subscriber }: Link, limitMs: number): Promise<void> {
  const marker = newId();
  await publisher.client.query(
    `insert into ${MARKERS} (tenant_id, marker) values ($1, $2)
     on conflict (tenant_id) do update set marker = excluded.marker`,
    [tenantId, marker],
  );
  const deadlineMs = performance.now() + limitMs;
  const received = `select exists (select from ${MARKERS} where tenant_id = $1 and marker = $2)`;
  const hasArrived = () => readValue<boolean>(subscriber.client, received, [tenantId, marker]);
  while (!(await hasArrived())) {
    if (performance.now() > deadlineMs)
      throw new Error(`The cell ${subscriber.name} has not received everything within ${limitMs / 1000} s.`);
    await sleep(POLL_MS / 5);
  }
}

/** Continues a link that `pause` has stopped. */
export async function resume({ name, subscriber: { client } }: Link): Promise<void> {
  await client.query(`alter subscription ${name} enable`);
}

/** Stops applying. Resolves when the worker has ended. */
export async function pause({ name, subscriber: { client } }: Link): Promise<void> {
  await client.query(`alter subscription ${name} disable`);
  const ended = `select not exists (select from pg_stat_subscription where subname = $1 and pid is not null)`;
  const deadlineMs = performance.now() + END_LIMIT_MS;
  while (!(await readValue(client, ended, [name]))) {
    if (performance.now() > deadlineMs) throw new Error('A worker of the replication does not end.');
    await sleep(POLL_MS / 5);
  }
}

/**
 * Skips everything that the publisher has written until now. Before it serves the tenant, that is only what it has received
 * from the subscriber.
 */
export async function skipReceived({ name, tenantId, publisher: { client } }: Link): Promise<void> {
  // Replication commits without waiting for the disk, and a slot does not advance beyond what is on disk. This commit waits.
  await client.query('update installation.tenant_cells set changed_at = now() where tenant_id = $1', [
    tenantId,
  ]);
  await client.query('select pg_replication_slot_advance($1, pg_current_wal_flush_lsn())', [name]);
}

/** Removes the subscription, the slots and the publication. Does nothing if there are none. */
export async function dropLink({ name, publisher, subscriber }: Link): Promise<void> {
  if (await exists(subscriber.client, 'pg_subscription', 'subname', name)) {
    await subscriber.client.query(`alter subscription ${name} disable`);
    await subscriber.client.query(`drop subscription ${name}`);
  }
  if (await exists(publisher.client, 'pg_replication_slots', 'slot_name', name))
    await publisher.client.query('select pg_drop_replication_slot($1)', [name]);
  await publisher.client.query(`drop publication if exists ${name}`);
}
