import { randomUUID } from 'node:crypto';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { operationOf } from '../service/contract.js';
import { filled, type WorstBody } from './worst-bodies.js';

const NDJSON_TYPE = 'application/x-ndjson';

/**
 * Tracking numbers of many parts, as a scanner sends several symbols: each at most 255 characters. A reader compares each part with
 * every carrier's format.
 */
export const manyPartNumbers = (n: number): string[] => [
  // U+FDFA becomes 18 characters when its compatibility form is taken.
  Array.from({ length: 16 }, (_, part) => `\uFDFA\uFDFA${n}${part}`)
    .join('\n')
    .slice(0, 255),
  Array.from({ length: 23 }, (_, part) => String(1_000_000_000 + n * 23 + part))
    .join('\x1d')
    .slice(0, 255),
  Array.from({ length: 20 }, (_, part) => `9612${n}${part}`)
    .join('^]')
    .slice(0, 255),
  `[)>\x1e01\x1d${Array.from({ length: 15 }, (_, part) => `1Z${n}${part}`).join('\x1d')}`.slice(0, 255),
];

/** Returns the worst bodies of lines for an operation. */
export function worstLines(id: OperationId): WorstBody[] {
  const limits = operationOf(id).lineLimits;
  if (limits === null) return [];
  const { maxLines, maxLineBytes, maxBodyBytes }: Record<keyof typeof limits, number> = limits;
  const many = (line: (n: number) => string, count = maxLines) =>
    Array.from({ length: count }, (_, n) => line(n)).join('\n');
  const announced = (number: string, userCode = 'NOBODY') =>
    JSON.stringify({ UserCode: userCode, TrackingNumber: number });
  const kinds: [string, string][] = [
    ['zeros', many(() => '0')],
    ['empty objects', many(() => '{}')],
    ['one line more than the maximum', many(() => '{}', maxLines + 1)],
    ['line ends', filled('', '\n', '', maxBodyBytes)],
    ['one long line', filled('{"UserCode":"', 'x', '"}', maxBodyBytes)],
    [
      'lines of the maximum length',
      many(() => filled('{"x":"', 'x', '"}', maxLineBytes - 1), Math.floor(maxBodyBytes / maxLineBytes)),
    ],
    ['lines of many values', many(() => filled('{"x":[', '0,', '0]}', 3_900))],
    ['nested lists', many(() => '['.repeat(2_000) + ']'.repeat(2_000))],
    ['plain numbers', many((n) => announced(`LINE-${n}-${randomUUID()}`))],
    ...[0, 1, 2, 3].map((kind): [string, string] => [
      `numbers of many parts, kind ${kind + 1}`,
      many((n) => announced(manyPartNumbers(n)[kind] ?? '')),
    ]),
    ['pre-alerts', many((n) => announced(`LINE-${n}-${randomUUID()}`, 'IEX-1001'))],
  ];
  return kinds.map(([name, text]) => ({
    name: `lines: ${name}`,
    contentType: NDJSON_TYPE,
    bytes: Buffer.from(text),
  }));
}
