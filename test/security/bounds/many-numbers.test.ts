import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { readScan } from '../../../src/modules/tracking-numbers/read-scan.js';
import { withService } from '../../support/fixture/with-service.js';
import { longestBlockMs } from '../../support/harness/event-loop-block.js';
import { fedexNumber } from '../../support/scans/related-numbers.js';

// Text with many numbers costs the service a few times what other text costs, and many requests at once share a turn.

const { service } = withService();

const MAX_LENGTH = 255;
const PLAIN = 'LCL-2026-0001-X';
const LINES = 300;

/** As many as a field takes. */
const numbersBetween = (separator: string): string => Array.from({ length: 19 }, fedexNumber).join(separator);

/** The least CPU time of several runs: other programs can only add to it. */
async function cpuMs(run: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000);
  }
  return Math.min(...times);
}

test.each([
  ['spaces', ' '],
  ['line ends', '\n'],
  ['GS', '\u001d'],
  ['hyphens', '-'],
  ['nothing', ''],
])('19 FedEx numbers with %s between them cost less than 150 plain numbers', async (_name, separator) => {
  const texts = Array.from({ length: LINES }, () => numbersBetween(separator));
  const plain = Array.from({ length: LINES * 10 }, (_, n) => `1Z999AA1012345${n}`);
  const many = await cpuMs(() => texts.map(readScan));
  const one = (await cpuMs(() => plain.map(readScan))) / 10;
  // It is about 50. Trying a hundred prefixes for each number cost 250 to 550.
  expect(many / one).toBeLessThan(150);
});

const announce = (texts: string[]) =>
  service().call('submitPrealert', {
    key: DEMO.apiKeys.IEX,
    headers: { 'content-type': 'application/x-ndjson' },
    body: texts.map((TrackingNumber) => JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber })).join('\n'),
  });

test('lines of many numbers cost less than six times as much as plain lines', async () => {
  const evil = Array.from({ length: LINES }, () => numbersBetween(' '));
  const plain = Array.from({ length: LINES }, () => `${PLAIN} `.repeat(20).slice(0, MAX_LENGTH));
  const send = (texts: string[]) => async () => expect((await announce(texts)).status).toBe(200);
  await send(evil)();
  // The second time, the plain numbers are stored already.
  await send(plain)();
  const [many, one] = [await cpuMs(send(evil)), await cpuMs(send(plain))];
  // It is 2.4. Trying a hundred prefixes for each number cost 15.
  expect(many / one).toBeLessThan(6);
}, 60_000);

test('40 requests with lines of many numbers are all answered, and hold a turn for less than 60 ms', async () => {
  // Fourteen kilobytes: as large as a body that is read before the account is checked.
  const bodies = Array.from({ length: 40 }, () => Array.from({ length: 55 }, () => numbersBetween(' ')));
  const statuses = new Set<number>();
  const blockedMs = await longestBlockMs(async () => {
    for (const { status } of await Promise.all(bodies.map((texts) => announce(texts)))) statuses.add(status);
  });
  expect([...statuses]).toEqual([200]);
  expect(blockedMs).toBeLessThan(60);
}, 60_000);
