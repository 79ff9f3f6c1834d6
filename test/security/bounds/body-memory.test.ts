import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { openBodySpace } from '../../../src/platform/limits/body-space.js';
import { makeByteSpace, type Space } from '../../../src/platform/limits/byte-space.js';
import { hasReadAll, holdBody, type HeldRequest } from '../../support/attacks/held-bodies.js';
import { withService } from '../../support/fixture/with-service.js';
import { deviceScan } from '../../support/scans/device-scans.js';
import { holdParcel, numbersWithLocks } from '../../support/scans/parcel-locks.js';
import { until } from '../../support/service/processes.js';
import { openSocket, receive, sendRaw, type RawReply } from '../../support/service/wire.js';

// Bodies that arrive slowly or wait for their turn take memory, so their bytes are limited per caller and per process.

const { api, service } = withService();

const MIB = 1024 * 1024;
/** The documented share of a caller. */
const MOST = 16;

const LINES = Buffer.from(
  `${JSON.stringify({ UserCode: 'NOBODY', TrackingNumber: 'MEMORY-1' })}\n`
    .padEnd(60 * 1024, ' ')
    .concat('\n'),
);
const body = Buffer.concat(Array.from({ length: 18 }, () => LINES)).subarray(0, MIB);
const prealerts = (key: string) => ({
  path: '/api/Prealert.php',
  headers: { 'x-api-key': key, 'content-type': 'application/x-ndjson' },
  body,
});

const hold = (count: number, key = DEMO.apiKeys.IEX): Promise<HeldRequest[]> =>
  Promise.all(Array.from({ length: count }, () => holdBody(service().url, prealerts(key))));

const post = (key: string, sent: Buffer | Buffer[] = body): Promise<RawReply> =>
  sendRaw(service().url, { method: 'POST', ...prealerts(key), body: sent });

const isOverloaded = ({ status, headers, text }: RawReply) =>
  status === 503 && text.includes('"code":"overloaded"') && Number(headers['retry-after']) >= 1;

/** Sends the headers of a body, and waits for the response. */
async function announce(): Promise<RawReply | undefined> {
  const socket = await openSocket(service().url);
  const replies = receive(socket);
  socket.write(
    `POST /api/Prealert.php HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${DEMO.apiKeys.IEX}\r\n` +
      `content-type: application/x-ndjson\r\ncontent-length: ${MIB}\r\n\r\n`,
  );
  const [first] = await replies;
  return first;
}

/** The service has read the bodies, as far as they were sent. */
const untilRead = () => until(() => Promise.resolve(hasReadAll(service().url)));
const untilAccepted = (key = DEMO.apiKeys.IEX) => until(async () => (await post(key)).status === 200);

test('a caller may have 16 MiB of bodies: more is refused before it is read, and other callers are served', async () => {
  const held = await hold(MOST);
  await untilRead();
  const refused = await announce();
  expect(refused && isOverloaded(refused)).toBe(true);
  // Without a Content-Length, what has arrived counts.
  expect(isOverloaded(await post(DEMO.apiKeys.IEX, [body.subarray(0, 100_000)]))).toBe(true);
  // A body of 16 KiB is small, and needs no space.
  expect((await post(DEMO.apiKeys.IEX, Buffer.from(body.subarray(0, 200)))).status).toBe(200);
  expect((await post(DEMO.apiKeys.HRB)).status).toBe(200);
  for (const { end } of held) await end();
  const statuses = await Promise.all(held.map(async ({ reply }) => (await reply)?.status));
  expect(new Set(statuses)).toEqual(new Set([200]));
  await untilAccepted();
}, 60_000);

test('of 150 bodies of 1 MiB with one key that are sent at once, those beyond 16 MiB are refused', async () => {
  const replies = await Promise.all(Array.from({ length: 150 }, () => post(DEMO.apiKeys.IEX)));
  const accepted = replies.filter(({ status }) => status === 200).length;
  expect(replies.filter((each) => isOverloaded(each))).toHaveLength(150 - accepted);
  expect(accepted).toBeGreaterThanOrEqual(MOST);
  await untilAccepted();
}, 60_000);

test('bodies whose clients leave are free again, however far they were sent', async () => {
  for (let round = 0; round < 3; round += 1) {
    const held = await hold(MOST);
    await untilRead();
    expect(isOverloaded(await post(DEMO.apiKeys.IEX))).toBe(true);
    for (const { leave } of held) leave();
    const whole = await hold(4, DEMO.apiKeys.HRB);
    for (const { end, leave } of whole) {
      await end();
      leave();
    }
    await untilAccepted();
    await untilAccepted(DEMO.apiKeys.HRB);
  }
  const held = await hold(MOST);
  for (const { end } of held) await end();
  expect((await Promise.all(held.map(({ reply }) => reply))).map((each) => each?.status)).toEqual(
    Array<number>(MOST).fill(200),
  );
}, 60_000);

