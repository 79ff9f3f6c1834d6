import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readConfig } from '../../src/config/config.js';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { insertEvent } from '../support/builders/deliveries.js';
import { findProgram, titleWith } from '../support/harness/programs.js';
import { startService, type Service } from '../support/service/service.js';

const { demo } = DEMO.tenants;
const { IEX } = DEMO.couriers;
const page = readFileSync(join(projectRoot, 'docs/site/pages/webhooks.md'), 'utf8');
const samples = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, code = '']) => code);
const sampleWith = (text: string) => samples.find((code) => code.includes(text)) ?? '';

let service: Service;

beforeAll(async () => {
  service = await startService();
  const body = {
    api_url_add_package: 'https://example.com/crossdock',
    api_url_update_package: 'https://example.com/crossdock',
  };
  expect(await service.call('updateCourierSettings', { as: 'iex', body })).toMatchObject({ status: 200 });
});

afterAll(() => service.stop());

const missing = ['bash', 'curl', 'date'].filter((name) => !findProgram(name));
const runs = missing.length === 0 ? test : test.skip;

async function paste(code: string): Promise<{ endpoints: { add_package: { selected: number } } }> {
  const values = `HOST=${service.url}\nTOKEN=${await service.freshTokenOf('iex')}\n`;
  const { stdout } = await promisify(execFile)('bash', ['-euc', values + code]);
  return JSON.parse(stdout).data;
}

/** Plants an event whose delivery has used all its attempts: it was created 28 hours ago and has just failed. */
async function plantFailed(): Promise<void> {
  const eventId = await insertEvent(service.owner, { age: '28 hours' });
  await service.owner.query(
    `insert into webhook_deliveries
       (tenant_id, id, event_id, courier_id, endpoint, origin, status, created_at, settled_at, next_attempt_at)
     values ($1, new_id(), $2, $3, 'add_package', 'event', 'failed', now() - interval '28 hours', now(), null)`,
    [demo, eventId, IEX],
  );
}

runs(titleWith('the sample of redeliver_matching finds what failed today', missing), async () => {
  await plantFailed();
  const { endpoints } = await paste(sampleWith('redeliver_matching'));
  expect(endpoints.add_package.selected).toBe(1);
});

runs(
  titleWith('the sample of recover_since finds what was missed since the time that it names', missing),
  async () => {
    await plantFailed();
    const code = sampleWith('recover_since');
    const began = new Date(Date.now() - 29 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
    const changed = code.replace(/(?<=^OUTAGE_BEGAN=)'.*'$/m, `'${began}'`);
    expect(changed).not.toBe(code);
    expect((await paste(changed)).endpoints.add_package.selected).toBeGreaterThan(0);
  },
);

runs(titleWith('the sample that removes a URL removes it, and leaves the other', missing), async () => {
  await paste(sampleWith('"api_url_update_package":""'));
  const { body } = await service.call('getCourierSettings', { as: 'iex' });
  expect(body['data']).toMatchObject({
    api_url_add_package: 'https://example.com/crossdock',
    api_url_update_package: null,
  });
});

test('the samples of a replay begin before the hours that all attempts take', () => {
  const hours = page.match(/only after its last attempt, about (\d+) hours later/)?.[1];
  const { webhookRetrySeconds: seconds } = readConfig({ APP_ENV: 'development' });
  expect(Number(hours)).toBe(Math.round(seconds.reduce((sum, each) => sum + each) / 3600));
});
