import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { until } from '../../support/service/processes.js';
import type { Reply } from '../../support/service/service.js';
import { multipart, unchecked } from '../../support/fixture/sent.js';
import { countWaiting } from '../../support/harness/meanwhile.js';
import { withService } from '../../support/fixture/with-service.js';
import { publishedVectors } from '../tracking-numbers/data-set.js';

const { api, service } = withService({ poolSize: 20 });

const NUMBERS = 300;

const sendLines = (numbers: string[], query = {}) =>
  api
    .withKey(DEMO.apiKeys.IEX)
    .submitPrealert(
      unchecked(
        numbers.map((TrackingNumber) => JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber })).join('\n'),
      ),
      { headers: { 'content-type': 'application/x-ndjson' }, query },
    )
    .answer();

const uploadFile = (numbers: string[]) =>
  api
    .as('iex')
    .uploadPrealerts(
      multipart({
        file: {
          file: ['tracking_number,user_code', ...numbers.map((number) => `${number},IEX-1001`)].join('\n'),
        },
      }),
    )
    .answer();

const receive = (tracking_number: string, courier: 'IEX' | 'HRB' = 'IEX') =>
  api
    .as('warehouse')
    .receivePackage({
      tracking_number,
      weight: 1,
      courier_id: DEMO.couriers[courier],
      user_code: courier === 'IEX' ? 'IEX-1001' : 'HRB-2001',
    })
    .answer();

/** Sends a batch that waits, as it is written, for another transaction that announces its last number. Then does `work`. */
async function whileWritten(send: Send, numbers: string[], work: () => Promise<void>): Promise<Reply> {
  const last = `ZZ-${numbers[0]}`;
  const other = await service().owner.connect();
  try {
    await other.query('begin');
    await other.query(
      `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, announced_key, vendor, status)
       select $1, new_id(), $2, 'IEX-1001', $3, key, key, 'Shop', 'pending' from replace($3, '-', '') as key`,
      [DEMO.tenants.demo, DEMO.couriers.IEX, last],
    );
    const reply = send([...numbers, last]);
    await until(async () => (await countWaiting(service().owner)) > 0);
    await work();
    await other.query('rollback');
    return await reply;
  } finally {
    other.release();
  }
}

type Send = (numbers: string[]) => Promise<Reply>;

const storedOf = async (numbers: string[]) =>
  (
    await service().owner.query<{ number: string; status: string; key: string }>(
      `select tracking_number as number, status, tracking_key as key from prealerts
       where tracking_number = any($1) and courier_id = $2`,
      [numbers, DEMO.couriers.IEX],
    )
  ).rows;

/** Numbers whose barcodes have two digits before them, which are part of the key of a package that is received first. */
const INNER = publishedVectors()
  .filter(({ format, isValid }) => format === 'fedex_12' && isValid)
  .map(({ number }) => number);

test.each<[string, number, Send]>([
  ['lines', 0, (numbers) => sendLines(numbers)],
  ['lines, all or none', 1, (numbers) => sendLines(numbers, { atomic: true })],
  ['a file', 2, uploadFile],
])(
  'while %s are written, other parcels are received, and pre-alerts of received ones are settled',
  async (_name, index, send) => {
    const prefix = `BESIDE-${index}`;
    const [own, ofOther, unreceived] = [`${prefix}-OWN`, `${prefix}-HRB`, `${prefix}-LATER`];
    const inner = INNER[index] ?? '';
    const many = Array.from({ length: NUMBERS }, (_, n) => `${prefix}-${n}`);
    const reply = await whileWritten(send, [...many, own, ofOther, unreceived, inner], async () => {
      const others = Array.from({ length: 40 }, (_, n) => receive(`${prefix}-OTHER-${n}`));
      const replies = await Promise.all([
        ...others,
        receive(own),
        receive(ofOther, 'HRB'),
        receive(`13${inner}`),
      ]);
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    });
    expect(reply.status).toBe(200);
    expect(await storedOf(many)).toHaveLength(NUMBERS);
    const stored = Object.fromEntries(
      (await storedOf([own, ofOther, unreceived, inner])).map((row) => [row.number, row]),
    );
    expect(stored).toMatchObject({
      [own]: { status: 'received' },
      [ofOther]: { status: 'pending' },
      [unreceived]: { status: 'pending' },
      [inner]: { status: 'received', key: `13${inner}` },
    });
  },
  60_000,
);

test('a single pre-alert of a number in the batch and its intake end right, though the three wait for each other', async () => {
  const twice = 'BESIDE-TWICE';
  let single: Promise<Reply> | undefined;
  let intake: Promise<Reply> | undefined;
  const reply = await whileWritten(sendLines, ['BESIDE-3', twice], async () => {
    single = api
      .withKey(DEMO.apiKeys.IEX)
      .submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: twice })
      .answer();
    await until(async () => (await countWaiting(service().owner)) === 2);
    intake = receive(twice);
    await until(async () => (await countWaiting(service().owner)) === 3);
  });
  expect([reply.status, (await single)?.status, (await intake)?.status]).toEqual([200, 409, 201]);
  expect(await storedOf([twice])).toMatchObject([{ status: 'received' }]);
}, 60_000);

test('a pre-alert that gets a number of the batch waits for the batch with no parcel locked', async () => {
  const [number, replaced] = ['BESIDE-PUT', 'BESIDE-REPLACED'];
  const submitted = await api
    .withKey(DEMO.apiKeys.IEX)
    .submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: replaced })
    .created();
  let replacement: Promise<Reply> | undefined;
  const reply = await whileWritten(sendLines, ['BESIDE-4', number], async () => {
    replacement = api
      .as('iex')
      .replacePrealert({
        prealert_id: submitted.data.prealert_id,
        tracking_number: number,
        user_code: 'IEX-1001',
        vendor: 'Shop',
      })
      .answer();
    await until(async () => (await countWaiting(service().owner)) === 2);
    for (const each of [number, replaced]) expect((await receive(each)).status).toBe(201);
  });
  expect([reply.status, (await replacement)?.status]).toEqual([200, 409]);
  expect(await storedOf([number, replaced])).toMatchObject([{ status: 'received' }, { status: 'received' }]);
}, 60_000);
