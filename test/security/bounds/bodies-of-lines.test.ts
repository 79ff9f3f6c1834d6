import { request } from 'node:http';
import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';

// Parsing and validating a body of lines takes hundreds of milliseconds. All loops of the process share its time, so a caller must not
// have many of them, and none for a client that has left.

const { api, service } = withService();

const TYPE = 'application/x-ndjson';

/** A body of lines that are refused, and that are slow to parse and to validate. */
const slowBody = (count: number): string => {
  const deep = `${'['.repeat(28)}1${']'.repeat(28)}`;
  const line = JSON.stringify({ UserCode: 'NOBODY', TrackingNumber: 'LINES-1' });
  const fields = Array.from({ length: 60 }, (_, n) => `"f${n}":${deep}`).join(',');
  return Array.from({ length: count }, () => `${line.slice(0, -1)},${fields}}`).join('\n');
};

const send = (body: string) =>
  api
    .withKey(DEMO.apiKeys.IEX)
    .submitPrealert(unchecked(body), { headers: { 'content-type': TYPE } })
    .ok();

async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** A body that is sent whole. `leave` closes its connection. */
function open(body: string): { response: Promise<unknown>; leave: () => void } {
  const { url } = service();
  const sent = request(`${url}/api/Prealert.php`, {
    method: 'POST',
    agent: false,
    headers: {
      'x-api-key': DEMO.apiKeys.IEX,
      'content-type': TYPE,
      'content-length': Buffer.byteLength(body),
    },
  });
  const response = new Promise((resolve) => {
    sent.on('response', (message) => resolve(message.resume())).on('error', resolve);
  });
  sent.end(body);
  return { response, leave: () => sent.destroy() };
}

/** When the third of six equal bodies ends, as a share of the time of all six. About 0.95 if they are parsed at once. */
async function shareOfThird(body: string): Promise<number> {
  const startedMs = performance.now();
  const ends = await Promise.all(
    Array.from({ length: 6 }, async () => {
      await send(body);
      return performance.now() - startedMs;
    }),
  );
  const [, , third = 0, , , last = 0] = ends.toSorted((a, b) => a - b);
  return third / last;
}

test('bodies of one API key are parsed one after the other', async () => {
  const body = slowBody(300);
  await send(body);
  // A busy machine delays single rounds.
  const shares = [await shareOfThird(body), await shareOfThird(body), await shareOfThird(body)];
  expect(Math.min(...shares)).toBeLessThan(0.75);
}, 60_000);

test('a body whose client has left is not parsed', async () => {
  const body = slowBody(900);
  await send(body);
  const one = await cpuMs(() => send(body));
  const opened = Array.from({ length: 8 }, () => open(body));
  // The others have arrived by then, and wait.
  await Promise.race(opened.map(({ response }) => response));
  const abandoned = await cpuMs(async () => {
    for (const { leave } of opened) leave();
    await send(slowBody(1));
  });
  expect(abandoned / one).toBeLessThan(3);
}, 60_000);
