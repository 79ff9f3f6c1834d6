import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { CUSTOMERS } from '../../../support/builders/parcels.js';
import { multipart, unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

// A FedEx number of 14 digits and the 12 in which it ends may be two parcels (decision 0104). A file counts as the lines of a batch do.

const { api } = withService();

/** Numbers of 12 digits, and two of 14 that end in them, with right check digits. */
const FAMILIES = [
  ['700000046663', '13700000046663', '26700000046663'],
  ['700000124433', '26700000124433', '13700000124433'],
] as const;
const LABEL = '9622001912345678901213700000202203';

const upload = (lines: [number: string, code: string][], dry_run: 'true' | 'false' = 'false') =>
  api
    .as('iex')
    .uploadPrealerts(
      multipart({ dry_run, file: { file: ['tracking_number,user_code', ...lines.map(String)].join('\n') } }),
    )
    .answer();

/** Another courier announces the same numbers. */
const submit = (numbers: string[]) =>
  api
    .withKey(DEMO.apiKeys.HRB)
    .submitPrealert(
      unchecked(
        numbers
          .map((TrackingNumber) => JSON.stringify({ UserCode: CUSTOMERS.HRB, TrackingNumber }))
          .join('\n'),
      ),
      { headers: { 'content-type': 'application/x-ndjson' } },
    )
    .answer();

test.each([
  ['from the 12 digits on', FAMILIES[0], 'IEX-1001'],
  ['from 14 digits on, for two customers', FAMILIES[1].toReversed(), 'IEX-1002'],
])('the numbers of three parcels are three pre-alerts, %s', async (_order, numbers, other) => {
  const { body: reply } = await api
    .as('iex')
    .createCustomer({ user_code: `TWO-${other}`, first_name: 'Second', last_name: 'Customer' })
    .answer();
  expect(reply['status']).toBe('success');
  const lines = numbers.map((number, n): [string, string] => [number, n === 1 ? `TWO-${other}` : 'IEX-1001']);
  const counts = { status: 200, data: { created: 3, duplicate: 0, repeated: 0 } };
  expect(await upload(lines, 'true')).toMatchObject(counts);
  expect(await upload(lines)).toMatchObject(counts);
  expect(await submit([...numbers])).toMatchObject({ status: 200, data: { created: 3, duplicate: 0 } });
});

test('a label and the number inside it are one pre-alert', async () => {
  const numbers = [LABEL, LABEL.slice(-14)];
  const lines = numbers.map((number): [string, string] => [number, 'IEX-1001']);
  expect(await upload(lines)).toMatchObject({ data: { created: 1, duplicate: 0, repeated: 1 } });
  expect(await submit(numbers)).toMatchObject({ data: { created: 1, duplicate: 1 } });
});
