import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Schema } from '../../src/platform/contract/bundle.js';
import { NDJSON, type OperationId } from '../../src/platform/contract/types.js';
import type { EncryptionContext } from '../../src/platform/access/secrets.js';
import { demoId } from '../../fixtures/demo/values/ids.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import {
  describeOperation,
  operationIds,
  operationOf,
  withFiles,
  type Body,
  type ObjectSchema,
} from '../support/service/contract.js';
import { addressOf, formCall } from '../support/builders/inputs.js';
import { startService, type Call, type Reply, type Service } from '../support/service/service.js';
import { matching } from '../support/assertions/matching.js';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const IEX = DEMO.couriers.IEX;
const UPPER_CASE_ID = matching(
  /[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-(?=[0-9]*[A-F])[0-9A-F]{12}/,
  DEMO.couriers.IEX.toUpperCase(),
);

/** Optional ids that no example of the contract contains. */
const OPTIONAL_IDS: Body = { target_courier_id: IEX };

const { primary } = DEMO.warehouses;
const carrier = demoId('demo', 'carrier', 1);
const manager = '01930a3e-7c1d-7e11-9c5a-2f4b8d6e0b02';
const nobody = '01930a3e-7c1d-7e11-9c5a-2f4b8d6effff';

/** Bodies with ids that no example of a JSON body contains. */
const EXTRA: Partial<Record<OperationId, Body[]>> = {
  receivePackage: [
    { tracking_number: 'CASE1', weight: 1, courier_id: IEX, carrier_id: carrier, warehouse_id: primary },
  ],
  listPackages: [{ courierID: IEX, carrierID: carrier, manifest_id: DEMO.manifests.draft }],
  queueDispatch: [{ courierID: IEX, carrierID: carrier, manifest_id: DEMO.manifests.draft }],
  createManifest: [{ warehouse_id: primary }],
  manageManifest: [{ action: 'create_manifest', warehouse_id: primary }],
  reviewPrealert: [{ prealert_id: nobody, action: 'assign', package_id: nobody }],
  reviewParcelClaim: [
    { action: 'approve', claim_id: nobody, package_id: nobody, reason: 'R' },
    { action: 'resolve', prealert_id: nobody, package_id: nobody, reason: 'R' },
  ],
  manageBillingRun: [
    { action: 'draft', month: '2015-01', service_type: 'Air', after: nobody },
    { action: 'publish', month: '2015-01', after: nobody },
    { action: 'send', month: '2015-01', after: nobody },
  ],
  manageSessions: [
    { action: 'end', session_id: nobody, user_id: manager },
    { action: 'end_all', user_id: manager },
  ],
  manageWebhookDeliveries: [
    { action: 'redeliver_matching', from: '2026-01-01 00:00:00', courier_id: IEX, package_id: nobody },
  ],
};

/** Formats of the same records that take less time to render than the default. */
const QUICK_FORMATS: Partial<Record<OperationId, Body>> = {
  downloadCourierBill: { format: 'csv' },
  getManifestDocument: { format: 'csv' },
  getPackageLabel: { format: 'zpl' },
};

type Request = {
  id: OperationId;
  name: string;
  as: Call;
  query: Body;
  path: Body;
  body?: Body;
  mediaType?: string;
};

function callerOf(id: OperationId, name: string): Call {
  const { credential } = operationOf(id);
  // The examples end their caller's sessions, and all other requests are sent by admin or iex.
  if (id === 'manageSessions' && name !== '') return { as: 'hrb' };
  if (credential === 'none') return {};
  return credential === 'key'
    ? { key: DEMO.apiKeys.IEX }
    : { as: name.startsWith('courier') ? 'iex' : 'admin' };
}

/** Every body example of the contract, and every operation without a body with all its parameters. */
const requests: Request[] = operationIds.flatMap((id) => {
  const { query: parameters = {}, path = {} } = addressOf(id);
  const query = { ...parameters, ...QUICK_FORMATS[id] };
  const withoutBody: Request[] = operationOf(id).bodyRequired
    ? []
    : [{ id, name: 'alone', as: callerOf(id, ''), query, path }];
  // Lines have no ids.
  const content = Object.entries(describeOperation(id).requestBody?.content ?? {}).filter(
    ([mediaType]) => mediaType !== NDJSON,
  );
  const bodies = content.flatMap(([mediaType, { schema = {}, example, examples = {} }]) => {
    const named = Object.entries(examples).map(([name, { value }]): [string, unknown] => [name, value]);
    const all = example === undefined ? named : [...named, ['example', example] as [string, unknown]];
    return all.map(([name, value]): Request => {
      // Bodies in this contract are objects, and form bodies are flat.
      const body = withOptionalIds(schema, value as Body);
      const whole = mediaType === 'application/json' ? body : withFiles(id, schema as ObjectSchema, body);
      return { id, name, as: callerOf(id, name), query, path, body: whole, mediaType };
    });
  });
  const more = (EXTRA[id] ?? []).map((body, n): Request => {
    const name = `extra ${n + 1}`;
    return { id, name, as: callerOf(id, ''), query, path, body, mediaType: 'application/json' };
  });
  return [...withoutBody, ...bodies, ...more];
});

function withOptionalIds(schema: Schema, body: Body): Body {
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  const missing = Object.entries(OPTIONAL_IDS).filter(([name]) => name in properties && !(name in body));
  return { ...Object.fromEntries(missing), ...body };
}

const upper = <Part>(part: Part): Part => {
  if (typeof part === 'string') return (UUID.test(part) ? part.toUpperCase() : part) as Part;
  if (Array.isArray(part)) return part.map(upper) as Part;
  if (typeof part !== 'object' || part === null || Buffer.isBuffer(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, upper(value)])) as Part;
};

