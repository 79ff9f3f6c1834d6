import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../src/demo/seed.js';
import type { Schema } from '../src/contract/bundle.js';
import type { OperationId } from '../src/contract/types.js';
import {
  bodyShapes,
  describeOperation,
  nameOfShape,
  operationIds,
  operationOf,
  type Body,
  type BodyShape,
} from './support/contract.js';
import { fingerprint } from './support/fingerprint.js';
import { toForm } from './support/forms.js';
import { startService, type Call, type Reply, type Service } from './support/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const callerOf = (id: OperationId): Call => {
  const { credential } = operationOf(id);
  if (credential === 'none') return {};
  return credential === 'key' ? { key: DEMO.apiKeys.IEX } : { as: 'admin' };
};

const fieldsOf = ({ body }: Reply) =>
  ((body['errors'] ?? []) as { field: string }[]).map(({ field }) => field);

/** Whether the reply names the field, or an element of it. */
const names = (reply: Reply, field: string) =>
  fieldsOf(reply).some(
    (each) => each === field || each.startsWith(`${field}[`) || each.startsWith(`${field}.`),
  );

type Bad = { why: string; value: unknown };

const OF_EACH_TYPE: [type: string, value: unknown][] = [
  ['null', null],
  ['number', 12],
  ['string', 'x'],
  ['boolean', true],
  ['boolean', false],
  ['array', ['x']],
  ['object', { x: 'x' }],
  ['array', [[['x']]]],
];

/** Values that a property's schema forbids, made from what the schema says. */
function badValues(schema: Schema): Bad[] {
  const types = [schema['type']].flat().map((type) => (type === 'integer' ? 'number' : String(type)));
  const wrong = OF_EACH_TYPE.filter(([type]) => !types.includes(type)).map(([type, value]) => ({
    why: `${type} ${JSON.stringify(value)}`,
    value,
  }));
  if (types.includes('string')) return [...wrong, ...badTexts(schema)];
  if (types.includes('number')) return [...wrong, ...badNumbers(schema)];
  if (types.includes('array')) return [...wrong, ...badLists(schema)];
  return wrong;
}

function badTexts(schema: Schema): Bad[] {
  const values = ['a\u0000b', '\ud800', 'a\udfff'];
  if (schema['format'] === 'uuid') {
    const id = randomUUID();
    values.push(
      '',
      'x',
      `${id}0`,
      `{${id}}`,
      `urn:uuid:${id}`,
      id.replaceAll('-', ''),
      ` ${id}`,
      `${id}\n`,
      "' or 1=1 --",
    );
  }
  if (schema['format'] === 'date') {
    values.push(
      '',
      '2026-02-30',
      '2026-13-01',
      '2026-00-10',
      '2026-1-1',
      '20261121',
      '0000-01-01',
      '2025-02-29',
    );
    values.push(
      '2026-11-21 00:00:00',
      '2026-11-21T00:00:00Z',
      '21/11/2026',
      ' 2026-11-21',
      '2026-11-21\n',
      'today',
    );
  }
  if (schema['enum'] !== undefined || schema['const'] !== undefined) {
    const [first] = [schema['enum'] ?? schema['const']].flat().map(String);
    values.push(
      '',
      'unknown',
      `${first} `,
      String(first).toUpperCase().replace('ASC', 'asc'),
      'constructor',
      '__proto__',
    );
  }
  if (schema['minLength'] !== undefined) values.push('');
  if (schema['pattern'] === '\\S') values.push(' ', '\t\n', '\u00a0', '\u3000');
  if (schema['pattern'] === '^\\d{3}$') values.push('', '12', '1234', 'abc', '١٢٣', '12 ', '123\n');
  const maximum = schema['maxLength'];
  if (typeof maximum === 'number' && schema['pattern'] !== '^\\d{3}$')
    values.push('x'.repeat(maximum + 1), '😀'.repeat(maximum + 1));
  return values.map((value) => ({ why: `text ${JSON.stringify(value).slice(0, 40)}`, value }));
}

