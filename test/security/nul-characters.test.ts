import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { CUSTOMERS, newNumber } from '../support/builders/parcels.js';
import { startService, type Service } from '../support/service/service.js';

// PostgreSQL stores no text with U+0000 or half a surrogate pair. Neither may reach it from any column.

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

const HOSTILE = [
  ['U+0000', '\u0000'],
  ['a lone high surrogate', '\ud83d'],
  ['a lone low surrogate', '\ude00'],
] as const;

const COLUMNS = ['tracking_number', 'user_code', 'vendor', 'description', 'reference'] as const;

const around = (value: string, mark: string) => [
  mark + value,
  value + mark,
  value.slice(0, 2) + mark + value.slice(2),
];

const valid = (): Record<(typeof COLUMNS)[number], string> => ({
  tracking_number: newNumber(),
  user_code: CUSTOMERS.IEX,
  vendor: 'Shop',
  description: 'Shoes',
  reference: 'R-1',
});

test.each(HOSTILE)('no column of an upload of pre-alerts fails with %s', async (_name, mark) => {
  for (const column of COLUMNS)
    for (const dry_run of ['true', 'false'])
      for (const place of [0, 1, 2]) {
        const row = valid();
        row[column] = around(row[column], mark)[place] ?? '';
        const file = `${COLUMNS.join(',')}\n${COLUMNS.map((name) => `"${row[name]}"`).join(',')}\n`;
        const { status } = await service.call('uploadPrealerts', {
          as: 'iex',
          form: { file: { file }, dry_run },
        });
        expect([column, place, status < 500]).toEqual([column, place, true]);
      }
});

test.each(HOSTILE)('no field of a pre-alert, a line or a scan fails with %s', async (_name, mark) => {
  const key = DEMO.apiKeys.IEX;
  for (const text of around(newNumber(), mark)) {
    const body = { UserCode: CUSTOMERS.IEX, TrackingNumber: text };
    const headers = { 'content-type': 'application/x-ndjson' };
    const replies = [
      await service.call('submitPrealert', { key, body }),
      await service.call('submitPrealert', { key, body: JSON.stringify(body), headers }),
      await service.call('submitPrealert', { key, body: { ...body, UserCode: text } }),
      await service.call('receivePackage', { as: 'warehouse', body: { tracking_number: text, weight: 1 } }),
      await service.call('resolveScan', { as: 'warehouse', body: { scan: text } }),
    ];
    expect(replies.map(({ status }) => status < 500)).toEqual([true, true, true, true, true]);
  }
});
