import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { untilAdmitted, type Call, type Reply } from '../../../support/service/service.js';
import { withService } from '../../../support/fixture/with-service.js';
import { multipart } from '../../../support/fixture/sent.js';

const { api, service } = withService();
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

const submission = (TrackingNumber: string, UserCode = 'IEX-1001') => ({ UserCode, TrackingNumber });
const submit = (body: object, call: Call = {}) =>
  api.with({ key: DEMO.apiKeys.IEX, body, ...call }).submitPrealert();
const sendLines = (lines: object[], call: Call = {}) =>
  submit(
    {},
    {
      body: lines.map((line) => JSON.stringify(line)).join('\n'),
      ...call,
      headers: { 'content-type': 'application/x-ndjson', ...call.headers },
    },
  );

const of = (prealert_id: string, differs: boolean, fields: object = {}) => ({
  prealert_id,
  user_code: 'IEX-1001',
  status: 'pending',
  differs,
  ...fields,
});

const refusal = (existing: unknown) => ({
  status: 409,
  body: { code: 'duplicate_tracking_number', existing },
});

describe('the 409 of a submitted pre-alert names the existing one', () => {
  const keys: [name: string, headers: () => Record<string, string>][] = [
    ['', () => ({})],
    [' with an Idempotency-Key', () => ({ 'idempotency-key': newNumber() })],
  ];

  test.each(keys)('and whether its customer differs%s', async (_name, headers) => {
    const number = newNumber();
    const id = await parcels.announce('IEX', number);
    const same = await submit(submission(number), { headers: headers() }).answer();
    expect(same).toMatchObject(refusal(of(id, false)));
    const other = await submit(submission(number, 'IEX-1002'), { headers: headers() }).answer();
    expect(other).toMatchObject(refusal(of(id, true)));
    await parcels.receive(number);
    const received = await submit(submission(number), { headers: headers() }).answer();
    expect(received).toMatchObject(refusal(of(id, false, { status: 'received' })));
  });

  test('and a repetition of the refused request is executed once the existing one was deleted', async () => {
    const number = newNumber();
    const id = await parcels.announce('IEX', number);
    const call = { headers: { 'idempotency-key': newNumber() } };
    const first = await submit(submission(number), call).answer();
    await api.as('iex').deletePrealert({ prealert_id: id }).ok();
    const again = await submit(submission(number), call).answer();
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([409, 201, null]);
  });

  test('also if it was announced at the same time', async () => {
    const number = newNumber();
    const codes = Array.from({ length: 40 }, (_, n) => (n % 2 ? 'IEX-1001' : 'IEX-1002'));
    const replies = await Promise.all(
      codes.map((code) => untilAdmitted(() => submit(submission(number, code)).answer())),
    );
    const created = replies.flatMap(({ status }, n) => (status === 201 ? n : []));
    expect(created).toHaveLength(1);
    const winner = created[0] ?? -1;
    const id: unknown = replies[winner]?.data.prealert_id;
    for (const [n, { status, body }] of replies.entries()) {
      if (n === winner) continue;
      const existing = of(String(id), codes[n] !== codes[winner], { user_code: codes[winner] });
      expect({ status, existing: body['existing'] }).toEqual({ status: 409, existing });
    }
  });

  test('never one of another courier or tenant', async () => {
    const number = newNumber();
    const ofSibling = await parcels.announce('HRB', number);
    const own = await submit(submission(number)).created();
    const again = await submit(submission(number)).answer();
    expect(again).toMatchObject(refusal(of(own.data.prealert_id, false)));
    expect(again.bytes.toString()).not.toContain(ofSibling);
    const unknown = await submit(submission(number, CUSTOMERS.HRB)).answer();
    expect([unknown.status, unknown.existing]).toEqual([400, undefined]);
  });
});

