import type pg from 'pg';
import { readRows, readValue } from '../connections/rows.js';

/** A cell, connected as the owner of its tables. */
export type OwnedCell = { name: string; url: string; client: pg.Client };

export type MovedTenant = { id: string; slug: string };

/** See installation.tenant_cells. */
export type State = 'arriving' | 'active' | 'moving' | 'moved' | 'gone';
type Role = 'source' | 'target';
export type CellState = { state: State; role: Role; otherCell: string };

/** Returns undefined for a tenant that is not being moved, also if it was in the cell before. */
export async function readState({ client }: OwnedCell, tenantId: string): Promise<CellState | undefined> {
  const [state] = await readRows<CellState>(
    client,
    `select state, role, other_cell as "otherCell" from installation.tenant_cells
     where tenant_id = $1 and state <> 'gone'`,
    [tenantId],
  );
  return state;
}

/** Records that a tenant is being moved. Does nothing if it is recorded already. */
export async function recordMove(
  { client }: OwnedCell,
  tenantId: string,
  { state, role, otherCell }: CellState,
): Promise<void> {
  await client.query(
    `insert into installation.tenant_cells as tenant_cells (tenant_id, state, role, other_cell) values ($1, $2, $3, $4)
     on conflict (tenant_id) do update set state = excluded.state, role = excluded.role, other_cell = excluded.other_cell
     where tenant_cells.state = 'gone'`,
    [tenantId, state, role, otherCell],
  );
}

/** @throws Error if the state is none of `from`; then nothing has changed */
export async function changeState(
  { name, client }: OwnedCell,
  tenantId: string,
  from: readonly State[],
  to: State,
): Promise<void> {
  const { rowCount } = await client.query(
    `update installation.tenant_cells set state = $3, changed_at = now() where tenant_id = $1 and state = any($2)`,
    [tenantId, from, to],
  );
  if (rowCount === 0)
    throw new Error(
      `The state of the tenant in the cell ${name} is not ${from.join(' or ')}. Run the command again.`,
    );
}

/** For the cell that serves the tenant. In the other one, the state stays: a server that still looks there must get a 503. */
export async function forgetMove({ client }: OwnedCell, tenantId: string): Promise<void> {
  await client.query(`delete from installation.tenant_cells where tenant_id = $1 and state <> 'gone'`, [
    tenantId,
  ]);
}

/** Takes the lock that makes this the only move of the tenant, until the connection ends. */
export async function lockMove({ name, client }: OwnedCell, tenantId: string): Promise<void> {
  const statement = "select pg_try_advisory_lock(hashtext('tenant move'), hashtext($1))";
  if (!(await readValue(client, statement, [tenantId])))
    throw new Error(`Another process moves this tenant in the cell ${name}.`);
}