function badNumbers(schema: Schema): Bad[] {
  const values: number[] = [1e308, -1e308];
  const bound = (name: string) => schema[name] as number | undefined;
  const step = bound('multipleOf') ?? 1;
  const [minimum, above, maximum] = [bound('minimum'), bound('exclusiveMinimum'), bound('maximum')];
  if (minimum !== undefined) values.push(minimum - step, -1);
  if (above !== undefined) values.push(above, above - step, -1);
  if (maximum !== undefined) values.push(maximum + step);
  if (schema['type'] === 'integer') values.push(1.5);
  if (bound('multipleOf') !== undefined) values.push(1 + step / 2, 1 + step / 10);
  return values.map((value) => ({ why: `number ${value}`, value }));
}

function badLists(schema: Schema): Bad[] {
  const { minItems, maxItems } = schema as { minItems?: number; maxItems?: number };
  const lists: unknown[][] = [];
  if (minItems) lists.push([]);
  if (maxItems) lists.push(Array.from({ length: maxItems + 1 }, () => randomUUID()));
  const items = schema['items'] as Schema | undefined;
  if (items) lists.push(...badValues(items).map(({ value }) => [randomUUID(), value]));
  return lists.map((value) => ({ why: `list ${JSON.stringify(value).slice(0, 90)}`, value }));
}

/** JSON in which a lone surrogate survives: JSON.stringify writes it as an escape. */
const send = (id: OperationId, body: unknown) =>
  service.call(id, { ...callerOf(id), body: JSON.stringify(body) });

describe('bodies', () => {
  const shapes = bodyShapes();

  test.each(shapes.map((shape) => [nameOfShape(shape), shape] as const))(
    '%s: each field with each value that it forbids is refused by name, and nothing is stored',
    async (_name, shape) => {
      const before = await fingerprint(service.owner);
      const wrong: string[] = [];
      for (const [field, schema] of Object.entries(shape.schema.properties)) {
        const cases = [...badValues(schema), ...missing(shape, field)];
        for (const { why, value } of cases) {
          const reply = await send(shape.id, { ...shape.example, [field]: value });
          if (!isRefused(shape, field, value, reply)) {
            wrong.push(`${field} as ${why}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 200)}`);
          }
        }
      }
      expect(wrong).toEqual([]);
      expect(await fingerprint(service.owner)).toEqual(before);
    },
  );

  const missing = ({ schema }: BodyShape, field: string): Bad[] =>
    schema.required?.includes(field) ? [{ why: 'missing', value: undefined }] : [];

  function isRefused({ action }: BodyShape, field: string, value: unknown, reply: Reply): boolean {
    // the contract has 422 for a user name or password that is absent or blank
    const isBlank =
      action === 'login' && field !== 'action' && typeof value === 'string' && value.trim() === '';
    const expected = isBlank ? 422 : 400;
    const isFailure = reply.body['status'] === 'fail' && typeof reply.body['code'] === 'string';
    return reply.status === expected && isFailure && names(reply, field);
  }

  test.each(shapes.map((shape) => [nameOfShape(shape), shape] as const))(
    '%s: what is no object is refused',
    async (_name, { id }) => {
      for (const body of ['null', '[]', '[{}]', '1', '"x"', 'true']) {
        const reply = await service.call(id, { ...callerOf(id), body });
        expect([body, reply.status, reply.body['code']]).toEqual([body, 400, 'validation_failed']);
      }
    },
  );

  test('login without user name or password is 422, naming what lacks', async () => {
    for (const given of [
      {},
      { username: 'admin' },
      { password: 'x' },
      { username: ' ', password: '\t' },
      { username: '', password: 'x' },
    ]) {
      const reply = await service.call('login', { body: { action: 'login', ...given } });
      expect(reply).toMatchObject({ status: 422, body: { status: 'fail', code: 'credentials_required' } });
      const lacking = ['username', 'password'].filter((name) => !(given as Body)[name]?.toString().trim());
      expect(fieldsOf(reply).sort()).toEqual(lacking.sort());
    }
  });

  test('many faults are told at once, up to a hundred', async () => {
    const reply = await send('receivePackage', {
      tracking_number: '',
      weight: -1,
      length: 'x',
      carrier_id: 'x',
    });
    for (const field of ['tracking_number', 'weight', 'length', 'carrier_id'])
      expect(fieldsOf(reply)).toContain(field);
    const many = Array.from({ length: 5_000 }, () => 'x');
    const crowded = await send('manageManifest', {
      action: 'add_packages',
      manifest_id: randomUUID(),
      package_ids: many,
    });
    expect(crowded.status).toBe(400);
    expect(fieldsOf(crowded).length).toBeLessThanOrEqual(100);
  });
});

