import { describe, expect, test } from '@jest/globals';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { failAbandonedRuns } from '../../../../src/modules/customers/sync/sync-run.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeOutboundClient } from '../../../../src/platform/outbound/client.js';
import { setSyncUrl, startSyncRig } from '../../../support/builders/customer-sync.js';
import { fingerprint } from '../../../support/readers/fingerprint.js';
import { freePort, until } from '../../../support/service/processes.js';
import { hang, respondForever } from '../../../support/receivers/receiver.js';
import { startService } from '../../../support/service/service.js';
import { makeApi } from '../../../support/fixture/api.js';
import { withCustomerSync } from './synced-customers.js';

const { IEX } = DEMO.couriers;

const { service, rig, requestSync, customersOf, customer } = withCustomerSync();

describe('failing targets', () => {
  async function expectFailed(words: RegExp, httpStatus: number | null): Promise<void> {
    const before = await customersOf(IEX);
    const run = await rig.sync();
    expect(run).toMatchObject({
      status: 'failed',
      http_status: httpStatus,
      error: expect.stringMatching(words),
      received: null,
      skipped: null,
      problems: [],
      finished_at: expect.any(String),
    });
    expect(await customersOf(IEX)).toEqual(before);
  }

  test.each([
    [301, /301.*Redirects are not followed/],
    [302, /302.*Redirects are not followed/],
    [400, /400\. Look for the error in the log/],
    [401, /401.*api_token/],
    [403, /403.*api_token/],
    [404, /404.*api_url_get_customers/],
    [405, /405.*api_url_get_customers/],
    [500, /500\. Look for the error in the log/],
    [503, /503\. Look for the error in the log/],
  ])('HTTP %s fails the run with a message that says what to change', async (status, words) => {
    rig.receiver.answer = (_request, response) =>
      response.writeHead(status, { location: `${rig.receiver.url}/elsewhere` }).end('[]');
    await expectFailed(words, status);
    // After 404 and 405 the request was repeated as POST.
    expect(rig.receiver.received).toHaveLength(status === 404 || status === 405 ? 2 : 1);
  });

  test('fails the run if the connection is refused', async () => {
    await setSyncUrl(service(), `http://127.0.0.1:${await freePort()}/customers`);
    await expectFailed(/./, null);
  });

  test('fails the run if the connection breaks off', async () => {
    rig.receiver.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('[{"user_code":"CUT"');
      setTimeout(() => response.destroy(), 50);
    };
    const run = await rig.sync();
    expect(run).toMatchObject({ status: 'failed', error: expect.any(String) });
    expect(await customer('CUT')).toBeUndefined();
  });

  test('stops reading an endless response after 20 MiB', async () => {
    rig.receiver.answer = respondForever;
    await expectFailed(/longer than 20 MiB/, 200);
  });

  test('times out after 30 seconds without a response', async () => {
    rig.receiver.answer = hang;
    const { run_id: runId } = (await requestSync().ok()).data;
    const real = makeOutboundClient({ allowLoopback: true, dnsServers: [] });
    const limits: number[] = [];
    await rig.work(runId, {
      ...real,
      send(request) {
        limits.push(request.timeoutMs);
        return real.send({ ...request, timeoutMs: 300 });
      },
    });
    await real.close();
    expect(limits).toEqual([30_000]);
    expect(await rig.runOf(runId)).toMatchObject({ status: 'failed', error: expect.any(String) });
  });

  test('does not call an address of a private network', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    const strict = makeOutboundClient({ allowLoopback: false, dnsServers: [] });
    await rig.work(runId, strict);
    await strict.close();
    expect(await rig.runOf(runId)).toMatchObject({ status: 'failed', http_status: null });
    expect(rig.receiver.received).toEqual([]);
  });

  test('fails the run if the URL was removed meanwhile', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    await setSyncUrl(service(), null);
    await rig.work(runId);
    expect(await rig.runOf(runId)).toMatchObject({
      status: 'failed',
      error: 'api_url_get_customers is no longer set.',
    });
  });
});

