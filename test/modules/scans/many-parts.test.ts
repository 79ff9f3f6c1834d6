import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { longestBlockMs } from '../../support/harness/event-loop-block.js';
import { deviceScan } from '../../support/scans/device-scans.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';

// Numbers of many parts take longest to read. A request of them does not hold the event loop.

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const parts = (separator: string, toPart: (n: number) => string) =>
  Array.from({ length: 60 }, (_, n) => toPart(n))
    .join(separator)
    .slice(0, 255);

/** Characters that stand for a sentence, and numbers. */
const LIGATURES = parts('\n', (n) => `\ufdfa\ufdfa${1_000 + n}`);
const DIGITS = parts('^]', (n) => String(9_400_111_899 + n));
const MANY: Record<string, string> = { ligatures: LIGATURES, 'digits between ^]': DIGITS };

/** A scan that nobody announced: each is different, so that none is repeated. */
const numbered = (text: string, n: number) => `${n}-${text}`.slice(0, 255);

const announce = (text: string, count: number) =>
  service.call('submitPrealert', {
    key: DEMO.apiKeys.IEX,
    headers: { 'content-type': 'application/x-ndjson' },
    body: Array.from({ length: count }, (_, n) =>
      JSON.stringify({ UserCode: 'NOBODY', TrackingNumber: numbered(text, n) }),
    ).join('\n'),
  });

const scan = (text: string, count: number) =>
  service.call('sendScans', {
    as: 'warehouse',
    body: {
      station: 'Dock 1',
      scans: Array.from({ length: count }, (_, n) =>
        deviceScan('locate', numbered(text, n), 10, { location: 'A' }),
      ),
    },
  });

const upload = (text: string, count: number) =>
  service.call('uploadPrealerts', {
    as: 'iex',
    form: {
      dry_run: 'true',
      file: {
        file: [
          'tracking_number,user_code',
          ...Array.from({ length: count }, (_, n) => `"${numbered(text, n)}",NOBODY`),
        ].join('\n'),
      },
    },
  });

const REQUESTS: [string, (text: string, count: number) => Promise<Reply>, number][] = [
  ['1,000 lines of pre-alerts', announce, 1_000],
  ['500 scans', scan, 500],
  ['10,000 rows of a file', upload, 10_000],
];

test.each(
  REQUESTS.flatMap(([name, send, count]) =>
    Object.keys(MANY).map((kind) => [name, kind, send, count] as const),
  ),
)(
  '%s of %s block the event loop for less than 60 ms at a time',
  async (_name, kind, send, count) => {
    const text = MANY[kind] ?? '';
    await send(text, 10);
    const blockMs = await longestBlockMs(() => send(text, count));
    expect(blockMs).toBeLessThan(60);
  },
  60_000,
);
