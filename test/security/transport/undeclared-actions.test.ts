import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../src/development/demo/seed.js';
import {
  describeOperation,
  formShapes,
  operationIds,
  operationOf,
  parametersOf,
  bodyShapes,
} from '../../support/service/contract.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { ablest, addressOf, formCall } from '../../support/builders/inputs.js';
import { startService, type Call, type Reply, type Service } from '../../support/service/service.js';

const NONSENSE = 'launch_rocket';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

function expectNamed(reply: Reply): void {
  expect([reply.status, reply.body['code']]).toEqual([400, 'validation_failed']);
  expect(reply.body['errors']).toEqual([expect.objectContaining({ field: 'action', code: 'enum' })]);
}

/** A caller whose token, and with it a session, was made before anything is compared. */
async function credentialOf(id: (typeof operationIds)[number]): Promise<Call> {
  const { as, isFresh, ...caller } = ablest(id);
  if (!as) return caller;
  const host = as.startsWith('two/') ? { host: DEMO.hosts.two } : {};
  return { ...caller, ...host, token: await (isFresh ? service.freshTokenOf(as) : service.tokenOf(as)) };
}

/** `action` is a filter there, and may be any text. */
const isFilter = (id: (typeof operationIds)[number]) => id === 'listAuditLog';

describe('no operation accepts an action that it does not have, and none is done meanwhile', () => {
  test.each(operationIds.filter((id) => !isFilter(id)))('%s, in the query', async (id) => {
    const caller = await credentialOf(id);
    const before = await fingerprint(service.owner);
    const shape = bodyShapes().find((each) => each.id === id);
    const { query = {}, path = {} } = addressOf(id);
    const body = shape && (operationOf(id).bodyRequired || shape.action) ? { body: shape.example } : {};
    const form = formShapes().find((each) => each.id === id);
    const sent = shape ? body : form ? formCall(form.mediaType, form.example) : {};
    expectNamed(await service.call(id, { ...caller, path, ...sent, query: { ...query, action: NONSENSE } }));
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
    ...formShapes().map(({ id, mediaType, example }): [string, (action: string) => Call, typeof id] => [
      `${id} as ${mediaType}`,
      (action) => formCall(mediaType, { ...example, action }),
      id,
    ]),
  ];

  test.each(bodies)('%s, in the body', async (_name, callWith, id) => {
    const caller = await credentialOf(id);
    const before = await fingerprint(service.owner);
    expectNamed(await service.call(id, { ...caller, ...addressOf(id), ...callWith(NONSENSE) }));
    expect(await fingerprint(service.owner)).toEqual(before);
  });

  test('every operation is among them, with each of its media types', () => {
    const withBody = operationIds.filter((id) => operationOf(id).mediaTypes.length > 0);
    const types = withBody.flatMap((id) => operationOf(id).mediaTypes);
    expect(bodies.length).toBeGreaterThanOrEqual(types.length);
    expect(operationIds.filter(isFilter)).toHaveLength(1);
    expect(parametersOf('listAuditLog', 'query').map(({ name }) => name)).toContain('action');
  });

  test.each([[null], [''], [['regenerate_key']], [{}], [0]])('%j is no action either', async (action) => {
    for (const id of ['updatePackage', 'createManifest', 'updateCourierSettings'] as const) {
      const { example = {} } = bodyShapes().find((shape) => shape.id === id) ?? {};
      const reply = await service.call(id, {
        ...ablest(id),
        ...addressOf(id),
        body: { ...example, action },
      });
      expect([id, reply.status, reply.body['errors'][0].field]).toEqual([id, 400, 'action']);
    }
  });
});

describe('an action of a courier’s settings sent as JSON is done as the form’s is', () => {
  const query = { id: DEMO.couriers.HRB };
  const update = (call: Call) => service.call('updateCourierSettings', { as: 'admin', query, ...call });

  test('regenerate_key answers with a new key, which opens, and the one before does not', async () => {
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

  test('rotate_webhook_secret answers with a new secret', async () => {
    const reply = await update({ body: { action: 'rotate_webhook_secret' } });
    expect([reply.status, Object.keys(reply.body['data'])]).toEqual([200, ['webhook_secret']]);
  });

  test('once for one Idempotency-Key, with the answer repeated', async () => {
    const headers = { 'idempotency-key': 'json-regenerate-1' };
    const first = await update({ body: { action: 'regenerate_key' }, headers });
    const again = await update({ body: { action: 'regenerate_key' }, headers });
    expect(again.body['data']).toEqual(first.body['data']);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const settings = await service.call('getCourierSettings', { as: 'admin', query });
    expect(settings.body['data'].api_key).toBe(first.body['data'].api_key);
  });

  test('with a field of the profile it is 400, and neither is done', async () => {
    const before = await fingerprint(service.owner);
    const reply = await update({ body: { action: 'regenerate_key', courier_name: 'Other' } });
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field: 'courier_name', code: 'conflict' }] },
    });
    expect(await fingerprint(service.owner)).toEqual(before);
  });

  test('without an action the profile is updated', async () => {
    const reply = await update({ body: { phone_number2: '555' } });
    expect([reply.status, reply.body['data'].phone_number2]).toEqual([200, '555']);
  });

  test('the contract declares it', () => {
    const media = describeOperation('updateCourierSettings').requestBody?.content['application/json'];
    expect(media?.schema?.['properties']).toHaveProperty('action');
  });
});
