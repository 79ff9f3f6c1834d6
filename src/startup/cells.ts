import type { CellConfig } from '../config/cells.js';
import { ConfigError, type Config } from '../config/config.js';
import type { Cell } from '../platform/db/cells.js';
import { openDb } from '../platform/db/open-database.js';
import type { Metrics } from '../platform/metrics/metrics.js';
import { prepareCell } from './prepare-database.js';
import { print } from './process.js';

type Opened = ReturnType<typeof openDb>;
type Options = { config: Config; metrics?: Metrics | undefined; poolSize: number };

/**
 * Opens the other cells. A cell that cannot be opened does not prevent the start, because the tenants of the other cells do not
 * need it. It is tried again when a request looks for a tenant.
 */
export function openCells(options: Options): { cells: Cell[]; close(): Promise<void> } {
  const opened = new Map<string, Promise<Opened>>();
  const open = (cell: CellConfig): Promise<Opened> => {
    const opening = opened.get(cell.name) ?? openCell(options, cell);
    opened.set(cell.name, opening);
    opening.catch((error: unknown) => {
      if (opened.get(cell.name) !== opening) return;
      opened.delete(cell.name);
      print(`The cell ${cell.name} cannot be used: ${describe(error)}`);
    });
    return opening;
  };
  return {
    cells: options.config.cells.map((cell) => ({ name: cell.name, open: () => open(cell) })),
    async close() {
      const ready = await Promise.allSettled([...opened.values()]);
      for (const each of ready) if (each.status === 'fulfilled') await each.value.close();
    },
  };
}

async function openCell({ config, metrics, poolSize }: Options, cell: CellConfig): Promise<Opened> {
  const db = openDb({
    ...(await prepareCell(config, cell, print)),
    isBehindPooler: config.databasePooler !== undefined,
    onError: (error) => print(`A connection to the cell ${cell.name} broke: ${error.message}`),
    size: poolSize,
    readsWhileReadOnly: true,
    shedsLoad: true,
  });
  metrics?.watchPool(`service-${cell.name}`, db);
  return db;
}

const describe = (error: unknown): string =>
  error instanceof ConfigError ? error.faults.join(' ') : String(error);
