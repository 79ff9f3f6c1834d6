import { readFileSync } from 'node:fs';
import type { HistoryEntry } from './report.js';

/** A figure may grow by this factor: repeated runs of the same code differ by up to a tenth. */
const TOLERANCE = 1.25;
/** Growth of a call below it is not seen: Linux counts CPU time in steps of 10 ms. */
const VISIBLE_MS = 30;

export type Comparison = { name: string; what: string; before: number; now: number; isWorse: boolean };

/** Returns the last line of the history that has CPU times. */
export function lastRecorded(file: string): HistoryEntry | undefined {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  // Only this program writes the file. Lines of earlier versions have no rows.
  const entries = lines.map((line) => JSON.parse(line) as Partial<HistoryEntry>);
  return entries.findLast((entry): entry is HistoryEntry => entry.rows !== undefined);
}

/**
 * Compares the CPU time of each row with that of another run. Both are divided by the yardsticks of their own run, because
 * the speed of a machine differs from hour to hour. A row without CPU times is compared by its ratio to `against`.
 */
export function compareRuns(before: HistoryEntry, now: HistoryEntry): Comparison[] {
  return Object.keys(now.rows).flatMap((name) => {
    const earlier = costsOf(before, name);
    return Object.entries(costsOf(now, name)).flatMap(([what, { multiple, bareMs }]) => {
      const known = earlier[what]?.multiple;
      if (known === undefined || !(known > 0)) return [];
      const isVisible = bareMs === undefined || (multiple - known) * bareMs > VISIBLE_MS;
      return [
        { name, what, before: known, now: multiple, isWorse: isVisible && multiple > known * TOLERANCE },
      ];
    });
  });
}

/** `bareMs` is the yardstick in milliseconds, for a row that measures single calls. */
type Cost = { multiple: number; bareMs?: number | undefined };

/** Returns the costs of a row in multiples of the run's yardsticks. */
function costsOf({ rows, yardsticks }: HistoryEntry, name: string): Record<string, Cost> {
  const row = rows[name];
  if (!row) return {};
  const { serviceMs, postgresMs, bare, against, measured, unit } = row;
  const { bareHttpMs } = yardsticks;
  const bareMs = bare && yardsticks[bare];
  const costOf = (ms: number, yardstick: number): Cost => ({
    multiple: ms / yardstick,
    bareMs: unit === 'ms' ? yardstick : undefined,
  });
  if (serviceMs !== undefined && postgresMs !== undefined && bareHttpMs && bareMs)
    return { service: costOf(serviceMs, bareHttpMs), PostgreSQL: costOf(postgresMs, bareMs) };
  if (against === undefined) return {};
  return { ratio: { multiple: unit === 'ms' ? measured / against : against / measured } };
}

/** Returns the worse costs of a round that were worse before it too. */
export const stillWorse = (before: Comparison[], now: Comparison[]): Comparison[] =>
  now.filter(({ name, what }) => before.some((earlier) => earlier.name === name && earlier.what === what));

export function lineOfComparison({ name, what, before, now, isWorse }: Comparison): string {
  const change = now / before - 1;
  const percent = `${change < 0 ? '' : '+'}${(change * 100).toFixed(0)} %`;
  return `${name.padEnd(34)} ${what.padEnd(10)} ${before.toFixed(2).padStart(10)} ${now.toFixed(2).padStart(10)} ${percent.padStart(8)}${isWorse ? '  WORSE' : ''}`;
}