describe('queries', () => {
  const parameters = operationIds.flatMap((id) =>
    (describeOperation(id).parameters ?? []).map(({ name, schema, required }) => ({
      id,
      name,
      schema,
      required,
    })),
  );

  test('there are parameters', () => {
    expect(parameters.length).toBeGreaterThan(7);
  });

  test.each(parameters)(
    '$id $name: each value that it forbids is refused by name',
    async ({ id, name, schema, required }) => {
      // a query has nothing but text, so that free text cannot be of a wrong type
      const isFreeText = schema['type'] === 'string' && !schema['format'] && !schema['enum'];
      const values = badValues(schema).filter(({ value }) =>
        typeof value === 'string' ? value.isWellFormed() : !isFreeText,
      );
      const wrong: string[] = [];
      for (const { why, value } of values) {
        const reply = await service.call(id, { ...callerOf(id), query: { [name]: String(value) } });
        if (reply.status !== 400 || !names(reply, name))
          wrong.push(`${why}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 200)}`);
      }
      const repeated = await service.call(id, { ...callerOf(id), query: { [name]: ['1', '2'] } });
      if (repeated.status !== 400 || !names(repeated, name)) wrong.push(`repeated: ${repeated.status}`);
      if (required) expect(fieldsOf(await service.call(id, callerOf(id)))).toEqual([name]);
      expect(wrong).toEqual([]);
    },
  );
});

