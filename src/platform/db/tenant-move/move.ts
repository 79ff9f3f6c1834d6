import {
  changeState,
  forgetMove,
  lockMove,
  readState,
  recordMove,
  type CellState,
  type MovedTenant,
  type OwnedCell,
} from './cell-state.js';
import { readValue } from '../connections/rows.js';
import type { Comparison } from './compare-rows.js';
import { installFence, removeFence } from './fence.js';
import { removeJobs } from './jobs.js';
import { assertMovable } from './preflight.js';
import { removeRows } from './remove-rows.js';
import {
  catchUp,
  dropLink,
  publish,
  resume,
  skipReceived,
  subscribe,
  waitUntilCopied,
  type Link,
} from './replication.js';
import { assertEqual, switchOver } from './switch-over.js';
import { listTenantTables } from './tenant-tables.js';

// Moves a tenant between two cells (decision 0060). Every step may be repeated: a command that was interrupted is run again.

/** The tenant is copied from the source to the target, whichever of them serves it. */
export type Move = { tenant: MovedTenant; source: OwnedCell; target: OwnedCell };

export type Moved = { pauseSeconds: number; comparison: Comparison };

type Log = (line: string) => void;

/** Enough for what accumulates while the tables are copied. */
const LONG_CATCH_UP_MS = 600_000;

const suffixOf = ({ id }: MovedTenant) => id.replaceAll('-', '');

const forwardOf = ({ tenant, source, target }: Move): Link => ({
  name: `move_${suffixOf(tenant)}`,
  tenantId: tenant.id,
  publisher: source,
  subscriber: target,
});

const backwardOf = ({ tenant, source, target }: Move): Link => ({
  name: `back_${suffixOf(tenant)}`,
  tenantId: tenant.id,
  publisher: target,
  subscriber: source,
});

/**
 * Copies the tenant to the target and makes the target serve it. Returns undefined if it serves the tenant already.
 *
 * @throws Error if an undo has begun, something that the move needs is missing, or the cells differ
 */
export async function moveTenant(move: Move, log: Log): Promise<Moved | undefined> {
  const [source, target] = await lockAndRead(move);
  if (source?.state === 'moved' && target?.state === 'active') {
    await replicateBack(move);
    return undefined;
  }
  if (target && target.state !== 'arriving') throw new Error('An undo has begun. Complete it with --undo.');
  const { tenant } = move;
  const tables = await assertMovable(move.source, move.target, tenant);
  await copy(move, tables, log);
  const [link, reverse] = [forwardOf(move), backwardOf(move)];
  const switched = await switchOver({ tenant, link, reverse, tables, log });
  await replicateBack(move);
  return judge(switched.pauseSeconds, await switched.comparison);
}

function judge(pauseSeconds: number, comparison: Comparison): Moved {
  assertEqual(comparison);
  return { pauseSeconds, comparison };
}

async function lockAndRead({
  tenant,
  source,
  target,
}: Move): Promise<[CellState | undefined, CellState | undefined]> {
  for (const cell of [source, target]) await lockMove(cell, tenant.id);
  return [await readState(source, tenant.id), await readState(target, tenant.id)];
}

/** Copies the tenant's rows, and keeps the copy current. Returns when the target has everything. */
async function copy(move: Move, tables: string[], log: Log): Promise<void> {
  const { tenant, source, target } = move;
  const [forward, backward] = [forwardOf(move), backwardOf(move)];
  await recordMove(source, tenant.id, { state: 'active', role: 'source', otherCell: target.name });
  await recordMove(target, tenant.id, { state: 'arriving', role: 'target', otherCell: source.name });
  await copyTenant(move);
  log('Adding the triggers of the fence.');
  for (const cell of [source, target]) await installFence(cell, tables, tenant.id);
  log(`Copying ${tables.length} tables.`);
  await publish(forward, tables);
  await subscribe(forward, true);
  await resume(forward);
  await waitUntilCopied(forward, log);
  await publish(backward, tables);
  await catchUp(forward, LONG_CATCH_UP_MS);
  await skipReceived(backward);
}

async function copyTenant({ tenant, source, target }: Move): Promise<void> {
  const row = await readValue(source.client, 'select to_jsonb(t) from tenants t where id = $1', [tenant.id]);
  await target.client.query(
    'insert into tenants select * from jsonb_populate_record(null::tenants, $1) on conflict do nothing',
    [row],
  );
}

/** Replicates what the target writes to the source, so that the move can be undone. */
async function replicateBack(move: Move): Promise<void> {
  await subscribe(backwardOf(move), false);
  await dropLink(forwardOf(move));
  await removeJobs(move.source.client, move.tenant.id);
}

/** Makes the source serve the tenant again, and removes the copy. Before the switch it only removes the copy. */
export async function undoMove(move: Move, log: Log): Promise<Moved | undefined> {
  const { tenant, source, target } = move;
  const [atSource, atTarget] = await lockAndRead(move);
  const moved =
    atSource?.state === 'moved' && atTarget?.state !== 'arriving' ? await switchBack(move, log) : undefined;
  // From here on the target can never become active.
  if (atTarget?.state === 'arriving') await changeState(target, tenant.id, ['arriving'], 'moved');
  await changeState(source, tenant.id, ['active', 'moving', 'moved'], 'active');
  await dropLink(forwardOf(move));
  await dropLink(backwardOf(move));
  await forget(move, target);
  log(`Removed the copy of the cell ${target.name}.`);
  await release(move, source);
  return moved;
}

async function switchBack(move: Move, log: Log): Promise<Moved> {
  const { tenant, target } = move;
  const tables = await listTenantTables(target.client);
  const link = backwardOf(move);
  await replicateBack(move);
  await resume(link);
  await catchUp(link, LONG_CATCH_UP_MS);
  const { pauseSeconds, comparison } = await switchOver({ tenant, link, reverse: undefined, tables, log });
  return judge(pauseSeconds, await comparison);
}

/** Removes the rows of the source. From then on the move cannot be undone. */
export async function confirmMove(move: Move, log: Log): Promise<void> {
  const { source, target } = move;
  const [atSource, atTarget] = await lockAndRead(move);
  if (atTarget?.state !== 'active' || (atSource && atSource.state !== 'moved'))
    throw new Error(`The cell ${target.name} does not serve the tenant yet, or an undo has begun.`);
  await dropLink(forwardOf(move));
  await dropLink(backwardOf(move));
  if (atSource) await forget(move, source);
  log(`Removed the rows of the cell ${source.name}.`);
  await release(move, target);
}

/** Removes everything of the tenant from a cell. */
async function forget({ tenant }: Move, cell: OwnedCell): Promise<void> {
  if (!(await readState(cell, tenant.id))) return;
  await removeJobs(cell.client, tenant.id);
  await removeRows(cell, tenant.id, await listTenantTables(cell.client));
  await removeFence(cell, tenant.id);
  await changeState(cell, tenant.id, ['moved'], 'gone');
}

/** Ends the move in the cell that serves the tenant. */
async function release({ tenant }: Move, cell: OwnedCell): Promise<void> {
  await removeFence(cell, tenant.id);
  await cell.client.query('delete from installation.tenant_markers where tenant_id = $1', [tenant.id]);
  await forgetMove(cell, tenant.id);
}