describe('run and job', () => {
  const ANN = { user_code: 'JOB-1', first_name: 'Ann', last_name: 'Lee' };

  test('the next worker restarts a run whose worker was killed', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    await service().owner.query(
      "update customer_sync_runs set status = 'running', started_at = now() - interval '5 minutes'",
    );
    rig.receiver.answer = (_request, response) => response.end(JSON.stringify([ANN]));
    await rig.work(runId);
    expect(await rig.runOf(runId)).toMatchObject({ status: 'succeeded', created: 1 });
  });

  test('a repeated job does nothing', async () => {
    const run = await rig.sync([ANN]);
    const before = await fingerprint(service().owner);
    await rig.work(run['run_id']);
    expect(rig.receiver.received).toHaveLength(1);
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('a database error fails the job but not the run, and the retry completes it', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    rig.receiver.answer = (_request, response) =>
      response.end(JSON.stringify([ANN, { ...ANN, user_code: 'JOB-2' }]));
    await service().owner.query(`create function break_it() returns trigger language plpgsql as
      $$ begin if new.user_code = 'JOB-2' then raise exception 'broken'; end if; return new; end $$;
      create trigger break_it before insert on customers for each row execute function break_it()`);
    await expect(rig.work(runId)).rejects.toThrow('broken');
    await service().owner.query('drop trigger break_it on customers; drop function break_it');
    expect(await rig.runOf(runId)).toMatchObject({ status: 'running', created: null });
    expect(await customer('JOB-1')).toBeUndefined();
    await rig.work(runId);
    expect(await rig.runOf(runId)).toMatchObject({ status: 'succeeded', created: 2 });
  });

  test('a run that was abandoned during the response stores nothing', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    rig.receiver.answer = (_request, response) => {
      void service()
        .owner.query(
          "update customer_sync_runs set status = 'failed', error = 'given up', finished_at = now()",
        )
        .then(() => response.end(JSON.stringify([ANN])));
    };
    await rig.work(runId);
    expect(await rig.runOf(runId)).toMatchObject({ status: 'failed', error: 'given up', created: null });
    expect(await customer('JOB-1')).toBeUndefined();
  });

  const failAbandoned = (tenantId: string) =>
    failAbandonedRuns(makeContext(service().db, { kind: 'system', tenantId }, 'a-job'));

  test('runs that are open for more than an hour are abandoned, and a new one can start', async () => {
    const { run_id: runId } = (await requestSync().ok()).data;
    const open = async (status: string, minutes: number, isStarted: boolean) => {
      await service().owner.query(
        `update customer_sync_runs set status = $1, created_at = now() - make_interval(mins => $2),
           started_at = case when $3 then now() - make_interval(mins => $2) end`,
        [status, minutes, isStarted],
      );
      return failAbandoned(DEMO.tenants.demo);
    };
    expect(await open('queued', 59, false)).toBe(0);
    expect(await open('running', 59, true)).toBe(0);
    expect(await open('succeeded', 90, true)).toBe(0);
    expect(await failAbandoned(DEMO.tenants.two)).toBe(0);
    for (const [status, isStarted] of [
      ['queued', false],
      ['running', true],
    ] as const) {
      expect(await open(status, 61, isStarted)).toBe(1);
      expect(await rig.runOf(runId)).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('did not end within an hour'),
        finished_at: expect.any(String),
      });
    }
    // A run that waited long and has just started.
    await service().owner.query(
      "update customer_sync_runs set status = 'running', created_at = now() - interval '2 hours', started_at = now()",
    );
    expect(await failAbandoned(DEMO.tenants.demo)).toBe(0);
    await service().owner.query("update customer_sync_runs set status = 'failed'");
    expect((await requestSync().ok()).message).toBe('Synchronisation queued.');
  });
});

test('a worker executes a requested synchronisation', async () => {
  const working = await startService({ worker: true });
  const system = await startSyncRig(working);
  try {
    system.receiver.answer = (_request, response) =>
      response.end(JSON.stringify([{ user_code: 'WORK-1', first_name: 'A', last_name: 'B' }]));
    const iex = makeApi(() => working).as('iex');
    const { run_id: runId } = (await iex.syncCustomers().ok()).data;
    await until(async () => (await system.runOf(runId))['status'] === 'succeeded', 30_000);
    expect(await system.runOf(runId)).toMatchObject({ http_status: 200, received: 1, created: 1 });
  } finally {
    await system.stop();
    await working.stop();
  }
}, 60_000);
