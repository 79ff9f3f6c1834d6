import { setTimeout as sleep } from 'node:timers/promises';
import { readRows } from '../connections/rows.js';
import { inTransactionWithLocks, type LockLimits } from '../migrations/lock-retries.js';
import type { OwnedCell } from './cell-state.js';

/** Short, because the writes of all tenants queue behind the lock of a table. */
const LIMITS: LockLimits = { lockTimeoutMs: 200, giveUpAfterMs: 300_000, maxPauseMs: 1_000 };

/** How long the writes of the tenant wait at most while its own transactions end. */
const CLOSE_LIMITS = { lockTimeoutMs: 1_000, attempts: 20, pauseMs: 2_000 };

const LOCK_TIMEOUT = '55P03';

type Trigger = { table: string; name: string };

const nameOf = (tenantId: string) => `cell_fence_${tenantId.replaceAll('-', '')}`;

/**
 * Adds the triggers that refuse the tenant's writes while it is not active. They exist only during a move, and compare one
 * column of the rows of other tenants. Replication writes without them.
 */
export async function installFence(cell: OwnedCell, tables: string[], tenantId: string): Promise<void> {
  const name = nameOf(tenantId);
  const present = new Set(
    (await listTriggers(cell, tenantId)).map((trigger) => `${trigger.table} ${trigger.name}`),
  );
  const fence = `for each row when`;
  const refuse = `execute function installation.refuse_unless_active('${tenantId}')`;
  for (const table of tables)
    await withLocks(cell, async () => {
      if (!present.has(`${table} ${name}_w`))
        await cell.client.query(
          `create trigger ${name}_w before insert or update on ${table} ${fence} (new.tenant_id = '${tenantId}') ${refuse}`,
        );
      if (!present.has(`${table} ${name}_d`))
        await cell.client.query(
          `create trigger ${name}_d before delete on ${table} ${fence} (old.tenant_id = '${tenantId}') ${refuse}`,
        );
    });
}

export async function removeFence(cell: OwnedCell, tenantId: string): Promise<void> {
  for (const { table, name } of await listTriggers(cell, tenantId))
    await withLocks(cell, async () => {
      await cell.client.query(`drop trigger if exists ${name} on ${table}`);
    });
}

const listTriggers = ({ client }: OwnedCell, tenantId: string): Promise<Trigger[]> =>
  readRows(
    client,
    `select format('%I.%I', n.nspname, t.relname) as table, g.tgname as name
     from pg_trigger g join pg_class t on t.oid = g.tgrelid join pg_namespace n on n.oid = t.relnamespace
     where g.tgname = any($1)`,
    [[`${nameOf(tenantId)}_w`, `${nameOf(tenantId)}_d`]],
  );

const withLocks = ({ client }: OwnedCell, work: () => Promise<void>): Promise<void> =>
  inTransactionWithLocks(client, LIMITS, work, () => undefined);

/**
 * Refuses writes of the tenant from now on. Waits for its transactions that have written, and for no others, because each of
 * them holds the lock of the fence.
 *
 * @throws Error if one of them runs longer than the attempts; then the tenant stays open
 */
export async function close(cell: OwnedCell, tenantId: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    if (await tryToClose(cell, tenantId)) return;
    if (attempt === CLOSE_LIMITS.attempts)
      throw new Error(`A transaction of the tenant in the cell ${cell.name} does not end. Try again later.`);
    await sleep(CLOSE_LIMITS.pauseMs);
  }
}

async function tryToClose({ client }: OwnedCell, tenantId: string): Promise<boolean> {
  await client.query(`begin; set local lock_timeout = ${CLOSE_LIMITS.lockTimeoutMs}`);
  try {
    await client.query("select pg_advisory_xact_lock(x'63656c6c'::int, hashtext($1))", [tenantId]);
    await client.query(
      `update installation.tenant_cells set state = 'moving', changed_at = now()
       where tenant_id = $1 and state in ('active', 'moving')`,
      [tenantId],
    );
    await client.query('commit');
    return true;
  } catch (error) {
    await client.query('rollback');
    if (error instanceof Error && Reflect.get(error, 'code') === LOCK_TIMEOUT) return false;
    throw error;
  }
}
