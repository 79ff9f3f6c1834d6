import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readOutcome, startOf } from '../../../../src/modules/webhooks/delivery/outcome.js';
import { makeMask } from '../../../../src/modules/webhooks/exchanges/mask-secrets.js';
import { withService } from '../../../support/fixture/with-service.js';
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.js';
import { setEndpoints } from '../../../support/receivers/webhooks.js';
import { until } from '../../../support/service/processes.js';

// What a courier's own system can answer, with a token that the courier has chosen.

const TOKEN = 'token-of-a-courier';

let receiver: Receiver;
// Before the service stops, so that its worker does not wait for their responses.
afterAll(() => receiver.stop());

const { api, service } = withService({ worker: true });

beforeAll(async () => {
  receiver = await startReceiver();
  const { owner, app } = service();
  const urls = { add: `${receiver.url}/add`, update: `${receiver.url}/update` };
  await setEndpoints({ owner, secrets: app.secrets }, { ...urls, token: TOKEN });
});

/** Sends an answer of which only the start arrives. */
const cutAnswer =
  (start: string | Buffer): Receiver['answer'] =>
  (_request, response) => {
    response.writeHead(200, { 'content-length': 1_000_000 });
    response.write(start, () => setTimeout(() => response.destroy(), 50));
  };

const FACE = '😀';

test.each([
  ['is cut behind half of a character', FACE.repeat(300) + 'x'.repeat(1)],
  ['is cut within the bytes of a character', Buffer.from(FACE.repeat(300)).subarray(0, -2)],
  ['has halves of characters in JSON', JSON.stringify({ half: '\ud83d', other: '\ude00' })],
  ['is not UTF-8', Buffer.from([0xff, 0xfe, 0xd8, 0x3d, 0xed, 0xa0, 0xbd])],
  ['has zeros', `a\0b\\u0000${FACE}`],
  ['repeats the token between characters of two units', `${FACE}${TOKEN}`.repeat(200)],
] as const)('an answer that %s is recorded once, and so are those of the same time', async (_what, start) => {
  receiver.answer = cutAnswer(start);
  const before = receiver.received.length;
  const sent = await Promise.all(
    (['add_package', 'update_package', 'add_package'] as const).map((endpoint) =>
      api.as('iex').manageWebhookDeliveries({ action: 'send_test', endpoint }).answer(),
    ),
  );
  const accepted = sent.filter(({ status }) => status === 202 || status === 200).length;
  expect(accepted).toBeGreaterThan(0);
  const attempts = async () =>
    (await api.as('iex').listWebhookDeliveries({ limit: accepted }).ok()).data.map((each) => each.attempts);
  await until(async () => (await attempts()).every((each) => each.length === 1));
  expect(receiver.received.length - before).toBe(accepted);
  for (const [attempt] of await attempts()) {
    expect(attempt?.response_start?.isWellFormed()).toBe(true);
    expect(attempt?.response_start).not.toContain(TOKEN);
  }
});

const called = { endpoint: 'add_package', format: 'event', token: TOKEN } as const;

test('the start of an answer has no half of a character, wherever it is cut', () => {
  const mask = makeMask([TOKEN]);
  for (let at = 0; at < 60; at += 1) {
    const body = Buffer.from('x'.repeat(at) + FACE.repeat(1_500) + TOKEN);
    for (const isCut of [false, true]) {
      const reply = { outcome: 'answered', status: 200, headers: {}, body, isCut, durationMs: 1 } as never;
      const { response_start } = readOutcome(called, reply, { userCode: undefined, mask });
      expect([at, isCut, response_start?.isWellFormed()]).toEqual([at, isCut, true]);
    }
  }
});

test('of an answer of 20 MiB only the start becomes text', () => {
  const mask = makeMask([TOKEN]);
  const body = Buffer.alloc(20 * 1_024 * 1_024, 'a\0');
  const startedMs = process.cpuUsage().user;
  expect(startOf(body, false, mask, 512)).toBe('a'.repeat(512));
  // 6 ms. The whole answer takes 700.
  expect((process.cpuUsage().user - startedMs) / 1_000).toBeLessThan(150);
});

// Each answer is escaped in all ways, so that it is searched in all ways.
const ESCAPED = `%2561&#97;\\u0061${'a'.repeat(65_520)}`;
const many = (count: number, valueOf: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => valueOf(n));

test.each([
  ['a token of an a, a b and many a', ['a'.repeat(20) + 'b' + 'a'.repeat(4_075)]],
  ['a token of many a around a b', ['a'.repeat(2_000) + 'b' + 'a'.repeat(2_000)]],
  ['138 values of a URL that begin alike', many(138, (n) => `aaaaaaaa${String(n).padStart(4, 'b')}`)],
  ['138 equal values of a URL', many(138, () => 'a'.repeat(12))],
  ['60 values of a URL that contain each other', many(60, (n) => 'a'.repeat(12 + n))],
])('%s take hardly longer to mask than an ordinary token, whatever is answered', (_what, secrets) => {
  const cpuOf = (of: string[]) => {
    const mask = makeMask(of);
    const startedMs = process.cpuUsage().user;
    for (let n = 0; n < 3; n += 1) mask(ESCAPED, 16_384, true);
    return (process.cpuUsage().user - startedMs) / 1_000;
  };
  const usual = cpuOf(['0123456789abcdef'.repeat(256)]);
  // At most 8 times. Searches that take the product of all lengths take hundreds of times as long.
  expect(cpuOf(secrets)).toBeLessThan(40 * Math.max(usual, 4));
});

// No start of a value occurs, so that each is sought to the end of the answer, in each of its readings.
const NEAR = `${'a'.repeat(420)}%2561%255Cx61\\x2561&#x25;61`.repeat(200).slice(0, 65_536);

test('many values of a URL that an answer almost repeats take hardly longer than a few', () => {
  const values = (count: number) => makeMask(many(count, (n) => `aaaaaaab${String(n).padStart(4, '0')}`));
  const cpuOf = (mask: ReturnType<typeof makeMask>) => {
    const startedMs = process.cpuUsage().user;
    for (let n = 0; n < 3; n += 1) mask(NEAR, 65_536, true);
    return (process.cpuUsage().user - startedMs) / 1_000;
  };
  const few = cpuOf(values(3));
  // At most 2.5 times. Without a limit they take 20 times as long.
  expect(cpuOf(values(130))).toBeLessThan(6 * Math.max(few, 10));
});

test('nothing is kept of an answer whose secrets take too long to find', () => {
  const mask = makeMask(many(138, (n) => `aaaaaaaa${String(n).padStart(4, 'b')}`));
  expect(mask(ESCAPED, 16_384)).toEqual({ text: '***', isCut: true });
  expect(mask('No such key: aaaaaaaabbb7', 16_384)).toEqual({ text: 'No such key: ***', isCut: false });
});
