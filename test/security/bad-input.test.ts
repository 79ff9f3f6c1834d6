import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../src/development/demo/seed.js';
import { clone } from '../support/builders/couriers.js';
import type { Schema } from '../../src/platform/contract/bundle.js';
import type { OperationId } from '../../src/platform/contract/types.js';
import {
  bodyShapes,
  formShapes,
  nameOfShape,
  operationIds,
  operationOf,
  parametersOf,
  type Body,
  type BodyShape,
  type FormShape,
} from '../support/service/contract.js';
import { newBillPayment, newDraftBill } from '../support/builders/couriers.js';
import { plantDelivery, plantEvent } from '../support/builders/deliveries.js';
import { rounds } from '../support/harness/effort.js';
import { fingerprint } from '../support/readers/fingerprint.js';
import { toForm } from '../support/service/forms.js';
import { addressOf, formCall } from '../support/builders/inputs.js';
import { startService, type Call, type Reply, type Service } from '../support/service/service.js';

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
  if (minimum !== undefined) values.push(minimum - step, Math.min(-1, minimum - 1));
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

type Case = Bad & { field: string };

/** Requests in flight at once: fewer than the service has connections. */
const SEVERAL = 8;

/** Runs `work` for each item, several at once. */
async function forEach<Item>(items: Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const workInTurn = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: SEVERAL }, workInTurn));
}

/**
 * Groups of cases that one request can carry: at most one case of each field. A refusal names every wrong field, so
 * one request proves as many cases as it has fields.
 */
function requestsOf(cases: Case[]): Case[][] {
  const requests: Case[][] = [];
  const counts = new Map<string, number>();
  // The long run sends each case in a request of its own.
  const largest = rounds(Infinity, 1);
  for (const each of cases) {
    const count = counts.get(each.field) ?? 0;
    counts.set(each.field, count + 1);
    if (largest === 1) requests.push([each]);
    else (requests[count] ??= []).push(each);
  }
  return requests;
}

/** Sends the cases together, and each that the reply does not refuse by name once more alone. Returns what is wrong. */
async function wrongOf(
  cases: Case[],
  send: (changes: Body) => Promise<Reply>,
  isRefused: (reply: Reply, each: Case) => boolean,
): Promise<string[]> {
  const wrong: string[] = [];
  await forEach(requestsOf(cases), async (together) => {
    const changes = Object.fromEntries(together.map(({ field, value }) => [field, value]));
    const joint = await send(changes);
    for (const each of together.filter((one) => !isRefused(joint, one))) {
      const reply = together.length === 1 ? joint : await send({ [each.field]: each.value });
      if (isRefused(reply, each)) continue;
      wrong.push(`${each.field} as ${each.why}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 200)}`);
    }
  });
  return wrong;
}

/** JSON in which a lone surrogate survives: JSON.stringify writes it as an escape. */
const send = (id: OperationId, body: unknown) =>
  service.call(id, { ...callerOf(id), ...addressOf(id), body: JSON.stringify(body) });

