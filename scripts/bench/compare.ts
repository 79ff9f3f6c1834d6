import { readFileSync } from 'node:fs';
import type { HistoryEntry } from './report.js';

/** A figure may grow by this factor: repeated runs of the same code differ by up to a tenth. */
const TOLERANCE = 1.25;

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
    return Object.entries(costsOf(now, name)).flatMap(([what, cost]) => {
      const known = earlier[what];
      return known === undefined || !(known > 0)
        ? []
        : [{ name, what, before: known, now: cost, isWorse: cost > known * TOLERANCE }];
    });
  });
}

/** Returns the costs of a row in multiples of the run's yardsticks. */
function costsOf({ rows, yardsticks }: HistoryEntry, name: string): Record<string, number> {
  const row = rows[name];
  if (!row) return {};
  const { serviceMs, postgresMs, bare, against, measured, unit } = row;
  const bareMs = bare && yardsticks[bare];
  if (serviceMs !== undefined && postgresMs !== undefined && yardsticks.bareHttpMs && bareMs)
    return { service: serviceMs / yardsticks.bareHttpMs, PostgreSQL: postgresMs / bareMs };
  if (against === undefined) return {};
  return { ratio: unit === 'ms' ? measured / against : against / measured };
}

export function lineOfComparison({ name, what, before, now, isWorse }: Comparison): string {
  const change = now / before - 1;
  const percent = `${change < 0 ? '' : '+'}${(change * 100).toFixed(0)} %`;
  return `${name.padEnd(34)} ${what.padEnd(10)} ${before.toFixed(2).padStart(10)} ${now.toFixed(2).padStart(10)} ${percent.padStart(8)}${isWorse ? '  WORSE' : ''}`;
}
