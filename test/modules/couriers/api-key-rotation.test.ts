import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { ask, type Answer } from '../../support/service/client.js';
import { endProcesses, startReplica as startProcess } from '../../support/service/processes.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { multipart, urlencoded } from '../../support/fixture/sent.js';
import { startSecondServer } from '../../support/fixture/second-server.js';

const { api, service } = withService();
let serial = 0;

const regenerate = (as = 'iex', query: Record<string, string> = {}) =>
  api.as(as).updateCourierSettings(urlencoded({ action: 'regenerate_key' }), { query });

const keyOf = ({ body }: Reply) => String(body['data'].api_key);

const submission = () => ({ UserCode: 'IEX-1001', TrackingNumber: `ROT-${(serial += 1)}` });

const submit = (key: string) => api.withKey(key).submitPrealert(submission());

describe('API key rotation', () => {
  test('returns 64 hex digits that the profile shows and that replace the old key at once', async () => {
    const old = (await api.as('iex').getCourierSettings().ok()).data.api_key;
    await submit(old ?? '').created();
    const reply = await regenerate().answer();
    expect(reply).toMatchObject({
      status: 200,
      body: { data: { api_key: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    });
    expect(keyOf(reply)).not.toBe(old);
    expect((await api.as('iex').getCourierSettings().ok()).data.api_key).toBe(keyOf(reply));
    await submit(old ?? '').refused(403, 'key_invalid');
    await submit(keyOf(reply)).created();
  });

  test('accepts a multipart form, and staff may rotate the key of a named courier', async () => {
    const form = { action: 'regenerate_key' };
    const own = await api.as('iex').updateCourierSettings(multipart(form)).answer();
    await submit(keyOf(own)).created();
    const named = await regenerate('manager', { id: DEMO.couriers.IEX }).answer();
    expect(await submit(keyOf(own)).status()).toBe(403);
    await submit(keyOf(named)).created();
    expect(await regenerate('admin').status()).toBe(400);
  });

  test('does not change the keys of other couriers', async () => {
    await regenerate('iex', { id: DEMO.couriers.HRB }).ok();
    const body = { UserCode: 'HRB-2001', TrackingNumber: 'ROT-HRB' };
    await api.withKey(DEMO.apiKeys.HRB).submitPrealert(body).created();
  });

  test('stores the key encrypted and keeps it out of the audit log', async () => {
    const key = keyOf(await regenerate().answer());
    const { rows } = await service().owner.query<{ courier: string; audit: string; last: object }>(
      `select (select row_to_json(c)::text from couriers c where id = $1) as courier,
         (select string_agg(row_to_json(a)::text, ' ') from audit_entries a) as audit,
         (select json_build_object('action', action, 'actor', actor_id, 'before', before, 'after', after)
          from audit_entries where entity_id = $1 order by id desc limit 1) as last`,
      [DEMO.couriers.IEX],
    );
    expect(rows[0]?.courier).not.toContain(key);
    expect(rows[0]?.audit).not.toContain(key);
    expect(rows[0]?.last).toEqual({
      action: 'courier.key_regenerated',
      actor: DEMO.users.iex,
      before: null,
      after: null,
    });
  });
});

const CALLERS = rounds(40, 100);

test(`of ${CALLERS} simultaneous rotations, exactly one returned key works in the end`, async () => {
  const replies = await Promise.all(
    Array.from({ length: CALLERS }, () => untilAdmitted(() => regenerate().answer())),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(CALLERS);
  const keys = replies.map(keyOf);
  expect(new Set(keys).size).toBe(CALLERS);
  const statuses = await Promise.all(keys.map((key) => untilAdmitted(() => submit(key).answer())));
  const working = keys.filter((_, index) => statuses[index]?.status === 201);
  expect(working).toHaveLength(1);
  expect(statuses.filter(({ status }) => status === 403)).toHaveLength(CALLERS - 1);
  const { data } = await api.as('iex').getCourierSettings().answer();
  expect(data.api_key).toBe(working[0]);
});

test('keys and tokens do not appear in the log at any level', async () => {
  const talkative = await startProcess({
    DATABASE_URL: String((service().owner.options as pg.PoolConfig).connectionString),
    LOG_LEVEL: 'trace',
  });
  try {
    const headers = { authorization: `Bearer ${await service().tokenOf('iex')}` };
    const path = '/api/CourierSettingsAPI.php';
    const token = 'token-that-nobody-logs';
    const question = { method: 'POST', path, headers };
    expect((await ask(talkative.url, { ...question, body: { api_token: token } })).status).toBe(200);
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
    const reply = await ask(talkative.url, { ...question, headers: form, raw: 'action=regenerate_key' });
    // The contract defines this shape of a new key.
    const { data } = JSON.parse(reply.text) as { data: { api_key: string } };
    expect((await ask(talkative.url, { path, headers })).text).toContain(data.api_key);
    await ask(talkative.url, { ...question, body: { api_token: `${token}\n` } });
    await talkative.stop();
    expect(talkative.output()).toContain('CourierSettingsAPI');
    for (const secret of [data.api_key, token]) expect(talkative.output()).not.toContain(secret);
  } finally {
    await endProcesses();
  }
});

describe('on another replica', () => {
  let url: string;
  let close: () => Promise<void>;

  beforeAll(async () => {
    ({ url, close } = await startSecondServer(service(), 10));
  });

  afterAll(() => close());

  test('every request that begins after the response to a rotation gets 403 for the old key', async () => {
    const ROUNDS = 5;
    const SUBMITTERS = 4;
    for (let round = 0; round < ROUNDS; round += 1) {
      const old = keyOf(await regenerate().answer());
      let repliedAtMs = Infinity;
      const seen: { beganMs: number; status: number }[] = [];
      const hammer = async () => {
        for (let after = 0; after < 5;) {
          const beganMs = performance.now();
          const { status }: Answer = await ask(url, {
            method: 'POST',
            path: '/api/Prealert.php',
            headers: { 'x-api-key': old },
            body: submission(),
          });
          seen.push({ beganMs, status });
          if (beganMs > repliedAtMs) after += 1;
        }
      };
      const hammering = Promise.all(Array.from({ length: SUBMITTERS }, hammer));
      while (seen.length < 20) await new Promise((resolve) => setImmediate(resolve));
      await regenerate().ok();
      repliedAtMs = performance.now();
      await hammering;
      const late = seen.filter(({ beganMs }) => beganMs > repliedAtMs);
      expect(late.length).toBeGreaterThanOrEqual(5 * SUBMITTERS);
      expect(late.filter(({ status }) => status !== 403)).toEqual([]);
      expect(seen.filter(({ status }) => status === 201).length).toBeGreaterThan(10);
    }
  });
});
