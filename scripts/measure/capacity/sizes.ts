import type pg from 'pg';
import { TABLES } from './load.js';

/** Bytes per row. */
export type TableSize = { table: string; rows: number; heap: number; indexes: number; toast: number };

export async function sizesOf(owner: pg.Client): Promise<TableSize[]> {
  const sizes: TableSize[] = [];
  for (const table of TABLES) {
    // The heap with its free space map. The rest of a table's size is its TOAST table.
    const { rows } = await owner.query<Record<'rows' | 'heap' | 'indexes' | 'total', string>>(
      `select (select count(*) from ${table}) as rows, pg_relation_size($1) as heap, pg_indexes_size($1) as indexes,
         pg_total_relation_size($1) as total`,
      [table],
    );
    const [row] = rows;
    if (!row) continue;
    const [count, heap, indexes, total] = [row.rows, row.heap, row.indexes, row.total].map(Number) as [
      number,
      number,
      number,
      number,
    ];
    sizes.push({
      table,
      rows: count,
      heap: heap / count,
      indexes: indexes / count,
      toast: (total - heap - indexes) / count,
    });
  }
  return sizes;
}