function toCall({ as, query, path, body, mediaType }: Request): Call {
  // addressOf returns these two parts.
  const address = { query, path } as Pick<Call, 'query' | 'path'>;
  if (!body) return { ...as, ...address };
  return {
    ...as,
    ...address,
    ...(mediaType === 'application/json' ? { body } : formCall(mediaType ?? '', body)),
  };
}

const GENERATED = new RegExp(
  `"(${[
    ...[
      'api_key',
      'webhook_secret',
      'access_token',
      'preauth_token',
      'temporary_password',
      'secret',
      'qr_code',
    ],
    ...[
      'otpauth_uri',
      'base_path',
      'service_token',
      'hash',
      'one_time_password',
      'house_number',
      'manifest_number',
      'invoice_number',
      'password',
      'webhook_previous_secret_id',
      'token',
      'hint',
    ],
  ].join('|')})":"[^"]*"`,
  'g',
);

/** Returns a reply without the values that differ between two services: generated ids, secrets and times. */
function comparable({ status, body, headers }: Reply): unknown {
  if (!headers.get('content-type')?.includes('json')) return [status, headers.get('content-type')];
  const text = JSON.stringify({ ...body, timestamp: 0, request_id: '' })
    .replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, 'uuid')
    .replace(GENERATED, '"$1":"made"')
    .replace(/\/track\/[\w-]{22}/g, '/track/made')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?/g, 'time');
  return [status, text];
}

describe('ids in upper case mean the same as ids in lower case', () => {
  // Without an id, both requests would be the same.
  const withIds = requests.filter((request) => JSON.stringify(upper(request)) !== JSON.stringify(request));
  let lowerCase: Service;
  let upperCase: Service;

  beforeAll(async () => {
    [lowerCase, upperCase] = await Promise.all([startService(), startService()]);
  });

  afterAll(async () => {
    await lowerCase.stop();
    await upperCase.stop();
  });

  test.each(withIds.map((request) => [`${request.id}, ${request.name}`, request] as const))(
    '%s: the response is the same for upper-case ids',
    async (_title, request) => {
      const [expected, reply] = await Promise.all([
        lowerCase.call(request.id, toCall(request)),
        upperCase.call(request.id, toCall(upper(request))),
      ]);
      expect(comparable(reply)).toEqual(comparable(expected));
      expect(reply.bytes.toString()).not.toMatch(UPPER_CASE_ID);
    },
  );

  test('no id is stored in upper case', async () => {
    const { rows } = await upperCase.owner.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    expect(rows.length).toBeGreaterThan(20);
    for (const { name } of rows) {
      const found = await upperCase.owner.query(
        `select t::text from "${name}" t where t::text ~ '01930A3E-|[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9]*[A-F][0-9A-F]*'`,
      );
      expect([name, found.rows]).toEqual([name, []]);
    }
  });

  test('the requests send every id that the contract declares', () => {
    const sent = new Set(
      requests.flatMap(({ id, query, path, body }) => idsIn(id, { ...query, ...path, ...body })),
    );
    const declared = operationIds.flatMap((id) => [
      ...(describeOperation(id).parameters ?? [])
        .filter(({ schema }) => schema['format'] === 'uuid')
        .map(({ name }) => `${id} ${name}`),
      ...Object.values(describeOperation(id).requestBody?.content ?? {}).flatMap(({ schema = {} }) =>
        declaredIds(schema).map((name) => `${id} ${name}`),
      ),
    ]);
    expect(declared.length).toBeGreaterThan(60);
    expect(declared.filter((each) => !sent.has(each))).toEqual([]);
    // Header values are not normalized.
    const headers = operationIds.flatMap((id) =>
      (describeOperation(id).parameters ?? []).filter((each) => each.in === 'header'),
    );
    expect(headers.filter(({ schema }) => schema['format'] === 'uuid')).toEqual([]);
  });

  const idsIn = (id: OperationId, fields: Body): string[] =>
    Object.entries(fields)
      .filter(([, value]) => UUID.test(String(Array.isArray(value) ? value[0] : value)))
      .map(([name]) => `${id} ${name}`);

  function declaredIds(schema: Schema): string[] {
    const branches = (schema['oneOf'] ?? [schema]) as Schema[];
    return branches.flatMap(({ properties = {} }) =>
      Object.entries(properties as Record<string, Schema>)
        .filter(([, own]) =>
          [own, own['items'] as Schema | undefined].some((part) => part?.['format'] === 'uuid'),
        )
        .map(([name]) => name),
    );
  }
});