describe('users', () => {
  const create = (as: string, tracking_number: string, courier: string, user_code: string) =>
    api.as(as).createPrealert({ tracking_number, user_code, vendor: 'Shop', courier_id: courier });

  test('get the pre-alert of the courier that they create one for', async () => {
    const number = newNumber();
    const [own, sibling] = [await parcels.announce('IEX', number), await parcels.announce('HRB', number)];
    expect(await create('iex', number, DEMO.couriers.HRB, 'IEX-1002').answer()).toMatchObject(
      refusal(of(own, true)),
    );
    expect(await create('admin', number, DEMO.couriers.IEX, 'IEX-1001').answer()).toMatchObject(
      refusal(of(own, false)),
    );
    const ofSibling = await create('admin', number, DEMO.couriers.HRB, 'HRB-2001').answer();
    expect(ofSibling).toMatchObject(refusal(of(sibling, false, { user_code: 'HRB-2001' })));
  });

  test.each(['iex', 'admin'])(
    'get the other pre-alert of the courier when they replace one (%s)',
    async (as) => {
      const [first, second] = [newNumber(), newNumber()];
      const [id, other] = [await parcels.announce('IEX', first), await parcels.announce('IEX', second)];
      await parcels.announce('HRB', second);
      const body = { prealert_id: id, tracking_number: second, user_code: 'IEX-1002', vendor: 'Shop' };
      const headers = { 'idempotency-key': newNumber() };
      const reply = await api.as(as).replacePrealert(body, { headers }).answer();
      expect(reply).toMatchObject(refusal(of(other, true)));
    },
  );
});

describe('lines', () => {
  const existingOf = ({ body }: Reply) =>
    (body['data'].results as { existing?: unknown }[]).map(({ existing }) => existing);

  test('that are duplicates name what was stored before, or by an earlier line', async () => {
    const [announced, fresh] = [newNumber(), newNumber()];
    const id = await parcels.announce('IEX', announced);
    await parcels.announce('HRB', fresh);
    const reply = await sendLines([
      submission(announced, 'IEX-1002'),
      submission(fresh),
      submission(fresh),
      submission(fresh, 'IEX-1002'),
      submission(fresh, 'HRB-2001'),
    ]).succeeded();
    const created = String(reply.data.results[1]?.prealert_id);
    expect(existingOf(reply)).toEqual([
      of(id, true),
      undefined,
      of(created, false),
      of(created, true),
      undefined,
    ]);
  });

  test('of a request that was lost and is sent again get all their ids', async () => {
    const lines = Array.from({ length: 1_000 }, () => submission(newNumber()));
    const first = await sendLines(lines).succeeded();
    const ids = (first.data.results as { prealert_id: string }[]).map(({ prealert_id }) => prealert_id);
    expect(existingOf(await sendLines(lines).answer())).toEqual(ids.map((id) => of(id, false)));
  });

  test('of an atomic request name it in errors', async () => {
    const [announced, fresh] = [newNumber(), newNumber()];
    const id = await parcels.announce('IEX', announced);
    const lines = [submission(announced), submission(fresh), submission(fresh)];
    const { status, body } = await sendLines(lines, { query: { atomic: true } }).answer();
    const errors = body['errors'] as { row: number; existing?: unknown }[];
    expect([status, ...errors.map(({ row, existing }) => ({ row, existing }))]).toEqual([
      409,
      { row: 1, existing: of(id, false) },
      // Nothing is stored, so there is nothing to name.
      { row: 3, existing: undefined },
    ]);
  });
});

test.each(['true', 'false'])(
  'an upload names the pre-alerts of its duplicates (dry run: %s)',
  async (dry_run) => {
    const [same, other, fresh] = [newNumber(), newNumber(), newNumber()];
    const [first, second] = [await parcels.announce('IEX', same), await parcels.announce('IEX', other)];
    for (const number of [same, other, fresh]) await parcels.announce('HRB', number);
    const rows = [`${fresh},IEX-1001`, `${same},IEX-1001`, `${other},IEX-1003`, `${same},IEX-1001`];
    const form = { file: { file: ['tracking_number,user_code', ...rows, ''].join('\n') }, dry_run };
    const reply = await api.as('iex').uploadPrealerts(multipart(form)).ok();
    expect(reply.data).toMatchObject({
      duplicate_rows: [3, 4, 5],
      existing: [
        { row: 3, ...of(first, false) },
        { row: 4, ...of(second, true) },
      ],
    });
  },
);
