import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { NDJSON } from '../../../src/platform/contract/types.js';
import {
  describeOperation,
  formShapes,
  operationIds,
  operationOf,
  parametersOf,
  bodyShapes,
} from '../../support/service/contract.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { mostPrivilegedCaller, addressOf, formCall } from '../../support/builders/inputs.js';
import { startService, type Call, type Reply, type Service } from '../../support/service/service.js';

const UNDECLARED = 'launch_rocket';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

function expectNamed(reply: Reply): void {
  expect([reply.status, reply.body['code']]).toEqual([400, 'validation_failed']);
  expect(reply.body['errors']).toEqual([expect.objectContaining({ field: 'action', code: 'enum' })]);
}

/** Returns credentials whose session exists before the database is compared. */
async function credentialOf(id: (typeof operationIds)[number]): Promise<Call> {
  const { as, isFresh, ...caller } = mostPrivilegedCaller(id);
  if (!as) return caller;
  const host = as.startsWith('two/') ? { host: DEMO.hosts.two } : {};
  return { ...caller, ...host, token: await (isFresh ? service.freshTokenOf(as) : service.tokenOf(as)) };
}

/** There `action` is a filter and accepts any text. */
const isFilter = (id: (typeof operationIds)[number]) => id === 'listAuditEntries';

describe('no operation accepts an undeclared action, and the request changes nothing', () => {
  test.each(operationIds.filter((id) => !isFilter(id)))('%s rejects it in the query', async (id) => {
    const caller = await credentialOf(id);
    const before = await fingerprint(service.owner);
    const shape = bodyShapes().find((each) => each.id === id);
    const { query = {}, path = {} } = addressOf(id);
    const body = shape && (operationOf(id).bodyRequired || shape.action) ? { body: shape.example } : {};
    const form = formShapes().find((each) => each.id === id);
    const sent = shape ? body : form ? formCall(form.mediaType, form.example) : {};
    expectNamed(
      await service.call(id, { ...caller, path, ...sent, query: { ...query, action: UNDECLARED } }),
    );
    expect(await fingerprint(service.owner)).toEqual(before);
  });

  const bodies: [string, (action: string) => Call, (typeof operationIds)[number]][] = [
    ...bodyShapes()
      .filter(({ id, action }, index, all) => all.findIndex((each) => each.id === id) === index || !action)
      .map(({ id, example }): [string, (action: string) => Call, typeof id] => [
        id,
        (action) => ({ body: { ...example, action } }),
        id,
      ]),
    ...bodyShapes()
      .filter(({ id }) => operationOf(id).lineLimits)
      .map(({ id, example }): [string, (action: string) => Call, typeof id] => [
        `${id} as a line`,
        (action) => ({
          query: { atomic: true },
          body: JSON.stringify({ ...example, action }),
          headers: { 'content-type': NDJSON },
        }),
        id,
      ]),
    ...formShapes().map(({ id, mediaType, example }): [string, (action: string) => Call, typeof id] => [
      `${id} as ${mediaType}`,
      (action) => formCall(mediaType, { ...example, action }),
      id,
    ]),
  ];

  test.each(bodies)('%s rejects it in the body', async (_name, callWith, id) => {
    const caller = await credentialOf(id);
    const before = await fingerprint(service.owner);
    expectNamed(await service.call(id, { ...caller, ...addressOf(id), ...callWith(UNDECLARED) }));
    expect(await fingerprint(service.owner)).toEqual(before);
  });

  test('every operation is tested with each of its media types', () => {
    const withBody = operationIds.filter((id) => operationOf(id).mediaTypes.length > 0);
    const types = withBody.flatMap((id) => operationOf(id).mediaTypes);
    expect(bodies.length).toBeGreaterThanOrEqual(types.length);
    expect(operationIds.filter(isFilter)).toHaveLength(1);
    expect(parametersOf('listAuditEntries', 'query').map(({ name }) => name)).toContain('action');
  });

  test.each([[null], [''], [['regenerate_key']], [{}], [0]])('%j is not an action either', async (action) => {
    for (const id of ['updatePackage', 'createManifest', 'updateCourierSettings'] as const) {
      const { example = {} } = bodyShapes().find((shape) => shape.id === id) ?? {};
      const reply = await service.call(id, {
        ...mostPrivilegedCaller(id),
        ...addressOf(id),
        body: { ...example, action },
      });
      expect([id, reply.status, reply.body['errors'][0].field]).toEqual([id, 400, 'action']);
    }
  });
});

describe('actions of courier settings sent as JSON work like those sent as forms', () => {
  const query = { id: DEMO.couriers.HRB };
  const update = (call: Call) => service.call('updateCourierSettings', { as: 'admin', query, ...call });

  test('regenerate_key returns a new key that works, and the old key is rejected', async () => {
    const first = await update({ body: { action: 'regenerate_key' } });
    expect(first.status).toBe(200);
    const key = String(first.body['data'].api_key);
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(first.body['data'])).toEqual(['api_key']);
    const announce = (apiKey: string) =>
      service.call('submitPrealert', {
        key: apiKey,
        body: { UserCode: 'HRB-2001', TrackingNumber: `JSONKEY${apiKey.slice(0, 6)}` },
      });
    expect((await announce(key)).status).toBe(201);
    expect((await announce(DEMO.apiKeys.HRB)).status).toBe(403);
  });

  test('rotate_webhook_secret returns a new secret', async () => {
    const reply = await update({ body: { action: 'rotate_webhook_secret' } });
    expect([reply.status, Object.keys(reply.body['data'])]).toEqual([
      200,
      ['webhook_secret', 'webhook_previous_secret_id'],
    ]);
  });

  test('an action is executed at most once per Idempotency-Key, and the stored response is returned', async () => {
    const headers = { 'idempotency-key': 'json-regenerate-1' };
    const first = await update({ body: { action: 'regenerate_key' }, headers });
    const again = await update({ body: { action: 'regenerate_key' }, headers });
    expect(again.body['data']).toEqual(first.body['data']);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const settings = await service.call('getCourierSettings', { as: 'admin', query });
    expect(settings.body['data'].api_key).toBe(first.body['data'].api_key);
  });

  test('an action together with a profile field is rejected with 400, and neither is executed', async () => {
    const before = await fingerprint(service.owner);
    const reply = await update({ body: { action: 'regenerate_key', courier_name: 'Other' } });
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field: 'courier_name', code: 'conflict' }] },
    });
    expect(await fingerprint(service.owner)).toEqual(before);
  });

  test('the profile is updated if there is no action', async () => {
    const reply = await update({ body: { phone_number2: '555' } });
    expect([reply.status, reply.body['data'].phone_number2]).toEqual([200, '555']);
  });

  test('the contract declares the action', () => {
    const media = describeOperation('updateCourierSettings').requestBody?.content['application/json'];
    expect(media?.schema?.['properties']).toHaveProperty('action');
  });
});
