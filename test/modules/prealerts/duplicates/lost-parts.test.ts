import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { multipart, unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeBatchCalls } from '../batches/batch-calls.js';

// What a pre-alert has besides its number, or under another name, is not lost in silence.

const { api } = withService();
const { resultsOf } = makeBatchCalls(api);
const submit = (body: object) => api.withKey(DEMO.apiKeys.IEX).submitPrealert(unchecked(body));
const submission = (TrackingNumber: string, more: object = {}) => ({
  UserCode: 'IEX-1001',
  TrackingNumber,
  ...more,
});

const FIRST = '1Z999AA10123456784';
/** A second number whose check digit is wrong, so that it is a part that is not used. */
const WITH_SECOND = `${FIRST};1Z999AA10123456795`;

test('a duplicate with a second number says that only a part of it is announced', async () => {
  await submit(submission(FIRST)).created();
  const refused = await submit(submission(WITH_SECOND)).refused(409, 'duplicate_tracking_number');
  expect(refused.message).toContain(`the tracking number ${FIRST}, which is only a part of what you sent`);
  expect(refused.existing).toMatchObject({ user_code: 'IEX-1001', differs: false });
  const plain = await submit(submission(FIRST)).refused(409, 'duplicate_tracking_number');
  expect(plain.message).not.toContain('part');
  const results = await resultsOf([submission(WITH_SECOND), submission(FIRST)]);
  expect(results.map(({ message }) => /only a part/.test(message))).toEqual([true, false]);
});

test('a row of a file that repeats a number with a second one has a warning', async () => {
  const number = '1Z5R89390357567127';
  const rows = [`${number},IEX-1001,Shop`, `${number};1Z5R89390357567139,IEX-1001,Shop`];
  const file = { file: ['tracking_number,user_code,vendor', ...rows, ''].join('\n') };
  const { data } = await api.as('iex').uploadPrealerts(multipart({ file })).ok();
  expect(data).toMatchObject({ created: 1, repeated: 1 });
  expect(data.warnings).toMatchObject([{ code: 'unlikely_number', rows: [3] }]);
});

test('fields with another spelling of their names are named in a warning', async () => {
  const body = submission(newNumber(), { reference: 'R-1', vendor: 'Shop', DESCRIPTION: 'x', order_id: 7 });
  const { data } = await submit(body).created();
  const warning = {
    code: 'ignored_field',
    message:
      'Not stored, because names are case-sensitive: reference (did you mean Reference?), vendor (did you mean Vendor?), DESCRIPTION (did you mean Description?).',
  };
  expect(data).toMatchObject({ warnings: [warning] });
  const both = await submit(submission('N/A 1', { Reference: 'R', reference: 'R-2', order_id: 7 })).created();
  expect(JSON.stringify(both.data)).not.toContain('ignored_field');
  expect(await resultsOf([{ ...body, TrackingNumber: newNumber() }])).toMatchObject([
    { status: 'created', warnings: [warning] },
  ]);
  const fields = { tracking_number: newNumber(), user_code: 'IEX-1001', vendor: 'Shop', Description: 'x' };
  const created = await api.as('iex').createPrealert(unchecked(fields)).created();
  expect(created.data).toMatchObject({ warnings: [{ code: 'ignored_field' }] });
});

test('of hundreds of misspelled names the first twenty are named', async () => {
  const spellings = Array.from({ length: 400 }, (_, n) =>
    'd'.concat('_'.repeat(n % 20), 'escription', '-'.repeat(n / 20)),
  );
  const names = Object.fromEntries(spellings.map((name) => [name, 'x']));
  const { data } = await submit(submission(newNumber(), names)).created();
  const { message } = (data as { warnings: { message: string }[] }).warnings[0] ?? { message: '' };
  expect(message.match(/did you mean/g)).toHaveLength(20);
});

test('a number without a digit and a misspelled field are two warnings', async () => {
  const { data } = await submit(submission('PENDING', { reference: 'R' })).created();
  expect(data).toMatchObject({ warnings: [{ code: 'unlikely_number' }, { code: 'ignored_field' }] });
});