describe('known attacks with upper-case ids', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });

  afterAll(() => service.stop());

  const settingsOf = (as: string) => service.call('getCourierSettings', { as });
  const update = (id: string, action: string) =>
    service.call('updateCourierSettings', { as: 'admin', query: { id }, urlencoded: { action } });

  test.each(['reset_password', 'reset_two_factor'])(
    "%s of the administrator's own account is rejected in every spelling of the id",
    async (action) => {
      const own = DEMO.users.admin;
      const attempt = (user_id: string) =>
        service.call('manageUsers', { as: 'admin', body: { action, user_id } });
      const expected = await attempt(own);
      expect([expected.status, expected.body['code']]).toEqual([expect.any(Number), 'own_account']);
      for (const spelling of [own.toUpperCase(), own.replace(/[a-f]/, (letter) => letter.toUpperCase())])
        expect(comparable(await attempt(spelling))).toEqual(comparable(expected));
    },
  );

  test('a courier can decrypt a key and a secret that staff created with its id in upper case', async () => {
    const key = await update(IEX.toUpperCase(), 'regenerate_key');
    const secret = await update(IEX.toUpperCase(), 'rotate_webhook_secret');
    expect([key.status, secret.status]).toEqual([200, 200]);
    const settings = await settingsOf('iex');
    expect([settings.status, settings.body['data'].api_key, settings.body['data'].webhook_secret]).toEqual([
      200,
      key.body['data'].api_key,
      secret.body['data'].webhook_secret,
    ]);
  });

  /** Stores a courier's secrets encrypted for the given spelling of its id. */
  async function store(
    rowId: string,
    secrets: Partial<Record<EncryptionContext['field'], string>>,
  ): Promise<void> {
    for (const [field, text] of Object.entries(secrets)) {
      const context = { tenantId: DEMO.tenants.demo, rowId, field: field as EncryptionContext['field'] };
      await service.owner.query(`update couriers set ${field}_cipher = $2 where id = $1`, [
        IEX,
        service.app.secrets.encrypt(text, context),
      ]);
    }
  }

  test('secrets that were stored under an upper-case id can be decrypted', async () => {
    await store(IEX.toUpperCase(), {
      api_key: 'a'.repeat(64),
      api_token: 'token',
      webhook_secret: 'whsec_x',
    });
    const { rows } = await service.owner.query<{ webhook_secret_cipher: string }>(
      'select webhook_secret_cipher from couriers where id = $1',
      [IEX],
    );
    expect(rows).toHaveLength(1);
    await store(IEX.toUpperCase(), { webhook_secret: `whsec_${'A'.repeat(43)}=` });
    const { status, body } = await settingsOf('iex');
    expect([status, body['data'].api_key, body['data'].api_token]).toEqual([200, 'a'.repeat(64), 'token']);
    expect((await update(IEX, 'rotate_webhook_secret')).status).toBe(200);
  });

  test('settings whose secrets cannot be decrypted are returned without them, and new secrets can be created', async () => {
    const spelling = IEX.replace(/[a-f]/, (letter) => letter.toUpperCase());
    await store(spelling, { api_key: 'a'.repeat(64), api_token: 'token', webhook_secret: 'whsec_x' });
    const { status, body } = await settingsOf('iex');
    const { api_key, api_token, webhook_secret, courier_name } = body['data'];
    expect([status, api_key, api_token, webhook_secret]).toEqual([200, null, null, null]);
    expect(courier_name).toBe('Island Express');
    const key = await update(IEX, 'regenerate_key');
    const secret = await update(IEX, 'rotate_webhook_secret');
    const token = await service.call('updateCourierSettings', { as: 'iex', body: { api_token: 'another' } });
    expect([key.status, secret.status, token.status]).toEqual([200, 200, 200]);
    const { body: repaired } = await settingsOf('iex');
    expect([repaired['data'].api_key, repaired['data'].api_token, repaired['data'].webhook_secret]).toEqual([
      key.body['data'].api_key,
      'another',
      secret.body['data'].webhook_secret,
    ]);
  });
});