test('bodies whose clients leave before the account is checked take nothing', async () => {
  const url = new URL(service().url);
  const head = (method: string, path: string, mib: number, credential: string) =>
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${credential}\r\ncontent-length: ${mib * MIB}\r\n\r\n`;
  const lines = `x-api-key: ${DEMO.apiKeys.IEX}\r\ncontent-type: application/x-ndjson`;
  const announced = [
    head('POST', '/api/Prealert.php', 1, lines),
    head('GET', '/api/LabelJobs.php', 16, `x-api-key: ${DEMO.apiKeys.IEX}`),
  ];
  for (let n = 0; n < 2 * MOST; n += 1) {
    for (const sent of announced) {
      const socket = await openSocket(url.href);
      await new Promise((resolve) => socket.write(sent, resolve));
      if (n % 2) socket.resetAndDestroy();
      else socket.destroy();
    }
  }
  // All of the caller's space is free again.
  await until(async () => {
    const held = await hold(MOST - 1);
    const { status } = await post(DEMO.apiKeys.IEX);
    for (const { end } of held) await end();
    return status === 200;
  });
  expect((await post(DEMO.apiKeys.IEX)).status).toBe(200);
}, 60_000);

test('a body counts while its request waits for its turn, also after its client has left', async () => {
  const [number = '', other = ''] = await numbersWithLocks(service().owner, 0, 2);
  const batch = (scans: string[]) =>
    JSON.stringify({
      station: 'Dock 1',
      scans: scans.map((scan) => deviceScan('receive', scan, 10, { weight: 1 })),
    });
  const token = await service().tokenOf('warehouse');
  const request = (bytes: number) => ({
    path: '/api/ScanBatch.php',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: Buffer.from(batch([number, other]).padEnd(bytes)),
  });
  const parcel = await holdParcel(service().owner, number);
  try {
    const waiting: HeldRequest[] = [];
    const isRefused = async () => {
      // Without its last byte, a body that is accepted waits for nothing else.
      const { reply, leave } = await holdBody(service().url, request(100_000));
      const first = await Promise.race([reply, sleep(2000)]);
      leave();
      return first !== undefined && isOverloaded(first);
    };
    // A busy machine may refuse some of them for another reason, and they take no space.
    await until(async () => {
      const more = await Promise.all(
        Array.from({ length: waiting.length === 0 ? MOST : 1 }, () => holdBody(service().url, request(MIB))),
      );
      for (const { end } of more) await end();
      waiting.push(...more);
      await untilRead();
      return isRefused();
    });
    await until(parcel.isAwaited);
    for (const { leave } of waiting) leave();
    for (let n = 0; n < 3; n += 1) expect(await isRefused()).toBe(true);
    const send = () => sendRaw(service().url, { method: 'POST', ...request(100_000) });
    await parcel.free();
    await until(async () => (await send()).status === 200);
  } finally {
    await parcel.free();
  }
}, 60_000);

test('the callers of a tenant leave space for other tenants', () => {
  const ofTenant = (tenant: string) =>
    Array.from({ length: 8 }, (_, n) => openBodySpace({ name: `${tenant} ${n}`, tenant }));
  const spaces = ofTenant('one');
  const isTaken = (space: Space) => {
    try {
      space.take(MOST * MIB);
      return true;
    } catch {
      return false;
    }
  };
  expect(spaces.map(isTaken)).toEqual([...Array<boolean>(6).fill(true), false, false]);
  const [other, ...others] = ofTenant('two');
  expect(other && isTaken(other)).toBe(true);
  for (const space of [...spaces, ...(other ? [other] : [])]) space.free();
  // What was refused has taken nothing.
  expect(others.slice(0, 6).map(isTaken)).toEqual(Array<boolean>(6).fill(true));
  for (const space of others) space.free();
});

test('all callers together have a limit too, and what is freed can be taken again', () => {
  const open = makeByteSpace({ total: 10, perHolder: 4, retryAfterSeconds: 1 });
  const openOf = (name: string) => open({ name, tenant: 'demo' });
  const spaces = ['a', 'b', 'c'].map(openOf);
  const take = (n: number, bytes: number) => () => spaces[n]?.take(bytes);
  take(0, 4)();
  expect(take(0, 1)).toThrow('overloaded');
  take(1, 4)();
  expect(take(2, 3)).toThrow('overloaded');
  take(2, 2)();
  spaces[0]?.free();
  take(2, 2)();
  expect(() => openOf('a').take(3)).toThrow('overloaded');
});

test('a courier has one share with all of its keys, also those that it has replaced', async () => {
  const held = await hold(MOST, DEMO.apiKeys.HRB);
  await untilRead();
  const { data } = await api.as('hrb').regenerateApiKey({}).ok();
  expect(isOverloaded(await post(data.api_key))).toBe(true);
  expect((await post(DEMO.apiKeys.IEX)).status).toBe(200);
  for (const { end } of held) await end();
  await untilAccepted(data.api_key);
}, 60_000);
