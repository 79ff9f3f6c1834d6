import { cpus } from 'node:os';
import { figure as withDigits } from '../rig/figure.js';
import type { Row } from './measure.js';
import type { Yardsticks } from './yardsticks.js';

/** One run in docs/bench-history.jsonl. Earlier lines have one ratio per row instead of `rows`. */
export type HistoryEntry = {
  at: string;
  node: string;
  cores: number;
  yardsticks: Yardsticks;
  rows: Record<string, RecordedRow>;
};

/** CPU times and latencies are in milliseconds. */
type RecordedRow = {
  measured: number;
  unit: Row['unit'];
  serviceMs?: number;
  postgresMs?: number;
  /** PostgreSQL's CPU time for the same statements without the service. */
  sameStatementsMs?: number;
  bare?: Row['bare'];
  against?: number;
  latency?: Row['latency'];
};

const SPACE = 34;
const right = (text: string, column: number) => text.padStart(column === 6 ? 24 : 13);

export const HEADINGS = [
  `${''.padEnd(SPACE)}${['', 'CPU of the', 'CPU of', 'of the same', 'times the', 'compared', 'ms at half the rate'].map(right).join('')}`,
  `${''.padEnd(SPACE)}${['measured', 'service', 'PostgreSQL', 'statements', 'bare one', 'with', 'p50 / p90 / p99'].map(right).join('')}`,
];

/** Formats a row as one line. CPU times are in milliseconds per request, line, delivery or call. */
export function lineOf(row: Row, yardsticks: Yardsticks): string {
  const { latency } = row;
  const bareMs = row.bare && yardsticks[row.bare];
  const columns = [
    `${figure(row.measured)} ${row.unit}`,
    figure(row.cpu?.serviceMs),
    figure(row.cpu?.postgresMs),
    figure(row.against?.postgresMs),
    row.cpu && bareMs ? `${(row.cpu.postgresMs / bareMs).toFixed(1)} x` : '-',
    row.against ? `${figure(row.against.measured)} ${row.unit}` : '-',
    latency ? [latency.p50, latency.p90, latency.p99].map(figure).join(' / ') : '-',
  ];
  return `${row.name.padEnd(SPACE)}${columns.map(right).join('')}  ${row.against ? `(${row.against.what})` : ''}`.trimEnd();
}

export function describeYardsticks(yardsticks: Yardsticks): string {
  const { bareHttpMs, bareInsertMs, bareSelectMs, bareCopyMs, copiedRows } = yardsticks;
  return [
    'CPU in ms of the bare minimum:',
    `node:http ${figure(bareHttpMs)},`,
    `INSERT with two indexes ${figure(bareInsertMs)},`,
    `SELECT by index ${figure(bareSelectMs)},`,
    `COPY of ${copiedRows} rows ${figure(bareCopyMs)}`,
  ].join(' ');
}

/** Returns how the CPU of each list grows from the small tenant to the large one, by the names' ends. */
export function growthOf(rows: Row[], [smallEnd, largeEnd]: [string, string]): Map<string, number> {
  const growth = new Map<string, number>();
  for (const small of rows.filter(({ name }) => name.endsWith(smallEnd))) {
    const list = small.name.slice(0, -smallEnd.length);
    const large = rows.find(({ name }) => name === `${list}${largeEnd}`);
    if (large?.cpu && small.cpu) growth.set(list, totalOf(large.cpu) / totalOf(small.cpu));
  }
  return growth;
}

const totalOf = ({ serviceMs, postgresMs }: NonNullable<Row['cpu']>) => serviceMs + postgresMs;

export function entryOf(rows: Row[], yardsticks: Yardsticks): HistoryEntry {
  return {
    at: new Date().toISOString(),
    node: process.version,
    cores: cpus().length,
    yardsticks,
    rows: Object.fromEntries(rows.map((row) => [row.name, recorded(row)])),
  };
}

function recorded({ measured, unit, cpu, against, bare, latency }: Row): RecordedRow {
  return {
    measured,
    unit,
    ...(cpu && { serviceMs: cpu.serviceMs, postgresMs: cpu.postgresMs }),
    ...(against && { against: against.measured }),
    ...(against?.postgresMs !== undefined && { sameStatementsMs: against.postgresMs }),
    ...(bare && { bare }),
    ...(latency && { latency }),
  };
}

const figure = (value: number | undefined) => withDigits(value, 3);
