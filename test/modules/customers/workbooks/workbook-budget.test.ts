import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { makeOwnLimits } from '../../../../src/platform/limits/shared/shared-limits.js';
import { makeTimeBudget } from '../../../../src/platform/limits/time-budget.js';
import { textWorkbook } from '../../../support/workbooks/workbook-of.js';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

const { api } = withService(() => ({ workbooks: { hourMs: 1 } }));

const ROWS = [
  ['user_code', 'first_name', 'last_name'],
  ['W-1', 'Ann', 'Lee'],
];

test('reading the workbooks of a courier has a limit of time per hour, and those that are refused count', async () => {
  const refused = textWorkbook([['no', 'known', 'name', 'of', 'a', 'column'], ['x']]);
  const send = (
    user: 'iex' | 'hrb',
    operation: 'uploadCustomers' | 'uploadPrealerts',
    file: Buffer | string,
  ) => {
    const upload = api.as(user)[operation];
    return upload(multipart({ file: { file }, dry_run: 'true' })).answer();
  };
  expect((await send('iex', 'uploadPrealerts', refused)).status).toBe(400);
  for (const operation of ['uploadCustomers', 'uploadPrealerts'] as const) {
    const reply = await send('iex', operation, textWorkbook(ROWS));
    expect([reply.status, reply.code]).toEqual([429, 'quota_exceeded']);
    expect(reply.message).toMatch(/may take 0\.001 seconds per hour\. Save the sheet as CSV UTF-8/);
    expect(reply.headers.get('ratelimit-policy')).toContain(
      '"workbook-reading";q=1;qu="milliseconds";w=3600',
    );
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(3_000);
  }
  const csv = ROWS.map((cells) => cells.join(',')).join('\n');
  expect((await send('iex', 'uploadCustomers', csv)).status).toBe(200);
  expect((await send('hrb', 'uploadCustomers', textWorkbook(ROWS))).status).toBe(200);
});

test('until the work has ended, the most that it can take is counted, because it could end the process', async () => {
  const second = { policy: 'a-second', quota: 1_000, windowSeconds: 60, unit: 'milliseconds' } as const;
  const budget = makeTimeBudget(makeOwnLimits(), second, 'workbook_reading', second.quota);
  let end: () => void = () => undefined;
  const working = budget.spend('key', () => new Promise<void>((resolve) => (end = resolve)));
  await turn();
  await expect(budget.assertLeft('key')).rejects.toMatchObject({ code: 'quota_exceeded' });
  end();
  await working;
  await budget.assertLeft('key');
});
