import { parseArgs } from 'node:util';
import { readIdentity } from '../config/command-settings.js';
import { readOwnerCells } from '../config/config.js';
import { assertDirect } from '../platform/db/connections/pooler.js';
import type { OwnedCell } from '../platform/db/tenant-move/cell-state.js';
import { describeTenant, findMove, planMove } from '../platform/db/tenant-move/find-move.js';
import { confirmMove, moveTenant, undoMove, type Moved } from '../platform/db/tenant-move/move.js';
import { assertOwnDatabase } from '../startup/database-owner.js';
import { withOwner } from './run/owner.js';
import { runScript } from './run/script.js';
import { commandLine } from '../config/commands.js';

const USAGE = `${commandLine('tenant-move --slug miami --to cell-b')}
${commandLine('tenant-move --slug miami')} (--undo | --confirm | --status)`;

type Print = (line: string) => void;

await runScript(async (print) => {
  const { slug, to, undo, confirm, status } = readOptions();
  if (!slug || [to !== undefined, undo, confirm, status].filter(Boolean).length !== 1)
    throw new Error(`State --slug, and one of --to, --undo, --confirm and --status.\n${USAGE}`);
  await withCells([...readOwnerCells()], [], async (cells) => {
    if (to !== undefined) return move(cells, slug, to, print);
    if (undo) return undoIt(cells, slug, print);
    if (confirm) return confirmMove(await findMove(cells, slug), print);
    for (const { cell, state } of await describeTenant(cells, slug)) print(`${cell}: ${state}`);
  });
}, USAGE);

async function move(cells: OwnedCell[], slug: string, to: string, print: Print): Promise<void> {
  const moved = await moveTenant(await planMove(cells, slug, to), print);
  report(moved, print);
  print(`The cell ${to} serves the tenant. End the move with --confirm, or take it back with --undo.`);
}

async function undoIt(cells: OwnedCell[], slug: string, print: Print): Promise<void> {
  const plan = await findMove(cells, slug);
  report(await undoMove(plan, print), print);
  print(`The cell ${plan.source.name} serves the tenant.`);
}

function report(moved: Moved | undefined, print: Print): void {
  if (!moved) return;
  const { tables, rows, seconds } = moved.comparison;
  print(`Compared ${rows} rows of ${tables} tables in ${seconds.toFixed(2)} s: no difference.`);
}

/** Connects to every cell, one after the other, and closes the connections at the end. */
async function withCells(
  urls: [name: string, url: string][],
  cells: OwnedCell[],
  work: (cells: OwnedCell[]) => Promise<void>,
): Promise<void> {
  const [next, ...rest] = urls;
  if (!next) return work(cells);
  const [name, url] = next;
  await assertDirect(`The owner's connection of the cell ${name}`, url);
  // The first cell is that of DATABASE_OWNER_URL. Each may have a deployment of its own.
  const setting = cells.length === 0 ? 'DATABASE_OWNER_URL' : `DATABASE_OWNER_CELLS (${name})`;
  await assertOwnDatabase(url, { ...readIdentity(), name: undefined });
  await withOwner((client) => withCells(rest, [...cells, { name, url, client }], work), { url, setting });
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      slug: { type: 'string' },
      to: { type: 'string' },
      undo: { type: 'boolean', default: false },
      confirm: { type: 'boolean', default: false },
      status: { type: 'boolean', default: false },
    },
  });
  return values;
}
