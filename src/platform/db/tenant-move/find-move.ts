import { readValues } from '../connections/rows.js';
import { readState, type CellState, type OwnedCell } from './cell-state.js';
import type { Move } from './move.js';

/** A cell that has the tenant, or a state of it. */
type Holder = { cell: OwnedCell; id: string; state: CellState | undefined };

export type CellReport = { cell: string; state: string };

/** Returns the cells that have the tenant, with their states. */
export async function describeTenant(cells: OwnedCell[], slug: string): Promise<CellReport[]> {
  const holders = await findHolders(cells, slug);
  return holders.map(({ cell, state }) => ({ cell: cell.name, state: state?.state ?? 'active' }));
}

/** @throws Error if there is no such tenant or cell, or the tenant is being moved to another cell */
export async function planMove(cells: OwnedCell[], slug: string, to: string): Promise<Move> {
  const begun = await findBegun(cells, slug);
  if (begun && begun.target.name !== to)
    throw new Error(`The tenant is being moved to the cell ${begun.target.name}. Use --confirm or --undo.`);
  if (begun) return begun;
  const [holder, ...others] = await findHolders(cells, slug);
  if (!holder) throw new Error(`No cell has a tenant ${slug}.`);
  if (others.length > 0) throw new Error(`Several cells have a tenant ${slug}.`);
  if (holder.cell.name === to) throw new Error(`The cell ${to} serves the tenant already.`);
  return { tenant: { id: holder.id, slug }, source: holder.cell, target: cellOf(cells, to) };
}

/** @throws Error if the tenant is not being moved */
export async function findMove(cells: OwnedCell[], slug: string): Promise<Move> {
  const begun = await findBegun(cells, slug);
  if (!begun) throw new Error(`The tenant ${slug} is not being moved.`);
  return begun;
}

async function findBegun(cells: OwnedCell[], slug: string): Promise<Move | undefined> {
  for (const { cell, id, state } of await findHolders(cells, slug)) {
    if (!state) continue;
    const other = cellOf(cells, state.otherCell);
    const tenant = { id, slug };
    return state.role === 'source'
      ? { tenant, source: cell, target: other }
      : { tenant, source: other, target: cell };
  }
  return undefined;
}

function cellOf(cells: OwnedCell[], name: string): OwnedCell {
  const cell = cells.find((each) => each.name === name);
  if (!cell) throw new Error(`DATABASE_OWNER_CELLS does not name the cell ${name}.`);
  return cell;
}

async function findHolders(cells: OwnedCell[], slug: string): Promise<Holder[]> {
  const holders: Holder[] = [];
  for (const cell of cells) {
    const ids = await readValues<string>(cell.client, 'select id from tenants where slug = $1', [slug]);
    for (const id of ids) holders.push({ cell, id, state: await readState(cell, id) });
  }
  return holders;
}
