import { quantile } from '../rig/statistics.js';

/** What was scanned, and the milliseconds of each scan. */
export type Times = { name: string; timesMs: number[] };

export function describeTimes(measured: Times[]): string[] {
  const columns = (name: string, figures: string[]) =>
    name.padEnd(44) + figures.map((figure) => figure.padStart(9)).join('');
  return [
    columns('milliseconds', ['median', 'p90', 'longest']),
    ...measured.map(({ name, timesMs }) =>
      columns(
        name,
        [0.5, 0.9, 1].map((share) => quantile(timesMs, share).toFixed(0)),
      ),
    ),
  ];
}

/** Returns the names of the lines whose median is above the target. */
export const missedTargets = (measured: Times[], targetMs: number): string[] =>
  measured.filter(({ timesMs }) => !(quantile(timesMs, 0.5) <= targetMs)).map(({ name }) => name);
