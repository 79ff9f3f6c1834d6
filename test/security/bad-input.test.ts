import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { clone } from '../support/builders/couriers.js';
import { deviceScan } from '../support/scans/device-scans.js';
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
import { insertDelivery, insertEvent, insertLabelJob } from '../support/builders/deliveries.js';
import { rounds } from '../support/harness/effort.js';
import { makeFirstOfSchema } from '../support/harness/first-of-schema.js';
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

/** Whether the response names the field or one of its elements. */
const names = (reply: Reply, field: string) =>
  fieldsOf(reply).some(
    (each) => each === field || each.startsWith(`${field}[`) || each.startsWith(`${field}.`),
  );

type BadValue = { why: string; value: unknown };

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

/** Returns values that a property's schema forbids, derived from the schema. */
function badValues(schema: Schema): BadValue[] {
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

function badTexts(schema: Schema): BadValue[] {
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
  if (schema['pattern'] === '^\\d{3}$') values.push('', '12', '1234', 'abc', '١٢٣');

  const maximum = schema['maxLength'];
  if (typeof maximum === 'number' && schema['pattern'] !== '^\\d{3}$')
    values.push('x'.repeat(maximum + 1), '😀'.repeat(maximum + 1));
  return values.map((value) => ({ why: `text ${JSON.stringify(value).slice(0, 40)}`, value }));
}

function badNumbers(schema: Schema): BadValue[] {
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

function badLists(schema: Schema): BadValue[] {
  const { minItems, maxItems } = schema as { minItems?: number; maxItems?: number };
  const lists: unknown[][] = [];
  if (minItems) lists.push([]);
  if (maxItems) lists.push(Array.from({ length: maxItems + 1 }, () => randomUUID()));
  const items = schema['items'] as Schema | undefined;
  if (items) lists.push(...badValues(items).map(({ value }) => [randomUUID(), value]));
  return lists.map((value) => ({ why: `list ${JSON.stringify(value).slice(0, 90)}`, value }));
}

type Case = BadValue & { field: string };

/**
 * Returns the forbidden values for the first field of a schema, and two of them for other fields of the same schema: the
 * first, which has another type, and the last.
 */
function makeBadValues(): (schema: Schema) => BadValue[] {
  const isFirst = makeFirstOfSchema();
  return (schema) => {
    const values = badValues(schema);
    return isFirst(schema) ? values : [...new Set([0, values.length - 1])].flatMap((n) => values[n] ?? []);
  };
}

/** Parallel requests, fewer than the service has connections. */
const SEVERAL = 8;

/** Runs `work` for each item, several in parallel. */
async function forEach<Item>(items: Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const pending = items.values();
  const workOnNext = async () => {
    for (const item of pending) await work(item);
  };
  await Promise.all(Array.from({ length: SEVERAL }, workOnNext));
}

/**
 * Groups cases so that each request has at most one case per field. The response names every invalid field,
 * so one request proves as many cases as it has fields.
 */
function requestsOf(cases: Case[]): Case[][] {
  const requests: Case[][] = [];
  const counts = new Map<string, number>();
  // The long run sends one case per request.
  const largest = rounds(Infinity, 1);
  for (const each of cases) {
    const count = counts.get(each.field) ?? 0;
    counts.set(each.field, count + 1);
    if (largest === 1) requests.push([each]);
    else (requests[count] ??= []).push(each);
  }
  return requests;
}

/**
 * Sends the cases in groups and repeats alone each case that the response does not name. Returns the cases
 * that were not rejected.
 */
async function notRejected(
  cases: Case[],
  send: (changes: Body) => Promise<Reply>,
  isRejected: (reply: Reply, each: Case) => boolean,
): Promise<string[]> {
  const wrong: string[] = [];
  await forEach(requestsOf(cases), async (together) => {
    const changes = Object.fromEntries(together.map(({ field, value }) => [field, value]));
    const joint = await send(changes);
    for (const each of together.filter((one) => !isRejected(joint, one))) {
      const reply = together.length === 1 ? joint : await send({ [each.field]: each.value });
      if (isRejected(reply, each)) continue;
      wrong.push(`${each.field} as ${each.why}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 200)}`);
    }
  });
  return wrong;
}

/** Sends JSON text; JSON.stringify writes a lone surrogate as an escape, so it survives. */
const send = (id: OperationId, body: unknown) =>
  service.call(id, { ...callerOf(id), ...addressOf(id), body: JSON.stringify(body) });

describe('JSON bodies', () => {
  const shapes = bodyShapes();
  const badValuesOf = makeBadValues();
  let unchanged: Record<string, string> | undefined;

  test.each(shapes.map((shape) => [nameOfShape(shape), shape] as const))(
    '%s: every forbidden value of every field is rejected by name, and nothing is stored',
    async (_name, shape) => {
      const before = (unchanged ??= await fingerprint(service.owner));
      const cases = Object.entries(shape.schema.properties)
        .flatMap(([field, schema]) =>
          [...badValuesOf(schema), ...missing(shape, field)].map((bad) => ({ field, ...bad })),
        )
        .filter((each) => !isListOfItems(shape, each));
      const sendChanged = (changes: Body) => send(shape.id, { ...shape.example, ...changes });
      const isNamed = (reply: Reply, { field, value }: Case) => isRejected(shape, field, value, reply);
      // The action determines which fields exist.
      const [ofAction, ofFields] = [true, false].map((is) =>
        cases.filter((each) => (each.field === 'action') === is),
      );
      const wrong = [
        ...(await notRejected(ofAction ?? [], sendChanged, isNamed)),
        ...(await notRejected(ofFields ?? [], sendChanged, isNamed)),
      ];
      expect(wrong).toEqual([]);
      // The next test starts with these rows.
      unchanged = await fingerprint(service.owner);
      expect(unchanged).toEqual(before);
    },
  );

  /** A scan is refused by itself, in a success: scan-batch.test.ts. */
  const isListOfItems = ({ id }: BodyShape, { field, value }: Case) =>
    operationOf(id).itemList === field && Array.isArray(value) && value.length === 2;

  const missing = ({ schema }: BodyShape, field: string): BadValue[] =>
    schema.required?.includes(field) ? [{ why: 'missing', value: undefined }] : [];

  function isRejected({ action }: BodyShape, field: string, value: unknown, reply: Reply): boolean {
    // The contract declares 422 for a missing or blank username or password.
    const isBlank =
      action === 'login' && field !== 'action' && typeof value === 'string' && value.trim() === '';
    const expected = isBlank ? 422 : 400;
    const isFailure = reply.body['status'] === 'fail' && typeof reply.body['code'] === 'string';
    return reply.status === expected && isFailure && names(reply, field);
  }

  test.each([...new Set(shapes.map(({ id }) => id))])(
    '%s: a body that is not an object is rejected',
    async (id) => {
      for (const body of ['null', '[[]]', '[{}]', '1', '"x"', 'true']) {
        const reply = await service.call(id, { ...callerOf(id), body });
        expect([body, reply.status, reply.body['code']]).toEqual([body, 400, 'validation_failed']);
      }
    },
  );

  test('login without a username or password gets 422 and names the missing fields', async () => {
    for (const given of [
      {},
      { username: 'admin' },
      { password: 'x' },
      { username: ' ', password: '\t' },
      { username: '', password: 'x' },
    ]) {
      const reply = await service.call('login', { body: { action: 'login', ...given } });
      expect(reply).toMatchObject({ status: 422, body: { status: 'fail', code: 'credentials_required' } });
      const missingFields = ['username', 'password'].filter(
        (name) => !(given as Body)[name]?.toString().trim(),
      );
      expect(fieldsOf(reply).sort()).toEqual(missingFields.sort());
    }
  });

  test('a response names several invalid fields, at most a hundred', async () => {
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
  const badValuesOf = makeBadValues();
  const parameters = operationIds.flatMap((id) =>
    parametersOf(id, 'query').map(({ name, schema, required }) => ({
      id,
      name,
      schema,
      required,
    })),
  );

  test('the contract has query parameters', () => {
    expect(parameters.length).toBeGreaterThan(7);
  });

  const withParameters = operationIds
    .map((id) => [id, parameters.filter((each) => each.id === id)] as const)
    .filter(([, own]) => own.length > 0);

  test.each(withParameters)('%s: every forbidden parameter value is rejected by name', async (id, own) => {
    const wrong = await notRejected(
      own.flatMap(badParameters),
      // badParameters makes strings and arrays of strings.
      (changes) => service.call(id, { ...validCall(id), query: changes as Call['query'] }),
      (reply, { field }) => reply.status === 400 && names(reply, field),
    );
    for (const { name } of own.filter(({ required }) => required)) {
      const { [name]: _, ...others } = addressOf(id).query ?? {};
      expect(fieldsOf(await service.call(id, { ...validCall(id), query: others }))).toEqual([name]);
    }
    expect(wrong).toEqual([]);
  });

  function badParameters({ name, schema }: (typeof parameters)[number]): Case[] {
    // A query contains only text, so free text cannot have a wrong type.
    const isFreeText = schema['type'] === 'string' && !schema['format'] && !schema['enum'];
    const single = badValuesOf(schema)
      .filter(({ value }) => (typeof value === 'string' ? value.isWellFormed() : !isFreeText))
      .map(({ why, value }) => ({ field: name, why, value: String(value) }));
    return [...single, { field: name, why: 'repeated', value: ['1', '2'] }];
  }

  /** Returns a valid call, to which a test adds the invalid part. */
  function validCall(id: OperationId): Call {
    const body = bodyShapes().find((shape) => shape.id === id)?.example;
    const form = formShapes().find((shape) => shape.id === id && operationOf(id).mediaTypes.length === 1);
    return { ...callerOf(id), ...(body ? { body } : form ? formCall(form.mediaType, form.example) : {}) };
  }

  const inPaths = operationIds.flatMap((id) => parametersOf(id, 'path').map((each) => ({ id, ...each })));

  test.each(inPaths)(
    '$id: every forbidden value of $name in the path is rejected by name',
    async ({ id, name, schema, example }) => {
      const values = [...badTexts(schema), ...PATH_TEXTS.map((value) => ({ why: value, value }))];
      const wrong: string[] = [];
      await forEach(values, async ({ why, value }) => {
        if (typeof value !== 'string' || value === '' || !value.isWellFormed()) return;
        const path = { [name]: value };
        const reply = await service.call(id, { ...validCall(id), path });
        // A key in the path of a page is a credential: nothing tells a malformed one from a wrong one.
        const isRefused = operationOf(id).isPage
          ? reply.status === 404
          : reply.status === 400 && names(reply, name);
        if (!isRefused) wrong.push(`${why}: ${reply.status}`);
      });
      expect(wrong).toEqual([]);
      const tooLong = { [name]: `${example}`.padEnd(101, 'a') };
      expect((await service.call(id, { ...validCall(id), path: tooLong })).status).toBe(404);
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

  // One test for all forms, because there may be none.
  test('every forbidden value of every form field is rejected by name, and nothing is stored', async () => {
    for (const [name, shape] of shapes) {
      const before = await fingerprint(service.owner);
      for (const [field, schema] of Object.entries(shape.schema.properties)) {
        for (const value of badFormValues(schema)) {
          const reply = await sendForm(shape, { [field]: value });
          const actual = [name, field, shown(value), reply.status, names(reply, field)];
          expect(actual).toEqual([name, field, shown(value), 400, true]);
        }
        if (!shape.schema.required?.includes(field)) continue;
        const withoutField = await sendForm(shape, { [field]: undefined });
        // Without its only field, a form is empty.
        const isNamed = names(withoutField, field) || withoutField.body['code'] === 'body_required';
        expect([name, field, withoutField.status, isNamed]).toEqual([name, field, 400, true]);
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

  /**
   * Returns forbidden form values. A form has only text and files: a text is sent for a file, but never a
   * file for a text.
   */
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

describe('property names with a special meaning in JavaScript', () => {
  const NAMES = ['__proto__', 'constructor', 'prototype', '__defineGetter__', 'hasOwnProperty'];
  const POLLUTING = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';

  /** Formats that take less time to render than the default. */
  const QUICK_FORMATS: Partial<Record<OperationId, Call['query']>> = {
    downloadCourierBill: { format: 'csv' },
    getManifestDocument: { format: 'csv' },
    getPackageLabel: { format: 'zpl' },
    exportPackagesXlsx: { trackingNumber: 'none' },
  };

  // The service runs in this process, so pollution would be visible here.
  afterEach(() => {
    expect(({} as Body)['polluted']).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  /** Operations without parameters share one validator, so the default run calls one per method. */
  const isFirstQuery = (id: OperationId, index: number) =>
    rounds(0, 1) === 1 ||
    parametersOf(id, 'query').length > 0 ||
    withoutQuery.get(operationOf(id).method) === index;
  const withoutQuery = new Map(
    operationIds.flatMap((id, index) =>
      parametersOf(id, 'query').length > 0 ? [] : [[operationOf(id).method, index] as const],
    ),
  );

  test.each(operationIds.filter(isFirstQuery))('%s ignores or rejects them in a query', async (id) => {
    const call = { ...callerOf(id), ...addressOf(id) };
    // The tests below need the record, so a random id is deleted.
    if (operationOf(id).method === 'DELETE') call.query = { id: randomUUID() };
    call.query = { ...call.query, ...QUICK_FORMATS[id] };
    const plain = await service.call(id, call);
    const names = [...NAMES, '__proto__[polluted]', 'constructor[prototype][polluted]'];
    // The default run sends all names at once, the long run one by one.
    for (const together of rounds(0, 1) === 1 ? names.map((name) => [name]) : [names]) {
      const query = together.map((name) => [name, '1'] as const);
      const reply = await service.call(id, {
        ...call,
        query: Object.fromEntries([...Object.entries(call.query), ...query]),
      });
      expect([together, [plain.status, 400]]).toEqual([together, expect.arrayContaining([reply.status])]);
    }
  });

  // The parser rejects them before the action is read, so the default run sends one action per operation.
  const isFirstAction = ({ id }: BodyShape, index: number, all: BodyShape[]) =>
    rounds(0, 1) === 1 || all.findIndex((shape) => shape.id === id) === index;

  test.each(
    bodyShapes()
      .filter(isFirstAction)
      .map((shape) => [nameOfShape(shape), shape] as const),
  )('%s rejects them in a JSON body at any depth', async (_name, { id, example }) => {
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
  });

  test('forms treat them as ordinary fields', async () => {
    // A service of its own, because the forms replace API keys.
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

  /** Privileged keys per request; a form has at most 20 fields. */
  const MANY = 15;

  let serial = 0;
  const freshNumber = () => `MASS-${process.pid}-${(serial += 1)}`;

  type Write = {
    id: OperationId;
    /** The action, if the operation has several. */
    action?: string;
    as?: Call;
    table: string;
    body(): Promise<Body> | Body;
    /** Returns the id of the written row. */
    rowOf(reply: Reply, body: Body): string | Promise<string>;
    /**
     * Sends all keys in one call: for operations that hash a password, and where another action was tested
     * key by key.
     */
    isBatched?: boolean;
    /** Restores what other tests of this file need. */
    undo?(): Promise<unknown>;
    /** Columns with random values. */
    secrets?: string[];
  };

  const firstJob = (reply: Reply) => String((reply.body['data'] as { jobs: Body[] }).jobs[0]?.['job_id']);
  const LABEL_IDS = ['print_id', 'package_id', 'claim_id', 'lease_until', 'expires_at'];
  const dataOf = (key: string) => (reply: Reply) => String((reply.body['data'] as Body)[key]);
  const ofBody = (key: string) => (_reply: Reply, body: Body) => String(body[key]);

  const newManifest = async () =>
    String(
      ((await service.call('createManifest', { as: 'admin', body: {} })).body['data'] as Body)['manifest_id'],
    );
  const newPackage = async () =>
    dataOf('package_id')(await send('receivePackage', { tracking_number: freshNumber(), weight: 1 }));

  /** Deletes the customer if it exists, so that each write creates the same one. */
  const newCustomer = async (): Promise<Body> => {
    await service.owner.query("delete from customers where user_code = 'MASS-1'");
    return { user_code: 'MASS-1', first_name: 'F', last_name: 'L' };
  };

  /** Sets or removes the courier's webhook URLs. */
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

  /** Creates a draft bill that differs only in its number. */
  const newDraft = () =>
    newDraftBill(service.owner, { tenant_id: DEMO.tenants.demo, courier_id: DEMO.couriers.IEX });
  const newPublished = async () => {
    const id = await newDraft();
    await service.owner.query("update bills set status = 'published' where id = $1", [id]);
    return id;
  };
  /** Deletes all bills but the demo's and resets the bill counter. */
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
  const onBill = { id: 'manageCourierBills', undo: withoutBills, isBatched: true } as const;

  /** Writes an action on a new user, prepared by `change`. */
  function ofUser(action: string, fields: Body = {}, change = 'is_active = true'): Write {
    return {
      id: 'manageUsers',
      action,
      isBatched: true,
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

  /** The same as a user of the team. */
  function ofTeam(...write: Parameters<typeof ofUser>): Write {
    return { ...ofUser(...write), id: 'manageTeam' };
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
      body: async () => ({ ...(await newCustomer()), courier_id: DEMO.couriers.IEX }),
      rowOf: dataOf('id'),
    },
    'createCustomer by a courier': {
      id: 'createCustomer',
      as: { as: 'iex' },
      table: 'customers',
      body: () => newCustomer(),
      rowOf: dataOf('id'),
    },
    'create a user': {
      id: 'manageUsers',
      action: 'create',
      isBatched: true,
      table: 'users',
      body: () => ({ action: 'create', username: freshNumber(), full_name: 'F', role: 'warehouse' }),
      rowOf: dataOf('user_id'),
      undo: withoutUsers,
    },
    'update a user': { ...ofUser('update', { full_name: 'Changed' }), isBatched: false },
    'change_role of a user': ofUser('change_role', { role: 'manager' }),
    'create a user of the team': {
      id: 'manageTeam',
      action: 'create',
      isBatched: true,
      table: 'users',
      body: () => ({ action: 'create', username: freshNumber(), full_name: 'F', role: 'warehouse' }),
      rowOf: dataOf('user_id'),
      undo: withoutUsers,
    },
    'update a user of the team': { ...ofTeam('update', { full_name: 'Changed' }), isBatched: false },
    'change_role of a user of the team': ofTeam('change_role', {
      ...{ role: 'courier', courier_role: 'member', courier_id: DEMO.couriers.IEX },
    }),
    'disable a user of the team': ofTeam('disable'),
    'enable a user of the team': ofTeam('enable', {}, 'is_active = false'),
    'reset_password of a user of the team': ofTeam('reset_password'),
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
        const customer = { ...(await newCustomer()), courier_id: DEMO.couriers.IEX };
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
    uploadPrealerts: {
      id: 'uploadPrealerts',
      table: 'prealerts',
      async body() {
        await service.owner.query("delete from prealerts where tracking_number = 'MASS-1'");
        return { file: 'tracking_number,user_code\nMASS-1,IEX-1001\n', target_courier_id: DEMO.couriers.IEX };
      },
      async rowOf() {
        const { rows } = await service.owner.query<{ id: string }>(
          "select id from prealerts where tracking_number = 'MASS-1'",
        );
        return rows[0]?.id ?? '';
      },
    },
    createIntegrationCheck: {
      id: 'createIntegrationCheck',
      table: 'integration_checks',
      async body() {
        await service.owner.query(
          "update couriers set api_url_add_package = 'https://x.example' where id = $1",
          [DEMO.couriers.IEX],
        );
        await service.owner.query('delete from integration_checks');
        // Six an hour are allowed.
        await service.owner.query("delete from courier_quotas where kind = 'integration_checks'");
        return { endpoint: 'add_package', courier_id: DEMO.couriers.IEX };
      },
      rowOf: dataOf('check_id'),
      undo: () =>
        service.owner.query('update couriers set api_url_add_package = null where id = $1', [
          DEMO.couriers.IEX,
        ]),
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
    createLabelJobs: {
      id: 'createLabelJobs',
      table: 'label_jobs',
      body: async () => ({ print_id: randomUUID(), station: 'belt-1', package_ids: [await newPackage()] }),
      rowOf: firstJob,
      secrets: LABEL_IDS,
    },
    claimLabelJobs: {
      id: 'claimLabelJobs',
      table: 'label_jobs',
      async body() {
        const station = freshNumber();
        const body = { print_id: randomUUID(), station, package_ids: [await newPackage()] };
        await send('createLabelJobs', body);
        return { station, max_jobs: 1 };
      },
      rowOf: firstJob,
      secrets: [...LABEL_IDS, 'station'],
    },
    reportLabelJob: {
      id: 'reportLabelJob',
      table: 'label_jobs',
      async body() {
        const claim_id = randomUUID();
        const job = { packageId: await newPackage(), status: 'claimed', claimId: claim_id } as const;
        return { job_id: await insertLabelJob(service.owner, job), claim_id, status: 'sending' };
      },
      rowOf: ofBody('job_id'),
      secrets: [...LABEL_IDS, 'requested_by'],
    },
    reprintLabelJob: {
      id: 'reprintLabelJob',
      table: 'label_jobs',
      async body() {
        const job = { packageId: await newPackage(), status: 'failed', claimId: randomUUID() } as const;
        return { print_id: randomUUID(), job_id: await insertLabelJob(service.owner, job) };
      },
      rowOf: firstJob,
      secrets: [...LABEL_IDS, 'reprint_of'],
    },
    sendScans: {
      id: 'sendScans',
      table: 'scans',
      body: () => ({ station: 'Dock', scans: [deviceScan('receive', freshNumber(), 1, { weight: 1 })] }),
      rowOf: ({ body }) => String(body['data'].results[0].scan_id),
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
    claimParcel: {
      id: 'claimParcel',
      as: { as: 'iex' },
      // A user has 30 claims per hour in a server, fewer than there are keys.
      isBatched: true,
      table: 'parcel_claims',
      async body() {
        // Each of the rounds is a claim.
        await service.owner.query("delete from courier_quotas where kind = 'claim_attempts'");
        return { tracking_number: freshNumber(), user_code: 'IEX-1001' };
      },
      rowOf: dataOf('claim_id'),
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
    reopen_manifest: {
      id: 'manageManifest',
      action: 'reopen_manifest',
      table: 'manifests',
      async body() {
        const manifest_id = await newManifest();
        await send('manageManifest', { action: 'update_meta', manifest_id, status: 'ready' });
        return { action: 'reopen_manifest', manifest_id };
      },
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
    // Sends the existing values, so that only privileged keys could change the row; courier-settings.test.ts
    // tests changes.
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
        const onManifest = { manifest_id: DEMO.manifests.draft, package_ids: [packageId] };
        await send('manageManifest', { action: 'add_packages', ...onManifest });
        return { action: 'remove_packages', ...onManifest };
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
        const eventId = await insertEvent(service.owner);
        return { action: 'redeliver', delivery_id: await insertDelivery(service.owner, { eventId }) };
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
      isBatched: true,
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
    // Sends the existing values, as above.
    'update a courier': {
      id: 'manageCouriers',
      action: 'update',
      isBatched: true,
      table: 'couriers',
      body: () => ({ action: 'update', courier_id: DEMO.couriers.IEX, courier_name: 'Island Express' }),
      rowOf: dataOf('courier_id'),
    },
    deactivate: {
      id: 'manageCouriers',
      action: 'deactivate',
      isBatched: true,
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
      isBatched: true,
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
      isBatched: true,
      table: 'warehouses',
      body: () => ({ action: 'update', warehouse_id: DEMO.warehouses.second, name: 'Medley Overflow' }),
      rowOf: dataOf('warehouse_id'),
    },
    make_primary: {
      id: 'manageWarehouses',
      action: 'make_primary',
      isBatched: true,
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
      isBatched: true,
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
      isBatched: false,
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

  // columns that differ between writes regardless of the request
  const VOLATILE = [
    'id',
    'tracking_number',
    'tracking_key',
    'announced_key',
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
    'scan',
    'scanned_at',
    'arrived_at',
    'parcel_key',
    'content_hash',
  ];

  async function write(each: Write, extra: Body): Promise<{ row: Body; body: Body }> {
    const body = await each.body();
    // The operation's own fields take precedence.
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

  const withoutVolatile = (row: Body, own: string[]) =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !own.includes(column)));

  // Bodies without a row whose fields could be assigned, with the reason.
  const WITHOUT_ROW: Record<string, string> = {
    'login login': 'reads',
    'login verify_2fa': 'reads',
    'reviewParcelClaim approve': 'stores nothing of the request but the reason: review-claim.test.ts',
    'reviewParcelClaim resolve': 'stores nothing of the request but the reason: review-claim.test.ts',
    'reviewParcelClaim refuse': 'stores nothing of the request but the reason: review-claim.test.ts',
    'resetPassword request': 'stores nothing of the request: request-reset.test.ts',
    'resetPassword reset': 'needs a token: reset-password.test.ts',
    voidReceipt: 'stores nothing of the request but the reason: void-receipt.test.ts',
    listPackages: 'reads',
    resolveScan: 'reads',
    queueDispatch: 'stores nothing of the request: queue-dispatch.test.ts',
    changePassword: 'acts on the caller and ends its token: change-password.test.ts',
    'manageTwoFactor setup': 'acts on the caller: enable-two-factor.test.ts',
    'manageTwoFactor enable': 'acts on the caller and ends its token: enable-two-factor.test.ts',
    'manageTwoFactor disable': 'acts on the caller and ends its token: disable-two-factor.test.ts',
    'manageTwoFactor regenerate_backup_codes': 'acts on the caller: disable-two-factor.test.ts',
    'manageStationWorker remember': 'stores nothing of the request: pins.test.ts',
    'manageStationWorker forget': 'stores nothing of the request: pins.test.ts',
    'manageStationWorker set_pin': 'acts on the caller and stores only a hash: pins.test.ts',
    'manageStationWorker remove_pin': 'stores nothing of the request: pins.test.ts',
    switchWorker: 'stores nothing of the request: pins.test.ts',
    createDeviceSession: 'stores nothing: device-session.test.ts',
    'manageSessions logout': 'acts on the caller and ends its token: sessions.test.ts',
    'manageSessions end': 'stores nothing of the request: sessions.test.ts',
    'manageSessions end_all': 'ends tokens: sessions.test.ts',
    'manageFeeds create': 'the response has the row without its secret: manage-feeds.test.ts',
    'manageFeeds update': 'the response has the row without its secret: manage-feeds.test.ts',
    'manageFeeds rotate': 'stores nothing of the request but the secret: manage-feeds.test.ts',
    'manageFeeds delete': 'stores nothing of the request: manage-feeds.test.ts',
    'manageTrackingLinks create': 'stores nothing of the request: tracking-access.test.ts',
    'manageTrackingLinks replace': 'stores nothing of the request: tracking-access.test.ts',
    'manageTrackingLinks set_amount_due':
      'stores nothing of the request but the amount: tracking-access.test.ts',
    'manageTrackingLinks end': 'stores nothing of the request: tracking-access.test.ts',
    updateTrackingSettings: 'has no column beside the declared fields: tracking-page.test.ts',
    submitTrackingSearch: 'reads',
    updateNoticeSettings: 'has no column beside the declared fields: notice-settings.test.ts',
    submitNoticeChoice: 'stores nothing of the request but the choice: notice-choice.test.ts',
    receiveFeedEvent: 'its fields are those of the sender: receive-events.test.ts',
    setPrealertCarrier: 'stores nothing of the request but the carrier: carrier-of-prealert.test.ts',
    'manageServiceTokens create':
      'the response has the row without its secret: manage-service-tokens.test.ts',
    'manageServiceTokens update':
      'the response has the row without its secret: manage-service-tokens.test.ts',
    'manageServiceTokens rotate': 'stores nothing of the request: manage-service-tokens.test.ts',
    'manageServiceTokens revoke': 'stores nothing of the request: manage-service-tokens.test.ts',
    'manageSandbox create': 'has no column beside the declared fields: manage-sandbox.test.ts',
    'manageSandbox end': 'stores nothing of the request: manage-sandbox.test.ts',
    'manageSandboxLives start': 'has no column beside the declared fields: each-life.test.ts',
    'manageSandboxLives stop': 'stores nothing of the request: clock.test.ts',
    'manageSandboxLives advance': 'stores nothing of the request: clock.test.ts',
    'manageSandboxLives next_step': 'stores nothing of the request: clock.test.ts',
    'manageSandboxLives set_speed': 'has no column beside the declared fields: clock.test.ts',
    'manageBillingRun draft': 'returns several rows: draft-billing-run.test.ts',
    'manageBillingRun publish': 'stores nothing of the request: publish-billing-run.test.ts',
    'manageBillingRun send': 'stores nothing of the request but the language: send-billing-run.test.ts',
    sendBill: 'stores nothing of the request but the language: send-bill.test.ts',
    updatePaymentTerms: 'has no column beside the declared fields: payment-terms.test.ts',
    updatePreferences:
      'acts on the caller, and has no column beside the declared fields: preferences.test.ts',
    updateTenantSettings: 'has no column beside the declared fields: tenant-settings.test.ts',
    updateSecuritySettings: 'would lock the other callers out: security-settings.test.ts',
    previewCourierInvoice: 'reads',
    previewRates: 'reads',
    regenerateApiKey: 'stores nothing of the request: plain-operations.test.ts',
    endPreviousWebhookSecret: 'stores nothing of the request: end-webhook-secret.test.ts',
    rotateWebhookSecret: 'stores nothing of the request: plain-operations.test.ts',
    deleteLogo: 'deletes the row',
    deletePrealert: 'deletes the row',
    deleteCustomer: 'deletes the row',
    'manageManifest delete_manifest': 'deletes the row',
    'manageCourierRates delete_rate': 'deletes the row',
    'verifyAuditLog verify': 'reads',
    'manageWarehouses delete': 'deletes the row',
    'manageCarriers delete': 'deletes the row',
    'manageWebhookDeliveries recover_since': 'returns no row ids',
    'manageWebhookDeliveries redeliver_matching': 'returns no row ids',
    'manageCourierBills remove_adjustment': 'deletes the row',
    'manageCourierBills delete_draft': 'deletes the row',
  };

  test('WRITES and WITHOUT_ROW together contain every JSON body of the contract', () => {
    const covered = Object.values(WRITES).map(({ id, action }) => nameOfShape({ id, action }));
    const known = [...covered, ...Object.keys(WITHOUT_ROW)];
    const missing = bodyShapes()
      .map(nameOfShape)
      .filter((name) => !known.includes(name));
    expect({ 'add to WRITES or WITHOUT_ROW': missing }).toEqual({ 'add to WRITES or WITHOUT_ROW': [] });
    expect(Object.keys(PRIVILEGED).length).toBeGreaterThanOrEqual(30);
  });

  test.each(Object.entries(WRITES))(
    '%s ignores each of more than 30 privileged keys',
    async (_name, each) => {
      const declared = declaredFields(each);
      const { row: plain } = await write(each, {});
      // courier_id is a declared field, but a courier's value is overruled.
      const isPrivileged = (key: string) => !declared.includes(key) || (key === 'courier_id' && each.as);
      const keys = Object.entries(PRIVILEGED).filter(([key]) => isPrivileged(key));
      // The rows differ if any key is stored; the long run shows which one.
      const isForm = 'form' in entityOf(each.id, {});
      const size = each.isBatched ? keys.length : rounds(isForm ? MANY : keys.length, 1);
      const bodies = keys.flatMap((_, n) => (n % size === 0 ? [keys.slice(n, n + size)] : []));
      const own = [...VOLATILE, ...(each.secrets ?? [])];
      for (const entries of bodies) {
        const sent = entries.map(([key]) => key);
        const { row } = await write(each, Object.fromEntries(entries));
        expect([sent, withoutVolatile(row, own)]).toEqual([sent, withoutVolatile(plain, own)]);
        const stored = entries.flatMap(([key, value]) =>
          own.filter((column) => isDeepStrictEqual(row[column], value)).map((column) => [key, column]),
        );
        expect(stored).toEqual([]);
        const times = ['created_at', 'updated_at', 'received_at'].map((column) => row[column]);
        for (const time of times) if (time instanceof Date) expect(time.getFullYear()).toBeGreaterThan(2000);
      }
    },
  );

  function declaredFields({ id, action }: Write): string[] {
    const shape = bodyShapes().find((each) => each.id === id && each.action === action);
    return Object.keys(shape?.schema.properties ?? {});
  }

  async function rowsOf({ owner }: Service, table: string): Promise<unknown[]> {
    const { rows } = await owner.query<{ row: unknown }>(
      `select to_jsonb(t) as row from "${table}" t order by t::text`,
    );
    return rows.map(({ row }) => row);
  }

  test('no other table changed: users, couriers, bills, rate tiers and tenants are unchanged', async () => {
    await newCustomer();
    const untouched = await startService();
    try {
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
        const [current, fresh] = [await rowsOf(service, table), await rowsOf(untouched, table)];
        expect([table, current]).toEqual([table, fresh]);
      }
    } finally {
      await untouched.stop();
    }
  });
});
