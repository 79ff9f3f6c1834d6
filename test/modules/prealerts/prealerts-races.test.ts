import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../src/development/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { startService, untilAdmitted, type Reply, type Service } from '../../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService({ poolSize: 20 });
});

afterAll(async () => {
  await service.stop();
});

const CALLERS = rounds(50, 200);
const SUBMIT_ROUNDS = rounds(2, 1_000);
const SUBMIT_LIMIT_MS = 60_000 + SUBMIT_ROUNDS * 5_000;
const MOVE_ROUNDS = rounds(5, 20);

const tally = (replies: Reply[]) =>
  Object.fromEntries(
    [...new Set(replies.map(({ status }) => status))]
      .sort()
      .map((status) => [status, replies.filter((r) => r.status === status).length]),
  );

const callers = (call: (index: number) => Promise<Reply>) =>
  Promise.all(Array.from({ length: CALLERS }, (_, index) => untilAdmitted(() => call(index))));

test(
  `of ${CALLERS} callers who submit one number at once, one gets 201 and ${CALLERS - 1} get 409, in ${SUBMIT_ROUNDS} rounds`,
  async () => {
    for (let round = 0; round < SUBMIT_ROUNDS; round += 1) {
      const body = { UserCode: 'IEX-1001', TrackingNumber: `RACE-${round}` };
      const replies = await callers(() => service.call('submitPrealert', { key: DEMO.apiKeys.IEX, body }));
      expect(tally(replies)).toEqual({ 201: 1, 409: CALLERS - 1 });
      const { rows } = await service.owner.query('select id from prealerts where tracking_number = $1', [
        body.TrackingNumber,
      ]);
      expect(rows).toHaveLength(1);
    }
  },
  SUBMIT_LIMIT_MS,
);

test(`of a POST and a PUT that race for one number, one succeeds, in ${MOVE_ROUNDS} rounds`, async () => {
  for (let round = 0; round < MOVE_ROUNDS; round += 1) {
    const made = await service.call('submitPrealert', {
      key: DEMO.apiKeys.IEX,
      body: { UserCode: 'IEX-1001', TrackingNumber: `MOVING-${round}` },
    });
    const fields = { tracking_number: `WANTED-${round}`, user_code: 'IEX-1001', vendor: 'x' };
    const replies = await Promise.all([
      service.call('replacePrealert', {
        as: 'iex',
        body: { ...fields, prealert_id: made.body['data'].prealert_id },
      }),
      service.call('createPrealert', { as: 'iex', body: fields }),
    ]);
    const winners = replies.filter(({ status }) => status < 300);
    expect(winners).toHaveLength(1);
    expect(replies.map(({ status }) => status)).toContain(409);
  }
});

test(`of ${CALLERS} callers who delete one pre-alert, one gets 200 and ${CALLERS - 1} get 404, with one audit entry`, async () => {
  const made = await service.call('submitPrealert', {
    key: DEMO.apiKeys.IEX,
    body: { UserCode: 'IEX-1001', TrackingNumber: 'DOOMED' },
  });
  const prealert_id = made.body['data'].prealert_id;
  const replies = await callers(() => service.call('deletePrealert', { as: 'iex', body: { prealert_id } }));
  expect(tally(replies)).toEqual({ 200: 1, 404: CALLERS - 1 });
  const { rows } = await service.owner.query(
    "select 1 from audit_entries where entity_id = $1 and action = 'prealert.deleted'",
    [prealert_id],
  );
  expect(rows).toHaveLength(1);
});

test(`tallies stay correct with ${CALLERS} concurrent submissions of two couriers`, async () => {
  const submit = (index: number) =>
    service.call('submitPrealert', {
      key: index % 2 ? DEMO.apiKeys.IEX : DEMO.apiKeys.HRB,
      body: { UserCode: index % 2 ? 'IEX-1001' : 'HRB-2001', TrackingNumber: `COUNT-${index}` },
    });
  const replies = await callers(submit);
  expect(tally(replies)).toEqual({ 201: CALLERS });
  const { rows } = await service.owner.query(
    `select (select count(*)::int from prealerts) as counted, (select sum(total)::int from prealert_tallies) as tallied`,
  );
  expect(rows[0].tallied).toBe(rows[0].counted);
});
