import { figure as withDigits } from '../rig/figure.js';
import type { Measured } from './step.js';
import type { TableSize } from './sizes.js';

const NAME = 36;
const right = (text: string) => text.padStart(14);

/** Returns the headings of the operations at two sizes of the tables. */
export const operationHeadings = (small: string, large: string): string[] => [
  `${''.padEnd(NAME)}${['buffers', 'buffers', 'CPU in us', 'CPU in us'].map(right).join('')}`,
  `${'per request or row'.padEnd(NAME)}${[small, large, small, large].map(right).join('')}`,
];

export const lineOfOperation = (small: Measured, large: Measured): string =>
  small.name.padEnd(NAME) +
  [small.buffers, large.buffers, small.cpuUs, large.cpuUs].map((value) => right(figure(value))).join('');

export const SIZE_HEADING = `${'bytes per row'.padEnd(NAME)}${['rows', 'heap', 'indexes', 'toast'].map(right).join('')}`;

export const lineOfSize = ({ table, rows, heap, indexes, toast }: TableSize): string =>
  table.padEnd(NAME) + [rows, heap, indexes, toast].map((value) => right(value.toFixed(0))).join('');

const figure = (value: number | undefined) => withDigits(value, 1);
