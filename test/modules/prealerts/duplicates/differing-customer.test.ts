import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';

// The message alone says whether a refused pre-alert was stored before, and its cure can be followed.

const { api } = withService();

const submit = (body: object, headers: Record<string, string> = {}) =>
  api.with({ key: DEMO.apiKeys.IEX, body, headers }).submitPrealert();
const submission = (TrackingNumber: string, UserCode: string) => ({ UserCode, TrackingNumber });

const DIFFERS =
  'This tracking number is already announced for customer IEX-1001. Your pre-alert for another customer was not stored. Check which customer is right.';
const SAME =
  'The courier already has a pre-alert with this tracking number. Do not send it again. Find it in the list.';

test('the 409 of another customer names the stored one, and that of the same customer does not', async () => {
  const number = newNumber();
  await submit(submission(number, 'IEX-1001')).created();
  const other = await submit(submission(number, 'IEX-1002')).answer();
  expect(other).toMatchObject({ status: 409, body: { message: DIFFERS, existing: { differs: true } } });
  const same = await submit(submission(number, 'IEX-1001')).answer();
  expect(same).toMatchObject({ status: 409, body: { message: SAME, existing: { differs: false } } });
});

const sendLines = (number: string, atomic: string) =>
  api
    .with({
      key: DEMO.apiKeys.IEX,
      query: { atomic },
      body: ['IEX-1002', 'IEX-1001'].map((code) => JSON.stringify(submission(number, code))).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    })
    .submitPrealert()
    .answer();

test('lines of a batch have the same messages', async () => {
  const number = newNumber();
  await submit(submission(number, 'IEX-1001')).created();
  const { body } = await sendLines(number, 'false');
  expect(body['data']).toMatchObject({
    results: [
      { status: 'duplicate', message: DIFFERS },
      { status: 'duplicate', message: SAME },
    ],
  });
});

test('an atomic batch tells the two kinds of duplicates apart', async () => {
  const number = newNumber();
  await submit(submission(number, 'IEX-1001')).created();
  const reply = await sendLines(number, 'true');
  expect(reply).toMatchObject({ status: 409, body: { code: 'duplicate_tracking_number' } });
  expect(reply.body['errors']).toMatchObject([
    {
      row: 1,
      message:
        'Row 1: TrackingNumber is already announced for customer IEX-1001. Check which customer is right.',
    },
    { row: 2, message: 'Row 2: TrackingNumber was already announced. Leave this pre-alert out.' },
  ]);
});

test('a user who creates or replaces a pre-alert gets it too', async () => {
  const [number, free] = [newNumber(), newNumber()];
  await submit(submission(number, 'IEX-1001')).created();
  const own = await submit(submission(free, 'IEX-1002')).created();
  const fields = { tracking_number: number, user_code: 'IEX-1002', vendor: 'Shop' };
  const created = await api.as('iex').createPrealert(fields).answer();
  const { prealert_id } = own.data;
  const replaced = await api
    .as('iex')
    .replacePrealert({ ...fields, prealert_id })
    .answer();
  expect([created.body['message'], replaced.body['message']]).toEqual([DIFFERS, DIFFERS]);
});

test('the cure: the listed record is sent back with the right customer, also without vendor and description', async () => {
  const number = newNumber();
  const first = await submit(submission(number, 'IEX-1001')).created();
  const refused = await submit(submission(number, 'IEX-1002')).answer();
  const { prealert_id } = refused.body['existing'] as { prealert_id: string };
  expect(prealert_id).toBe(first.data.prealert_id);
  const { data } = await api.as('iex').listPrealerts({ search: number }).ok();
  const [listed] = data;
  expect(listed).toMatchObject({ prealert_id, vendor: null, description: null });
  const vendor = listed?.vendor ?? null;
  const replacement = { prealert_id, tracking_number: number, user_code: 'IEX-1002', vendor };
  const reply = await api
    .as('iex')
    .replacePrealert({ ...replacement, description: null })
    .ok();
  expect(reply.data).toMatchObject({ user_code: 'IEX-1002', vendor: null, description: null });
});

test('a replacement must still name the vendor, and a blank one is refused', async () => {
  const tracking_number = newNumber();
  const { data } = await submit(submission(tracking_number, 'IEX-1001')).created();
  const body = { prealert_id: data.prealert_id, tracking_number, user_code: 'IEX-1001' };
  const send = (fields: object) => api.with({ as: 'iex', body: { ...body, ...fields } }).replacePrealert();
  expect(await send({}).status()).toBe(400);
  expect(await send({ vendor: ' ' }).status()).toBe(400);
});