describe('mass assignment', () => {
  const PRIVILEGED: Body = {
    tenant_id: DEMO.tenants.two,
    tenantId: DEMO.tenants.two,
    id: '01930a3e-7c1d-7e11-9c5a-000000000001',
    courier_id: DEMO.couriers.HRB,
    courierId: DEMO.couriers.HRB,
    prealert_id: DEMO.prealerts.pending.HRB[0],
    package_id: DEMO.packages.available.HRB[0],
    manifest_id: DEMO.manifests.shipped,
    manifest_number: 'MAN-20260101-HACK',
    house_number: 'HACKED1',
    tracking_key: 'HACKED',
    status: 'completed',
    role: 'admin',
    permissions: ['*'],
    user_id: DEMO.users.admin,
    actor_id: DEMO.users.admin,
    request_id: 'hacked',
    api_key: 'f'.repeat(64),
    api_key_hash: 'hacked',
    api_token: 'hacked',
    password_hash: 'hacked',
    token_version: 99,
    totp_secret: 'HACKED',
    two_factor_enabled: false,
    is_active: false,
    is_primary: true,
    created_at: '2000-01-01 00:00:00',
    updated_at: '2000-01-01 00:00:00',
    received_at: '2000-01-01 00:00:00',
    paid_amount: 0.01,
    total_amount: 0.01,
    applied_fee: 0.01,
    air_freight_rate: 0.01,
    first_name: 'Hacked',
    last_name: 'Hacked',
    matched_by: 'hacked',
    duplicate: true,
    courier_code: 'HRB',
    warehouse_name: 'Hacked',
    $where: '1=1',
  };

  let serial = 0;
  const freshNumber = () => `MASS-${process.pid}-${(serial += 1)}`;

  type Write = {
    id: OperationId;
    as?: Call;
    table: string;
    body(): Promise<Body> | Body;
    /** The id of the row that was written. */
    rowOf(reply: Reply, body: Body): string | Promise<string>;
  };

  const dataOf = (key: string) => (reply: Reply) => String((reply.body['data'] as Body)[key]);
  const ofBody = (key: string) => (_reply: Reply, body: Body) => String(body[key]);

  const newManifest = async () =>
    String(
      ((await service.call('createManifest', { as: 'admin', body: {} })).body['data'] as Body)['manifest_id'],
    );
  const newPackage = async () =>
    dataOf('package_id')(await send('receivePackage', { tracking_number: freshNumber(), weight: 1 }));

  const WRITES: Record<string, Write> = {
    submitPrealert: {
      id: 'submitPrealert',
      table: 'prealerts',
      body: () => ({ UserCode: 'IEX-1001', TrackingNumber: freshNumber() }),
      rowOf: dataOf('prealert_id'),
    },
    submitPrealertWithoutSuffix: {
      id: 'submitPrealertWithoutSuffix',
      table: 'prealerts',
      body: () => ({ UserCode: 'IEX-1001', TrackingNumber: freshNumber() }),
      rowOf: dataOf('prealert_id'),
    },
    createPrealert: {
      id: 'createPrealert',
      table: 'prealerts',
      body: () => ({
        courier_id: DEMO.couriers.IEX,
        user_code: 'IEX-1001',
        tracking_number: freshNumber(),
        vendor: 'V',
      }),
      rowOf: dataOf('prealert_id'),
    },
    'createPrealert by a courier': {
      id: 'createPrealert',
      as: { as: 'iex' },
      table: 'prealerts',
      body: () => ({ user_code: 'IEX-1001', tracking_number: freshNumber(), vendor: 'V' }),
      rowOf: dataOf('prealert_id'),
    },
    replacePrealert: {
      id: 'replacePrealert',
      table: 'prealerts',
      body: () => ({
        prealert_id: DEMO.prealerts.pending.IEX[0],
        user_code: 'IEX-1001',
        tracking_number: freshNumber(),
        vendor: 'V',
      }),
      rowOf: ofBody('prealert_id'),
    },
    uploadCustomers: {
      id: 'uploadCustomers',
      table: 'customers',
      async body() {
        await service.owner.query("delete from customers where user_code = 'MASS-1'");
        return { file: 'user_code,first_name,last_name\nMASS-1,A,B\n', target_courier_id: DEMO.couriers.IEX };
      },
      async rowOf() {
        const { rows } = await service.owner.query<{ id: string }>(
          "select id from customers where user_code = 'MASS-1'",
        );
        return rows[0]?.id ?? '';
      },
    },
    receivePackage: {
      id: 'receivePackage',
      table: 'packages',
      body: () => ({ tracking_number: freshNumber(), weight: 1, courier_id: DEMO.couriers.IEX }),
      rowOf: dataOf('package_id'),
    },
    createManifest: {
      id: 'createManifest',
      table: 'manifests',
      body: () => ({}),
      rowOf: dataOf('manifest_id'),
    },
    create_manifest: {
      id: 'manageManifest',
      table: 'manifests',
      body: () => ({ action: 'create_manifest' }),
      rowOf: dataOf('manifest_id'),
    },
    update_meta: {
      id: 'manageManifest',
      table: 'manifests',
      body: async () => ({ action: 'update_meta', manifest_id: await newManifest(), notes: 'N' }),
      rowOf: ofBody('manifest_id'),
    },
    add_packages: {
      id: 'manageManifest',
      table: 'packages',
      body: async () => ({
        action: 'add_packages',
        manifest_id: DEMO.manifests.draft,
        package_ids: [await newPackage()],
      }),
      rowOf: (_reply, body) => String((body['package_ids'] as string[])[0]),
    },
    remove_packages: {
      id: 'manageManifest',
      table: 'packages',
      async body() {
        const packageId = await newPackage();
        const aboard = { manifest_id: DEMO.manifests.draft, package_ids: [packageId] };
        await send('manageManifest', { action: 'add_packages', ...aboard });
        return { action: 'remove_packages', ...aboard };
      },
      rowOf: (_reply, body) => String((body['package_ids'] as string[])[0]),
    },
  };

  // differs from one write to the next, whatever is sent
  const OWN = [
    'id',
    'tracking_number',
    'tracking_key',
    'house_number',
    'manifest_number',
    'created_at',
    'updated_at',
    'received_at',
  ];

  async function write(each: Write, extra: Body): Promise<{ row: Body; body: Body }> {
    const body = await each.body();
    // the operation's own fields are what they are
    const reply = await service.call(each.id, {
      ...callerOf(each.id),
      ...each.as,
      ...entityOf(each.id, { ...extra, ...body }),
    });
    expect([extra, reply.status < 300]).toEqual([extra, true]);
    const { rows } = await service.owner.query<Body>(`select * from ${each.table} where id = $1`, [
      await each.rowOf(reply, body),
    ]);
    expect(rows).toHaveLength(1);
    return { row: rows[0] ?? {}, body };
  }

  function entityOf(id: OperationId, fields: Body): Call {
    const { mediaTypes, fileFields } = operationOf(id);
    const takesJson = (mediaTypes as readonly string[]).includes('application/json');
    return takesJson ? { body: fields } : { form: toForm(fields, fileFields) };
  }

  const withoutOwn = (row: Body) =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !OWN.includes(column)));

  test('every write of the contract is in the table', () => {
    const READS = ['login', 'retrievePackages', 'generateCourierInvoice'];
    // a deleted row has no fields left to assign
    const wanted = operationIds.filter(
      (id) => operationOf(id).mediaTypes.length > 0 && !READS.includes(id) && id !== 'deletePrealert',
    );
    expect(new Set(Object.values(WRITES).map(({ id }) => id))).toEqual(new Set(wanted));
    expect(Object.keys(PRIVILEGED).length).toBeGreaterThanOrEqual(30);
  });

  test.each(Object.entries(WRITES))(
    '%s: each of 30 privileged keys and more is ignored',
    async (_name, each) => {
      const declared = declaredFields(each);
      const { row: plain } = await write(each, {});
      for (const [key, value] of Object.entries(PRIVILEGED)) {
        // courier_id is a courier's own to send, and is overruled
        if (declared.includes(key) && !(key === 'courier_id' && each.as)) continue;
        const { row } = await write(each, { [key]: value });
        expect([key, withoutOwn(row)]).toEqual([key, withoutOwn(plain)]);
        for (const column of OWN) expect([key, column, row[column]]).not.toEqual([key, column, value]);
        const times = ['created_at', 'updated_at', 'received_at'].map((column) => row[column]);
        for (const time of times) if (time instanceof Date) expect(time.getFullYear()).toBeGreaterThan(2000);
      }
    },
  );

  function declaredFields({ id, body }: Write): string[] {
    const actions = bodyShapes().filter((shape) => shape.id === id);
    const wanted = /action: '(\w+)'/.exec(body.toString())?.[1];
    const shape = actions.find(({ action }) => action === wanted) ?? actions[0];
    if (!shape) return operationOf(id).fileFields.slice();
    return Object.keys(shape.schema.properties);
  }

  test('none of it reached another table: users, couriers, bills, tiers and tenants are as they were', async () => {
    await service.owner.query("delete from customers where user_code = 'MASS-1'");
    const untouched = await startService();
    try {
      const [mine, fresh] = [await fingerprint(service.owner), await fingerprint(untouched.owner)];
      for (const table of [
        'users',
        'couriers',
        'bills',
        'rate_tiers',
        'tenants',
        'tenant_hosts',
        'customers',
        'warehouses',
        'carriers',
      ]) {
        expect([table, mine[table]]).toEqual([table, fresh[table]]);
      }
    } finally {
      await untouched.stop();
    }
  });
});
