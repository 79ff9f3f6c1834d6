import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { longestBlockMs } from '../../../support/harness/event-loop-block.js';
import { multipart, unchecked } from '../../../support/fixture/sent.js';
import { deviceScan, sendScans } from '../../../support/scans/device-scans.js';
import { withService } from '../../../support/fixture/with-service.js';

// Numbers of many parts take longest to read. A request of them does not hold the event loop.

const { api } = withService();

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

const announce = (texts: string[]) => {
  const lines = texts.map((text) => JSON.stringify({ UserCode: 'NOBODY', TrackingNumber: text }));
  return api
    .withKey(DEMO.apiKeys.IEX)
    .submitPrealert(unchecked(lines.join('\n')), { headers: { 'content-type': 'application/x-ndjson' } })
    .ok();
};

const scan = (texts: string[]) =>
  sendScans(
    api,
    texts.map((text) => deviceScan('locate', text, 10, { location: 'A' })),
  );

const upload = (texts: string[]) => {
  const file = ['tracking_number,user_code', ...texts.map((text) => `"${text}",NOBODY`)].join('\n');
  return api
    .as('iex')
    .uploadPrealerts(multipart({ dry_run: 'true', file: { file } }))
    .answer();
};

const REQUESTS: [string, (texts: string[]) => Promise<unknown>, number][] = [
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
    const texts = Array.from({ length: count }, (_, n) => numbered(MANY[kind] ?? '', n));
    await send(texts.slice(0, 10));
    const blockMs = await longestBlockMs(() => send(texts));
    expect(blockMs).toBeLessThan(60);
  },
  60_000,
);
