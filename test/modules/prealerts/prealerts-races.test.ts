import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, service } = withService({ poolSize: 20 });

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
      const replies = await callers(() => api.withKey(DEMO.apiKeys.IEX).submitPrealert(body).answer());
      expect(tally(replies)).toEqual({ 201: 1, 409: CALLERS - 1 });
      const { rows } = await service().owner.query('select id from prealerts where tracking_number = $1', [
        body.TrackingNumber,
      ]);
      expect(rows).toHaveLength(1);
    }
  },
  SUBMIT_LIMIT_MS,
);

test('the database alone refuses a second pre-alert of a courier with one number', async () => {
  await api
    .withKey(DEMO.apiKeys.IEX)
    .submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: 'ONCE-1' })
    .created();
  const repeated = service().owner.query(
    `insert into prealerts select (jsonb_populate_record(p, jsonb_build_object('id', new_id()))).*
     from prealerts p where tracking_number = 'ONCE-1'`,
  );
  await expect(repeated).rejects.toThrow('prealerts_tenant_id_courier_id_tracking_number_key');
});

test(`of a POST and a PUT that race for one number, one succeeds, in ${MOVE_ROUNDS} rounds`, async () => {
  for (let round = 0; round < MOVE_ROUNDS; round += 1) {
    const made = await api
      .withKey(DEMO.apiKeys.IEX)
      .submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: `MOVING-${round}` })
      .succeeded();
    const fields = { tracking_number: `WANTED-${round}`, user_code: 'IEX-1001', vendor: 'x' };
    const replies = await Promise.all([
      api
        .as('iex')
        .replacePrealert({ ...fields, prealert_id: made.data.prealert_id })
        .answer(),
      api.as('iex').createPrealert(fields).answer(),
    ]);
    const winners = replies.filter(({ status }) => status < 300);
    expect(winners).toHaveLength(1);
    expect(replies.map(({ status }) => status)).toContain(409);
  }
});

test(`of ${CALLERS} callers who delete one pre-alert, one gets 200 and ${CALLERS - 1} get 404, with one audit entry`, async () => {
  const made = await api
    .withKey(DEMO.apiKeys.IEX)
    .submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: 'DOOMED' })
    .succeeded();
  const prealert_id = made.data.prealert_id;
  const replies = await callers(() => api.as('iex').deletePrealert({ prealert_id }).answer());
  expect(tally(replies)).toEqual({ 200: 1, 404: CALLERS - 1 });
  const { rows } = await service().owner.query(
    "select 1 from audit_entries where entity_id = $1 and action = 'prealert.deleted'",
    [prealert_id],
  );
  expect(rows).toHaveLength(1);
});

test(`tallies stay correct with ${CALLERS} concurrent submissions of two couriers`, async () => {
  const submit = (index: number) =>
    api
      .withKey(index % 2 ? DEMO.apiKeys.IEX : DEMO.apiKeys.HRB)
      .submitPrealert({ UserCode: index % 2 ? 'IEX-1001' : 'HRB-2001', TrackingNumber: `COUNT-${index}` })
      .answer();
  const replies = await callers(submit);
  expect(tally(replies)).toEqual({ 201: CALLERS });
  const { rows } = await service().owner.query(
    `select (select count(*)::int from prealerts) as counted, (select sum(total)::int from prealert_tallies) as tallied`,
  );
  expect(rows[0].tallied).toBe(rows[0].counted);
});
