import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withFedexCheck } from '../../../../fixtures/reference/tracking-numbers.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { multipart } from '../../../support/fixture/sent.js';
import { warningOf } from '../../tracking-numbers/warnings/warning-of.js';
import { withService } from '../../../support/fixture/with-service.js';

// A text that stands for a missing number is stored, with a warning.

const { api, db } = withService();

const KEY = { key: DEMO.apiKeys.IEX };
const WARNING = {
  code: 'unlikely_number',
  message: expect.stringMatching(/has no digit|is the customer's code/),
};
const submission = (TrackingNumber: string) => ({ UserCode: 'IEX-1003', TrackingNumber });

test.each(['N/A', '-', 'TBD', 'NONE', 'pendiente', 'IEX-1003', 'iex 1003'])(
  'a submission of %s is stored and has a warning',
  async (number) => {
    const reply = await api
      .with({ ...KEY, body: submission(number) })
      .submitPrealert()
      .created();
    expect(reply.data).toMatchObject({ warnings: [WARNING] });
    await api.as('iex').deletePrealert({ prealert_id: reply.data.prealert_id }).ok();
    const fields = { tracking_number: number, user_code: 'IEX-1003', vendor: 'Shop' };
    const created = await api.as('iex').createPrealert(fields).created();
    expect(created.data).toMatchObject({ warnings: [WARNING] });
    await api.as('iex').deletePrealert({ prealert_id: created.data.prealert_id }).ok();
  },
);

test.each([',', ', ', ';', '/', ' | ', ' '])(
  'two numbers with %j between are stored or refused, but not in silence',
  async (sign) => {
    const numbers = ['9400111899223100701112', '9400111899223100702225'];
    const shop = ['TBA', 'TBA'].map((prefix, n) => `${prefix}12345678901${n}`);
    for (const each of [numbers, shop]) {
      const { status, code, body } = await api
        .with({ ...KEY, body: submission(each.join(sign)) })
        .submitPrealert()
        .answer();
      const warned = {
        warnings: [{ code: 'unlikely_number', message: expect.stringContaining('is several numbers') }],
      };
      if (status === 201) {
        expect(body['data']).toMatchObject(warned);
        await api
          .as('iex')
          .deletePrealert({ prealert_id: (body['data'] as { prealert_id: string }).prealert_id })
          .ok();
      } else expect([status, code]).toEqual([400, 'validation_failed']);
    }
  },
);

const ONE = [
  '757447467189 1/2',
  'ORDER 1234567890',
  '1234567890-1234567890',
  'PO/757447467189/A',
  '9400 1118 9922 3197 4284 90',
];

test.each(['IEX-1004', 'A1', newNumber(), ...ONE])('a submission of %s has none', async (number) => {
  const { data } = await api
    .with({ ...KEY, body: submission(number) })
    .submitPrealert()
    .created();
  expect(Object.keys(data)).toEqual(['prealert_id']);
});

test('a line of a batch has the warning', async () => {
  const lines = [submission('unknown'), submission(newNumber())];
  const body = lines.map((line) => JSON.stringify(line)).join('\n');
  const headers = { 'content-type': 'application/x-ndjson' };
  const { data } = await api
    .with({ ...KEY, body, headers })
    .submitPrealert()
    .succeeded();
  expect(data).toMatchObject({ created: 2, results: [{ status: 'created', warnings: [WARNING] }, {}] });
  expect(data.results[1]).not.toHaveProperty('warnings');
});

test.each(['true', 'false'])('an upload names the rows, with dry_run %s', async (dry_run) => {
  const rows = [`${newNumber()},IEX-1003`, 'to follow,IEX-1003', 'IEX-1005,IEX-1005'];
  const file = ['tracking_number,user_code', ...rows, ''].join('\n');
  const { data } = await api
    .as('iex')
    .uploadPrealerts(multipart({ file: { file }, dry_run }))
    .ok();
  expect(data).toMatchObject({
    created: 3,
    warnings: [
      { code: 'unlikely_number', message: expect.stringMatching(/^Row 3: .*to follow/), rows: [3, 4] },
    ],
  });
});

/** Stored without its zero, and only a part of a text. */
const DAMAGED = [
  [withFedexCheck('05744746718').slice(1), /may lack zeros in front.*: 05744746718\d \(FedEx\)/],
  ['INT9-WARNED\n12', /stored as INT9-WARNED, which is only a part of what was sent: "INT9-WARNED\\n12"/],
] as const;

describe.each(DAMAGED)('%j has the warning however it is announced', (number, message) => {
  const warnings = [{ code: 'unlikely_number', message: expect.stringMatching(message) }];
  const stored = number.replace(/\n.*/, '');

  async function removed(prealert_id: string): Promise<string> {
    const { tracking_number } = await db.prealert(prealert_id);
    await api.as('iex').deletePrealert({ prealert_id }).ok();
    return tracking_number;
  }

  test('as JSON and by a user', async () => {
    const reply = await api
      .with({ ...KEY, body: submission(number) })
      .submitPrealert()
      .created();
    expect(reply.data).toMatchObject({ warnings });
    expect(await removed(reply.data.prealert_id)).toBe(stored);
    const fields = { tracking_number: number, user_code: 'IEX-1003', vendor: 'Shop' };
    const { data } = await api.as('iex').createPrealert(fields).created();
    expect(data).toMatchObject({ warnings });
    expect(await removed(data.prealert_id)).toBe(stored);
  });

  test.each([false, true])('in lines, with atomic %s', async (atomic) => {
    const body = JSON.stringify(submission(number));
    const headers = { 'content-type': 'application/x-ndjson' };
    const { data } = await api
      .with({ ...KEY, body, headers, query: { atomic } })
      .submitPrealert()
      .succeeded();
    expect(data).toMatchObject({ created: 1, results: [{ warnings }] });
    expect(await removed(data.results[0]?.prealert_id ?? '')).toBe(stored);
  });

  test('in an upload', async () => {
    const file = `tracking_number,user_code\n"${number}",IEX-1003\n`;
    const { data } = await api
      .as('iex')
      .uploadPrealerts(multipart({ file: { file }, dry_run: 'true' }))
      .ok();
    expect(data).toMatchObject({ created: 1, warnings: [{ ...warnings[0], rows: [2] }] });
  });
});

test('no pre-alert of the demo data has a warning', async () => {
  const demo = (await db.all('prealerts')).filter(({ user_code }) => user_code !== 'IEX-1003');
  expect(demo.length).toBeGreaterThan(50);
  expect(demo.filter(({ tracking_number }) => warningOf(tracking_number))).toEqual([]);
});
