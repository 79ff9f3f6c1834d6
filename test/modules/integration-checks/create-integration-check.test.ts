import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { failAbandonedChecks } from '../../../src/modules/integration-checks/checks.js';
import { makeOutboundClient } from '../../../src/platform/outbound/client.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { codesOf, startCheckRig, type CheckRig } from '../../support/checks/check-rig.js';
import { always, SECRET, simulate, TOKEN } from '../../support/checks/simulator.js';
import { withService } from '../../support/fixture/with-service.js';
import { hang } from '../../support/receivers/receiver.js';
import { until } from '../../support/service/processes.js';
import { waitingJobs } from '../../support/receivers/outbound.js';

const { IEX, HRB } = DEMO.couriers;
const fixture = withService();
const { api, db, service } = fixture;
let rig: CheckRig;

beforeAll(async () => {
  rig = await startCheckRig(fixture);
});
afterAll(() => rig.stop());
beforeEach(async () => {
  rig.receiver.received.length = 0;
  rig.receiver.answer = simulate();
  rig.stopping = new AbortController();
  await rig.setUrl();
  await db.query('delete from integration_checks');
  await db.query("delete from courier_quotas where kind = 'integration_checks'");
});

const request = (as = 'iex', body: object = {}) =>
  api.as(as).createIntegrationCheck({ endpoint: 'add_package', ...body });

describe('createIntegrationCheck', () => {
  test('queues one check per URL, with an audit entry and a job', async () => {
    const { data, message } = await request().ok();
    expect([data.status, data.verdict, message]).toEqual(['queued', null, 'The check was queued.']);
    const again = await request('admin', { courier_id: IEX }).ok();
    expect([again.data.check_id, again.message]).toEqual([
      data.check_id,
      'A check of this URL is already queued or running.',
    ]);
    const jobs = await waitingJobs(service().owner, 'checkIntegration');
    expect(jobs.map((job) => job['checkId'])).toContain(data.check_id);
    expect(await db.count('audit_entries', { action: 'courier.integration_checked' })).toBeGreaterThan(0);
    expect((await request('iex', { endpoint: 'update_package' }).ok()).data.check_id).not.toBe(data.check_id);
  });

  test('refuses the seventh check of an hour, also those of staff for the courier', async () => {
    for (let round = 0; round < 6; round += 1) {
      await request(round % 2 === 0 ? 'iex' : 'manager', { courier_id: IEX }).ok();
      await db.query("update integration_checks set status = 'failed', finished_at = now()");
    }
    await request().refused(429, 'quota_exceeded');
    await request('manager', { courier_id: IEX }).refused(429, 'quota_exceeded');
    expect(await db.count('integration_checks')).toBe(6);
  });

  test('refuses what has no URL', async () => {
    await db.query(
      'update couriers set api_url_add_package = null, api_url_get_customers = null where id = $1',
      [IEX],
    );
    await request().refused(400, 'endpoint_missing');
    await request('iex', { endpoint: 'get_customers' }).refused(400, 'sync_url_missing');
    await request('admin').refused(400, 'validation_failed');
    await request('admin', { courier_id: DEMO.couriers.TWO }).refused(404, 'courier_not_found');
    await request('warehouse', { courier_id: IEX }).refused(403, 'permission_denied');
  });
});

describe('a check', () => {
  test('sends at most ten requests, one of them with a wrong token, and each is a test', async () => {
    rig.receiver.answer = always({ status: 401, body: { error: 'no' } });
    const check = await rig.check();
    expect(check.requests.length).toBeLessThanOrEqual(10);
    rig.receiver.received.length = 0;
    rig.receiver.answer = simulate();
    await rig.check();
    const wrong = rig.receiver.received.filter(
      ({ headers }) => headers['authorization'] !== `Bearer ${TOKEN}`,
    );
    expect(wrong).toHaveLength(1);
    const [right] = rig.receiver.received;
    expect(wrong[0]?.headers['webhook-id']).not.toBe(right?.headers['webhook-id']);
    expect(wrong[0]?.body).not.toContain(TOKEN);
    expect(rig.receiver.received.filter(({ headers }) => headers['x-crossdock-test'] !== 'true')).toEqual([]);
  });

  test('shows no token and no secret of a response that repeats them, nor of the URL', async () => {
    const key = SECRET.replace('whsec_', '');
    rig.receiver.answer = (seen, response) =>
      response.writeHead(500).end(`${seen.headers['authorization']} ${key} ${seen.path}`);
    await rig.setUrl(`${rig.receiver.url}/hook?key=a-key-of-the-query`);
    const text = JSON.stringify(await rig.check());
    for (const secret of [TOKEN, key, 'a-key-of-the-query']) expect(text).not.toContain(secret);
    expect(text).toContain('key=***');
  });

  test('replaces the keys of the URL in the request with a wrong token', async () => {
    rig.receiver.answer = (seen, response) =>
      response.writeHead(seen.path.includes('a-key-of-the-query') ? 200 : 403).end('{"ok":true}');
    await rig.setUrl(`${rig.receiver.url}/hook?key=a-key-of-the-query`);
    expect(codesOf(await rig.check())).toEqual([]);
  });

  test('that a restart interrupts has no result, and is not executed again', async () => {
    rig.receiver.answer = hang;
    const { data } = await request().ok();
    const outbound = makeOutboundClient({ allowLoopback: true, dnsServers: [] });
    const running = rig.execute(data.check_id, outbound);
    await until(async () => rig.receiver.received.length === 1);
    rig.stopping.abort();
    await outbound.destroy();
    await running;
    expect(await rig.read(data.check_id)).toMatchObject({
      status: 'failed',
      verdict: null,
      findings: [],
      error: 'The service was restarted during the check. Request another one.',
    });
    rig.stopping = new AbortController();
    await rig.execute(data.check_id);
    expect(rig.receiver.received).toHaveLength(1);
  });

  test('that nobody executes is failed after ten minutes, so that another can start', async () => {
    const { data } = await request().ok();
    await db.query("update integration_checks set created_at = now() - interval '11 minutes'");
    const caller = { kind: 'system', tenantId: DEMO.tenants.demo } as const;
    await failAbandonedChecks(makeContext(service().db, caller, 'background'));
    expect(await rig.read(data.check_id)).toMatchObject({ status: 'failed', verdict: null });
    expect((await request().ok()).data.check_id).not.toBe(data.check_id);
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('listIntegrationChecks with %s', (_name, options) => {
  const isolated = withService(options);

  test('shows a courier its own checks, and a tenant its own', async () => {
    await isolated.db.query(
      `insert into integration_checks (tenant_id, id, courier_id, endpoint, status, finished_at)
       select tenant_id, new_id(), id, 'add_package', 'finished', now() from couriers`,
    );
    const couriersOf = async (as: string, query: object = {}) =>
      (
        await isolated.api
          .as(as)
          .listIntegrationChecks({ limit: 50, ...query })
          .ok()
      ).data.map(({ courier_id }) => courier_id);
    expect(await couriersOf('iex')).toEqual([IEX]);
    expect(await couriersOf('iex', { courier_id: HRB })).toEqual([IEX]);
    expect(await couriersOf('admin')).toEqual(expect.arrayContaining([IEX, HRB]));
    expect(await couriersOf('admin')).not.toContain(DEMO.couriers.TWO);
    expect(await couriersOf('two/admin')).not.toContain(IEX);
  });
});