describe('bodies', () => {
  const shapes = bodyShapes();

  test.each(shapes.map((shape) => [nameOfShape(shape), shape] as const))(
    '%s: each field with each value that it forbids is refused by name, and nothing is stored',
    async (_name, shape) => {
      const before = await fingerprint(service.owner);
      const cases = Object.entries(shape.schema.properties).flatMap(([field, schema]) =>
        [...badValues(schema), ...missing(shape, field)].map((bad) => ({ field, ...bad })),
      );
      const sendChanged = (changes: Body) => send(shape.id, { ...shape.example, ...changes });
      const isNamed = (reply: Reply, { field, value }: Case) => isRefused(shape, field, value, reply);
      // an action decides which fields there are
      const [ofAction, ofFields] = [true, false].map((is) =>
        cases.filter((each) => (each.field === 'action') === is),
      );
      const wrong = [
        ...(await wrongOf(ofAction ?? [], sendChanged, isNamed)),
        ...(await wrongOf(ofFields ?? [], sendChanged, isNamed)),
      ];
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
    parametersOf(id, 'query').map(({ name, schema, required }) => ({
      id,
      name,
      schema,
      required,
    })),
  );

  test('there are parameters', () => {
    expect(parameters.length).toBeGreaterThan(7);
  });

  const withParameters = operationIds
    .map((id) => [id, parameters.filter((each) => each.id === id)] as const)
    .filter(([, own]) => own.length > 0);

  test.each(withParameters)('%s: each value that a parameter forbids is refused by name', async (id, own) => {
    const wrong = await wrongOf(
      own.flatMap(badParameters),
      // as: badParameters makes texts, and lists of texts
      (changes) => service.call(id, { ...sound(id), query: changes as Call['query'] }),
      (reply, { field }) => reply.status === 400 && names(reply, field),
    );
    for (const { name } of own.filter(({ required }) => required)) {
      const { [name]: _, ...others } = addressOf(id).query ?? {};
      expect(fieldsOf(await service.call(id, { ...callerOf(id), query: others }))).toEqual([name]);
    }
    expect(wrong).toEqual([]);
  });

  function badParameters({ name, schema }: (typeof parameters)[number]): Case[] {
    // a query has nothing but text, so that free text cannot be of a wrong type
    const isFreeText = schema['type'] === 'string' && !schema['format'] && !schema['enum'];
    const single = badValues(schema)
      .filter(({ value }) => (typeof value === 'string' ? value.isWellFormed() : !isFreeText))
      .map(({ why, value }) => ({ field: name, why, value: String(value) }));
    return [...single, { field: name, why: 'repeated', value: ['1', '2'] }];
  }

  /** A call with nothing wrong but what a test adds. */
  function sound(id: OperationId): Call {
    const body = bodyShapes().find((shape) => shape.id === id)?.example;
    return { ...callerOf(id), ...(body ? { body } : {}) };
  }

  const inPaths = operationIds.flatMap((id) => parametersOf(id, 'path').map((each) => ({ id, ...each })));

  test.each(inPaths)(
    '$id $name in the path: each value that it forbids is refused by name',
    async ({ id, name, schema, example }) => {
      const values = [...badTexts(schema), ...PATH_TEXTS.map((value) => ({ why: value, value }))];
      const wrong: string[] = [];
      await forEach(values, async ({ why, value }) => {
        if (typeof value !== 'string' || value === '' || !value.isWellFormed()) return;
        const path = { [name]: value };
        const reply = await service.call(id, { ...callerOf(id), path });
        if (reply.status !== 400 || !names(reply, name)) wrong.push(`${why}: ${reply.status}`);
      });
      expect(wrong).toEqual([]);
      const tooLong = { [name]: `${example}`.padEnd(101, 'a') };
      expect((await service.call(id, { ...callerOf(id), path: tooLong })).status).toBe(404);
    },
  );

  const PATH_TEXTS = [
    'x',
    ' ',
    'a b',
    '../../etc/passwd',
    '..%2f',
    "' or 1=1 --",
    'a\u0000b',
    '{file}',
    '😀',
    '%',
  ];
});

describe('forms', () => {
  const shapes = formShapes().map((shape) => [`${shape.id} as ${shape.mediaType}`, shape] as const);

  // one test and not one for each form: there may be none
  test('each field with each value that it forbids is refused by name, and nothing is stored', async () => {
    for (const [name, shape] of shapes) {
      const before = await fingerprint(service.owner);
      for (const [field, schema] of Object.entries(shape.schema.properties)) {
        for (const value of badFormValues(schema)) {
          const reply = await sendForm(shape, { [field]: value });
          const said = [name, field, shown(value), reply.status, names(reply, field)];
          expect(said).toEqual([name, field, shown(value), 400, true]);
        }
        if (!shape.schema.required?.includes(field)) continue;
        const lacking = await sendForm(shape, { [field]: undefined });
        // a form of one field is empty without it
        const isNamed = names(lacking, field) || lacking.body['code'] === 'body_required';
        expect([name, field, lacking.status, isNamed]).toEqual([name, field, 400, true]);
      }
      expect(await fingerprint(service.owner)).toEqual(before);
    }
  }, 120_000);

  const sendForm = ({ id, mediaType, example }: FormShape, fields: Body) =>
    service.call(id, {
      ...callerOf(id),
      ...addressOf(id),
      ...formCall(mediaType, { ...example, ...fields }),
    });

  /** A form has nothing but text and files: a file is no text, and text no file. */
  function badFormValues(schema: Schema): unknown[] {
    if (schema['format'] === 'binary') return ['text, and no file'];
    const isFreeText = schema['type'] === 'string' && !schema['format'] && schema['const'] === undefined;
    return badValues(schema)
      .map(({ value }) => value)
      .filter((value) => (typeof value === 'string' ? value.isWellFormed() : false))
      .filter((value) => !isFreeText || value !== '');
  }

  const shown = (value: unknown) => JSON.stringify(value).slice(0, 60);
});

describe('names that JavaScript gives a meaning to', () => {
  const NAMES = ['__proto__', 'constructor', 'prototype', '__defineGetter__', 'hasOwnProperty'];
  const POLLUTING = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';

  // the service runs in this process: what it pollutes is polluted here
  afterEach(() => {
    expect(({} as Body)['polluted']).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test.each(operationIds)('%s: in a query they are ignored or refused', async (id) => {
    const call = { ...callerOf(id), ...addressOf(id) };
    // what is deleted would be missed by the tests below
    if (operationOf(id).method === 'DELETE') call.query = { id: randomUUID() };
    const plain = await service.call(id, call);
    for (const name of [...NAMES, '__proto__[polluted]', 'constructor[prototype][polluted]']) {
      const reply = await service.call(id, { ...call, query: { ...call.query, [name]: '1' } });
      expect([name, [plain.status, 400]]).toEqual([name, expect.arrayContaining([reply.status])]);
    }
  });

  test.each(bodyShapes().map((shape) => [nameOfShape(shape), shape] as const))(
    '%s: in a body they are refused, and at any depth',
    async (_name, { id, example }) => {
      const text = JSON.stringify(example);
      for (const body of [
        `{"__proto__":{"polluted":1},${text.slice(1)}`,
        `{"constructor":{"prototype":{"polluted":1}},${text.slice(1)}`,
        `{"extra":[${POLLUTING}],${text.slice(1)}`,
      ]) {
        const reply = await service.call(id, { ...callerOf(id), ...addressOf(id), body });
        expect([body.slice(0, 40), reply.status, reply.body['code']]).toEqual([
          body.slice(0, 40),
          400,
          'malformed_json',
        ]);
      }
    },
  );

  test('in a form they are fields like any other', async () => {
    // one of its own, because forms replace keys
    const own = await startService();
    try {
      for (const { id, mediaType, example } of formShapes()) {
        const fields = Object.fromEntries(NAMES.slice(1).map((name) => [name, '{"polluted":1}']));
        const call = formCall(mediaType, { ...example, ...fields, ['__proto__']: '{"polluted":1}' });
        const reply = await own.call(id, { ...callerOf(id), ...addressOf(id), ...call });
        expect([id, mediaType, reply.status < 500]).toEqual([id, mediaType, true]);
      }
    } finally {
      await own.stop();
    }
  });
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

  /** Privileged keys in one request; a form has 20 fields at most. */
  const MANY = 15;

  let serial = 0;
  const freshNumber = () => `MASS-${process.pid}-${(serial += 1)}`;

  type Write = {
    id: OperationId;
    /** Of a body that has several. */
    action?: string;
    as?: Call;
    table: string;
    body(): Promise<Body> | Body;
    /** The id of the row that was written. */
    rowOf(reply: Reply, body: Body): string | Promise<string>;
    /** All keys in one call: where each costs a password's hash, and where one action of many has been tried singly. */
    atOnce?: boolean;
    /** Puts back what other tests of this file ask to be as it was. */
    undo?(): Promise<unknown>;
    /** Columns of random secrets. */
    secrets?: string[];
  };

  const dataOf = (key: string) => (reply: Reply) => String((reply.body['data'] as Body)[key]);
  const ofBody = (key: string) => (_reply: Reply, body: Body) => String(body[key]);

  const newManifest = async () =>
    String(
      ((await service.call('createManifest', { as: 'admin', body: {} })).body['data'] as Body)['manifest_id'],
    );
  const newPackage = async () =>
    dataOf('package_id')(await send('receivePackage', { tracking_number: freshNumber(), weight: 1 }));

  /** The same customer each time, once more not there. */
  const nobodyYet = async (): Promise<Body> => {
    await service.owner.query("delete from customers where user_code = 'MASS-1'");
    return { user_code: 'MASS-1', first_name: 'F', last_name: 'L' };
  };

  /** A URL for its webhooks, for as long as the write takes. */
  const withUrls = async (url: string | null) => {
    await service.owner.query(
      'update couriers set api_url_add_package = $2, api_url_update_package = $2 where id = $1',
      [DEMO.couriers.IEX, url],
    );
  };
  const withoutUrls = async () => {
    await withUrls(null);
    await service.owner.query('delete from events');
  };

  /** A bill that is the same each time but for its number. */
  const newDraft = () =>
    newDraftBill(service.owner, { tenant_id: DEMO.tenants.demo, courier_id: DEMO.couriers.IEX });
  const newPublished = async () => {
    const id = await newDraft();
    await service.owner.query("update bills set status = 'published' where id = $1", [id]);
    return id;
  };
  /** The demo's bills alone are left, and the next number is the next of theirs. */
  const withoutBills = async () => {
    const others = `<> all ('{${Object.values(DEMO.bills).join(',')}}')`;
    for (const statement of [
      'alter table bills disable trigger user',
      'alter table bill_lines disable trigger user',
      `delete from bill_payments where bill_id ${others}`,
      `delete from bills where id ${others}`,
      'update bill_counters set last_number = 2',
      'alter table bills enable trigger user',
      'alter table bill_lines enable trigger user',
    ])
      await service.owner.query(statement);
  };
  const onBill = { id: 'manageCourierBills', undo: withoutBills, atOnce: true } as const;

  /** An action on a user of its own, made ready by `change`. */
  function ofUser(action: string, fields: Body = {}, change = 'is_active = true'): Write {
    return {
      id: 'manageUsers',
      action,
      atOnce: true,
      table: 'users',
      async body() {
        const { rows } = await service.owner.query<{ id: string }>(
          `insert into users (tenant_id, id, username, full_name, role, password_hash)
           values ($1, new_id(), $2, 'F', 'warehouse', 'x') returning id`,
          [DEMO.tenants.demo, freshNumber().toLowerCase()],
        );
        await service.owner.query(`update users set ${change} where id = $1`, [rows[0]?.id]);
        return { action, user_id: rows[0]?.id, ...fields };
      },
      rowOf: ofBody('user_id'),
      undo: withoutUsers,
    };
  }

  function withoutUsers(): Promise<unknown> {
    return service.owner.query("delete from users where username like 'mass-%'");
  }

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
    createCustomer: {
      id: 'createCustomer',
      table: 'customers',
      body: async () => ({ ...(await nobodyYet()), courier_id: DEMO.couriers.IEX }),
      rowOf: dataOf('id'),
    },
    'createCustomer by a courier': {
      id: 'createCustomer',
      as: { as: 'iex' },
      table: 'customers',
      body: () => nobodyYet(),
      rowOf: dataOf('id'),
    },
    'create a user': {
      id: 'manageUsers',
      action: 'create',
      atOnce: true,
      table: 'users',
      body: () => ({ action: 'create', username: freshNumber(), full_name: 'F', role: 'warehouse' }),
      rowOf: dataOf('user_id'),
      undo: withoutUsers,
    },
    'update a user': { ...ofUser('update', { full_name: 'Changed' }), atOnce: false },
    'change_role of a user': ofUser('change_role', { role: 'manager' }),
    'disable a user': ofUser('disable'),
    'enable a user': ofUser('enable', {}, 'is_active = false'),
    'reset_password of a user': ofUser('reset_password'),
    'reset_two_factor of a user': ofUser(
      'reset_two_factor',
      {},
      "two_factor_enabled = true, totp_secret = 'x'",
    ),
    updateCustomer: {
      id: 'updateCustomer',
      table: 'customers',
      async body() {
        const customer = { ...(await nobodyYet()), courier_id: DEMO.couriers.IEX };
        const id = dataOf('id')(await send('createCustomer', customer));
        return { courier_customer_id: id, last_name: 'Changed' };
      },
      rowOf: ofBody('courier_customer_id'),
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
    syncCustomers: {
      id: 'syncCustomers',
      table: 'customer_sync_runs',
      async body() {
        await service.owner.query(
          "update couriers set api_url_get_customers = 'https://x.example' where id = $1",
          [DEMO.couriers.IEX],
        );
        await service.owner.query('delete from customer_sync_runs');
        return { courier_id: DEMO.couriers.IEX };
      },
      rowOf: dataOf('run_id'),
      undo: () =>
        service.owner.query('update couriers set api_url_get_customers = null where id = $1', [
          DEMO.couriers.IEX,
        ]),
    },
    receivePackage: {
      id: 'receivePackage',
      table: 'packages',
      body: () => ({ tracking_number: freshNumber(), weight: 1, courier_id: DEMO.couriers.IEX }),
      rowOf: dataOf('package_id'),
    },
    updatePackage: {
      id: 'updatePackage',
      table: 'packages',
      body: async () => ({ package_id: await newPackage(), description: 'D' }),
      rowOf: ofBody('package_id'),
    },
    recordPackageEvent: {
      id: 'recordPackageEvent',
      table: 'packages',
      body: async () => ({ package_id: await newPackage(), status: 'on_hold' }),
      rowOf: ofBody('package_id'),
    },
    reviewPrealert: {
      id: 'reviewPrealert',
      table: 'prealerts',
      async body() {
        const number = freshNumber();
        const flagged = { tracking_number: number, tracking_key: number, status: 'flagged' };
        const id = await clone(service.owner, 'prealerts', DEMO.prealerts.flagged.IEX[0] ?? '', flagged);
        return { prealert_id: id, reason: 'R' };
      },
      rowOf: ofBody('prealert_id'),
    },
    createManifest: {
      id: 'createManifest',
      table: 'manifests',
      body: () => ({}),
      rowOf: dataOf('manifest_id'),
    },
    create_manifest: {
      id: 'manageManifest',
      action: 'create_manifest',
      table: 'manifests',
      body: () => ({ action: 'create_manifest' }),
      rowOf: dataOf('manifest_id'),
    },
    update_meta: {
      id: 'manageManifest',
      action: 'update_meta',
      table: 'manifests',
      body: async () => ({ action: 'update_meta', manifest_id: await newManifest(), notes: 'N' }),
      rowOf: ofBody('manifest_id'),
    },
    add_packages: {
      id: 'manageManifest',
      action: 'add_packages',
      table: 'packages',
      body: async () => ({
        action: 'add_packages',
        manifest_id: DEMO.manifests.draft,
        package_ids: [await newPackage()],
      }),
      rowOf: (_reply, body) => String((body['package_ids'] as string[])[0]),
    },
    // the values that are there: written is whatever the key adds; real changes are in courier-settings.test.ts
    updateCourierSettings: {
      id: 'updateCourierSettings',
      as: { query: { id: DEMO.couriers.IEX } },
      table: 'couriers',
      body: () => ({ courier_name: 'Island Express', city_town: 'Kingston' }),
      rowOf: dataOf('courier_id'),
    },
    remove_packages: {
      id: 'manageManifest',
      action: 'remove_packages',
      table: 'packages',
      async body() {
        const packageId = await newPackage();
        const aboard = { manifest_id: DEMO.manifests.draft, package_ids: [packageId] };
        await send('manageManifest', { action: 'add_packages', ...aboard });
        return { action: 'remove_packages', ...aboard };
      },
      rowOf: (_reply, body) => String((body['package_ids'] as string[])[0]),
    },
    save_rates: {
      id: 'manageCourierRates',
      action: 'save_rates',
      table: 'rate_tiers',
      body: () => ({
        action: 'save_rates',
        courier_id: DEMO.couriers.HRB,
        rates: [{ startweight: 0, endweight: 1, fee: 2 }],
      }),
      rowOf: firstRate,
      undo: removeRates,
    },
    'save_rates of a tier with more keys': {
      id: 'manageCourierRates',
      action: 'save_rates',
      table: 'rate_tiers',
      body: () => ({
        action: 'save_rates',
        courier_id: DEMO.couriers.HRB,
        rates: [{ ...PRIVILEGED, id: undefined, startweight: 0, endweight: 1, fee: 2 }],
      }),
      rowOf: firstRate,
      undo: removeRates,
    },
    copy_default: {
      id: 'manageCourierRates',
      action: 'copy_default',
      table: 'rate_tiers',
      body: () => ({ action: 'copy_default', courier_id: DEMO.couriers.HRB }),
      rowOf: firstRate,
      undo: removeRates,
    },
    redeliver: {
      id: 'manageWebhookDeliveries',
      action: 'redeliver',
      table: 'webhook_deliveries',
      async body() {
        await withUrls('https://partner.example/hooks');
        const eventId = await plantEvent(service.owner);
        return { action: 'redeliver', delivery_id: await plantDelivery(service.owner, { eventId }) };
      },
      rowOf: dataOf('delivery_id'),
      undo: withoutUrls,
    },
    send_test: {
      id: 'manageWebhookDeliveries',
      action: 'send_test',
      table: 'webhook_deliveries',
      async body() {
        await withUrls('https://partner.example/hooks');
        return { action: 'send_test', endpoint: 'add_package', courier_id: DEMO.couriers.IEX };
      },
      rowOf: dataOf('delivery_id'),
      undo: withoutUrls,
    },
    'create a courier': {
      id: 'manageCouriers',
      action: 'create',
      table: 'couriers',
      body: () => ({
        ...{ action: 'create', courier_code: 'MASS', courier_name: 'M', house_color: '#000000' },
        login: { ...PRIVILEGED, username: 'mass', full_name: 'M' },
      }),
      rowOf: dataOf('courier_id'),
      atOnce: true,
      secrets: ['api_key_hash', 'api_key_cipher'],
      async undo() {
        const { rows } = await service.owner.query<Body>(
          "delete from users where username = 'mass' returning role, is_active, two_factor_enabled, must_change_password",
        );
        const user = { role: 'courier', is_active: true, two_factor_enabled: false };
        expect(rows).toEqual([{ ...user, must_change_password: true }]);
        await service.owner.query("delete from couriers where code = 'MASS'");
      },
    },
    // the values that are there, as above
    'update a courier': {
      id: 'manageCouriers',
      action: 'update',
      atOnce: true,
      table: 'couriers',
      body: () => ({ action: 'update', courier_id: DEMO.couriers.IEX, courier_name: 'Island Express' }),
      rowOf: dataOf('courier_id'),
    },
    deactivate: {
      id: 'manageCouriers',
      action: 'deactivate',
      atOnce: true,
      table: 'couriers',
      body: () => ({ action: 'deactivate', courier_id: DEMO.couriers.IEX }),
      rowOf: dataOf('courier_id'),
      undo: () =>
        service.owner.query('update couriers set is_active = true, updated_at = $2 where id = $1', [
          DEMO.couriers.IEX,
          iex['updated_at'],
        ]),
    },
    activate: {
      id: 'manageCouriers',
      action: 'activate',
      atOnce: true,
      table: 'couriers',
      body: () => ({ action: 'activate', courier_id: DEMO.couriers.IEX }),
      rowOf: dataOf('courier_id'),
    },
    'create a warehouse': {
      id: 'manageWarehouses',
      action: 'create',
      table: 'warehouses',
      body: () => ({ action: 'create', name: 'Mass' }),
      rowOf: dataOf('warehouse_id'),
      undo: () => service.owner.query("delete from warehouses where name = 'Mass'"),
    },
    'update a warehouse': {
      id: 'manageWarehouses',
      action: 'update',
      atOnce: true,
      table: 'warehouses',
      body: () => ({ action: 'update', warehouse_id: DEMO.warehouses.second, name: 'Medley Overflow' }),
      rowOf: dataOf('warehouse_id'),
    },
    make_primary: {
      id: 'manageWarehouses',
      action: 'make_primary',
      atOnce: true,
      table: 'warehouses',
      body: () => ({ action: 'make_primary', warehouse_id: DEMO.warehouses.second }),
      rowOf: dataOf('warehouse_id'),
      undo: () =>
        service.call('manageWarehouses', {
          as: 'admin',
          body: { action: 'make_primary', warehouse_id: DEMO.warehouses.primary },
        }),
    },
    'create a carrier': {
      id: 'manageCarriers',
      action: 'create',
      table: 'carriers',
      body: () => ({ action: 'create', name: 'Mass' }),
      rowOf: dataOf('carrier_id'),
      undo: () => service.owner.query("delete from carriers where name = 'Mass'"),
    },
    rename: {
      id: 'manageCarriers',
      action: 'rename',
      atOnce: true,
      table: 'carriers',
      body: async () => ({
        action: 'rename',
        carrier_id: dataOf('carrier_id')(await send('manageCarriers', { action: 'create', name: 'Mass' })),
        name: 'Masses',
      }),
      rowOf: dataOf('carrier_id'),
      undo: () => service.owner.query("delete from carriers where name = 'Masses'"),
    },
    create_draft: {
      ...onBill,
      atOnce: false,
      action: 'create_draft',
      table: 'bills',
      body: () => ({
        action: 'create_draft',
        courier_id: DEMO.couriers.IEX,
        start_date: '2020-01-01',
        end_date: '2100-01-01',
        service_type: 'Air',
      }),
      rowOf: dataOf('bill_id'),
    },
    add_adjustment: {
      ...onBill,
      action: 'add_adjustment',
      table: 'bill_lines',
      body: async () => ({
        action: 'add_adjustment',
        bill_id: await newDraft(),
        description: 'D',
        amount: 1,
      }),
      rowOf: dataOf('line_id'),
    },
    publish: {
      ...onBill,
      action: 'publish',
      table: 'bills',
      body: async () => ({ action: 'publish', bill_id: await newDraft() }),
      rowOf: ofBody('bill_id'),
    },
    record_payment: {
      ...onBill,
      action: 'record_payment',
      table: 'bill_payments',
      body: async () => ({
        action: 'record_payment',
        bill_id: await newPublished(),
        amount: 1,
        method: 'cash',
      }),
      rowOf: dataOf('payment_id'),
    },
    void_payment: {
      ...onBill,
      action: 'void_payment',
      table: 'bill_payments',
      body: async () => ({
        action: 'void_payment',
        payment_id: await newBillPayment(service.owner, await newPublished()),
        reason: 'R',
      }),
      rowOf: ofBody('payment_id'),
    },
    update_air_freight: {
      id: 'manageCourierRates',
      action: 'update_air_freight',
      table: 'couriers',
      body: () => ({ action: 'update_air_freight', courier_id: DEMO.couriers.IEX, air_freight_rate: 2 }),
      rowOf: ofBody('courier_id'),
      undo: () =>
        service.owner.query('update couriers set air_freight_rate = $2, updated_at = $3 where id = $1', [
          DEMO.couriers.IEX,
          iex['air_freight_rate'],
          iex['updated_at'],
        ]),
    },
  };

  let iex: Body;

  beforeAll(async () => {
    const { rows } = await service.owner.query<Body>('select * from couriers where id = $1', [
      DEMO.couriers.IEX,
    ]);
    iex = rows[0] ?? {};
  });

  function firstRate(reply: Reply): string {
    return String((reply.body['data'] as { rates: Body[] }).rates[0]?.['id']);
  }

  function removeRates(): Promise<unknown> {
    return service.owner.query('delete from rate_tiers where courier_id = $1', [DEMO.couriers.HRB]);
  }

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
    'username',
    'password_hash',
    'password_expires_at',
    'event_id',
    'next_attempt_at',
    'bill_id',
    'invoice_number',
    'published_at',
    'recorded_at',
    'voided_at',
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
    await each.undo?.();
    return { row: rows[0] ?? {}, body };
  }

  function entityOf(id: OperationId, fields: Body): Call {
    const { mediaTypes, fileFields } = operationOf(id);
    const takesJson = (mediaTypes as readonly string[]).includes('application/json');
    return takesJson ? { body: fields } : { form: toForm(fields, fileFields) };
  }

  const withoutOwn = (row: Body, own: string[]) =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !own.includes(column)));

  // Bodies that leave no row whose fields could be assigned, and why.
  const WITHOUT_ROW: Record<string, string> = {
    'login login': 'reads',
    'login verify_2fa': 'reads',
    'resetPassword request': 'leaves nothing of what was sent: password-reset.test.ts',
    'resetPassword reset': 'asks for a token: password-reset.test.ts',
    retrievePackages: 'reads',
    changePassword: 'about the caller, whose token it ends: change-password.test.ts',
    'manageTwoFactor setup': 'about the caller: two-factor.test.ts',
    'manageTwoFactor enable': 'about the caller, whose token it ends: two-factor.test.ts',
    'manageTwoFactor disable': 'about the caller, whose token it ends: two-factor.test.ts',
    'manageTwoFactor regenerate_backup_codes': 'about the caller: two-factor.test.ts',
    'manageSessions logout': 'about the caller, whose token it ends: sessions.test.ts',
    'manageSessions end': 'leaves nothing of what was sent: sessions.test.ts',
    'manageSessions end_all': 'ends tokens: sessions.test.ts',
    updateSecuritySettings: 'would lock the other callers out: security-settings.test.ts',
    generateCourierInvoice: 'reads',
    deletePrealert: 'the row is gone',
    deleteCustomer: 'the row is gone',
    'manageManifest delete_manifest': 'the row is gone',
    'manageCourierRates delete_rate': 'the row is gone',
    'verifyAuditLog verify': 'reads',
    'manageWarehouses delete': 'the row is gone',
    'manageCarriers delete': 'the row is gone',
    'manageWebhookDeliveries recover_since': 'names none of its rows',
    'manageCourierBills remove_adjustment': 'the row is gone',
    'manageCourierBills delete_draft': 'the row is gone',
  };

  test('every body of the contract is in the table, or stands among those that leave no row', () => {
    const covered = Object.values(WRITES).map(({ id, action }) => nameOfShape({ id, action }));
    const known = [...covered, ...Object.keys(WITHOUT_ROW)];
    const missing = bodyShapes()
      .map(nameOfShape)
      .filter((name) => !known.includes(name));
    expect({ 'add to WRITES or WITHOUT_ROW': missing }).toEqual({ 'add to WRITES or WITHOUT_ROW': [] });
    expect(Object.keys(PRIVILEGED).length).toBeGreaterThanOrEqual(30);
  });

  test.each(Object.entries(WRITES))(
    '%s: each of 30 privileged keys and more is ignored',
    async (_name, each) => {
      const declared = declaredFields(each);
      const { row: plain } = await write(each, {});
      // courier_id is a courier's own to send, and is overruled
      const isPrivileged = (key: string) => !declared.includes(key) || (key === 'courier_id' && each.as);
      const keys = Object.entries(PRIVILEGED).filter(([key]) => isPrivileged(key));
      // the rows differ if any of the keys is stored; the long run tells which
      const size = each.atOnce ? keys.length : rounds(MANY, 1);
      const bodies = keys.flatMap((_, n) => (n % size === 0 ? [keys.slice(n, n + size)] : []));
      const own = [...OWN, ...(each.secrets ?? [])];
      for (const entries of bodies) {
        const sent = entries.map(([key]) => key);
        const { row } = await write(each, Object.fromEntries(entries));
        expect([sent, withoutOwn(row, own)]).toEqual([sent, withoutOwn(plain, own)]);
        for (const [key, value] of entries)
          for (const column of own) expect([key, column, row[column]]).not.toEqual([key, column, value]);
        const times = ['created_at', 'updated_at', 'received_at'].map((column) => row[column]);
        for (const time of times) if (time instanceof Date) expect(time.getFullYear()).toBeGreaterThan(2000);
      }
    },
  );

  function declaredFields({ id, action }: Write): string[] {
    const shape = bodyShapes().find((each) => each.id === id && each.action === action);
    return Object.keys(shape?.schema.properties ?? {});
  }

  test('none of it reached another table: users, couriers, bills, tiers and tenants are as they were', async () => {
    await nobodyYet();
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
