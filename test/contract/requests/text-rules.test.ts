import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import type { ContractRoute, Schema } from '../../../src/platform/contract/bundle.js';
import { readText, TEXT_KINDS, type TextKind } from '../../../src/platform/values/text-rules.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { inputs, isNamed } from '../../support/builders/inputs.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';
import { workedMs } from '../../support/harness/event-loop-block.js';

let service: Service;
let parcels: ReturnType<typeof makeParcels>;

beforeAll(async () => {
  service = await startService();
  parcels = makeParcels(service);
  await service.owner.query("update users set two_factor_enabled = true, totp_secret = 'x' where id = $1", [
    DEMO.usersOfTwo.admin,
  ]);
});

afterAll(async () => {
  await service.stop();
});

/** A text with one of a few values, which the schema lists or which has a form that allows nothing else. */
const isClosed = (schema: Schema) =>
  schema['enum'] !== undefined ||
  schema['const'] !== undefined ||
  ['uuid', 'date', 'binary'].includes(String(schema['format']));

/** Returns every schema of a text that a caller may send, with its place. */
function textsOf(node: unknown, place: string): [place: string, schema: Schema][] {
  if (typeof node !== 'object' || node === null) return [];
  const schema = node as Schema;
  const own: [string, Schema][] =
    [schema['type']].flat().includes('string') && !isClosed(schema) ? [[place, schema]] : [];
  const parts = Object.entries((schema['properties'] ?? {}) as Schema).flatMap(([name, child]) =>
    textsOf(child, `${place}.${name}`),
  );
  const combined = ['oneOf', 'anyOf', 'allOf'].flatMap((key) => (schema[key] ?? []) as Schema[]);
  return [
    ...own,
    ...parts,
    ...textsOf(schema['items'], `${place}[]`),
    ...combined.flatMap((each) => textsOf(each, place)),
  ];
}

// Our generator wrote this file.
const routes = JSON.parse(
  readFileSync(join(projectRoot, 'generated', 'routes.json'), 'utf8'),
) as ContractRoute[];

const texts = routes.flatMap(({ schema }) => {
  const { content = {} } = (schema['body'] ?? {}) as { content?: Record<string, { schema: Schema }> };
  return [
    ...['params', 'querystring', 'headers'].flatMap((part) =>
      textsOf(schema[part], `${schema.operationId} ${part}`),
    ),
    ...Object.entries(content).flatMap(([type, media]) =>
      textsOf(media.schema, `${schema.operationId} ${type}`),
    ),
  ];
});

test('every text input of every operation and media type has a rule', () => {
  expect(texts.length).toBeGreaterThan(200);
  const without = texts.filter(([, schema]) => !TEXT_KINDS.includes(schema['x-text'] as TextKind));
  expect(without.map(([place]) => place)).toEqual([]);
});

test('only secrets and fixed texts are used exactly as they are sent', () => {
  const exact = texts
    .filter(([, schema]) => schema['x-text'] === 'exact')
    .map(([place]) => place.split('.').at(-1));
  expect([...new Set(exact)].sort()).toEqual([
    'Idempotency-Key',
    'api_token',
    'current_password',
    'file',
    'key',
    'new_password',
    'password',
    'pin',
    'preauth_token',
    'secret',
    'token',
  ]);
});

const kindOf = (schema: Schema) => schema['x-text'] as TextKind | undefined;
const refusing = inputs.filter(({ schema }) => {
  const kind = kindOf(schema);
  return kind !== undefined && kind !== 'exact' && kind !== 'scan';
});

describe('control characters', () => {
  test.each(refusing.map((input) => [`${input.field} of ${input.owner}`, input] as const))(
    '%s refuses them',
    async (_name, input) => {
      const reply = await service.call(input.id, input.callWith('a\u0007b'));
      const errors = (reply.body['errors'] ?? []) as { field: string; code: string; message: string }[];
      const messages = errors
        .filter(({ field }) => isNamed(field, input.field))
        .map(({ message }) => message);
      expect(reply.status).toBe(400);
      expect(messages).toContainEqual(expect.stringContaining('U+0007, which is at position 2'));
    },
  );
});

describe('the rules', () => {
  test.each<[kind: TextKind, sent: string, read: string]>([
    ['code', ' TR-1\u00a0', 'TR-1'],
    ['code', 'TR-1\u200b', 'TR-1'],
    ['code', 'T\u200bR\u00ad-\u20601\ufeff', 'TR-1'],
    ['code', '\u202aTR-1\u202c', 'TR-1'],
    ['code', '\u200e \u200fTR-1 \r\n', 'TR-1'],
    ['code', 'IEX-1001\u3164', 'IEX-1001'],
    ['code', 'IEX-\ufe0f1\u206a0\u034f0\u061c1', 'IEX-1001'],
    ['code', '\u2800IEX\u180e-\u{e0001}1001\uffa0 \u115f', 'IEX-1001'],
    ['one_time_code', '267\u3164907\u2800', '267907'],
    ['code', 'Ann  Lee', 'Ann  Lee'],
    ['code', '1E3', '1E3'],
    ['code', '12E-5', '12E-5'],
    ['code', '#12', '#12'],
    ['code', '#A-1', '#A-1'],
    ['code', '1.5E3', '1.5E3'],
    ['code', '9E21', '9E21'],
    ['code', '101.0', '101.0'],
    ['code', '1234.5', '1234.5'],
    ['code', '1,234', '1,234'],
    ['code', '12.345.678', '12.345.678'],
    ['code', '1.234.567.890', '1.234.567.890'],
    ['code', '192.168.100.200', '192.168.100.200'],
    ['code', '2026-05-03', '2026-05-03'],
    ['code', '03-05-2026', '03-05-2026'],
    ['code', '2026-11-001', '2026-11-001'],
    ['code', '12/34/5678', '12/34/5678'],
    ['code', 'NAN', 'NAN'],
    ['code', 'nan', 'nan'],
    ['scan', '123,123', '123,123'],
    ['line', '\u3000Ann Lee\u2003', 'Ann Lee'],
    ['line', '\ufeffAnn\u200b', 'Ann'],
    ['line', 'نمی\u200cخواهم', 'نمی\u200cخواهم'],
    ['line', '👩\u200d👧', '👩\u200d👧'],
    ['line', '❤\ufe0f', '❤\ufe0f'],
    ['line', '\u3164Ann \u2800', 'Ann'],
    ['text', '  two\n\tlines\r\n', 'two\n\tlines'],
    ['search', ' lee ', 'lee'],
    ['search', '9.4E+21', '9.4E+21'],
    ['scan', ' ]C1\u001d0012\r\n', ']C1\u001d0012'],
    ['one_time_code', ' 267 907 ', '267907'],
    ['one_time_code', '267\u00a0907', '267907'],
    ['one_time_code', ' abcd-EFGH ', 'abcd-EFGH'],
    ['exact', ' \u0007x ', ' \u0007x '],
  ])('%s reads %j as %j', (kind, sent, text) => {
    expect(readText(kind, sent)).toEqual({ text });
  });

  test.each<[kind: TextKind, sent: string, character: string, position: number]>([
    ['code', 'CC\n1', 'U+000A', 3],
    ['code', '  a\u0007', 'U+0007', 4],
    ['code', 'a\u0085b', 'U+0085', 2],
    ['line', '😀\tx', 'U+0009', 2],
    ['line', 'a\u2028b', 'U+2028', 2],
    ['text', 'a\u001db', 'U+001D', 2],
    ['one_time_code', '12\u00003', 'U+0000', 3],
  ])('%s refuses %j', (kind, sent, character, position) => {
    expect(readText(kind, sent).problem).toEqual(['control_character', { character, position }]);
  });

  test.each([
    ...[
      '9.40011E+21',
      '9,4E+21',
      '1.23457E+11',
      '6.12206E+11',
      '1E+12',
      '9.4e+21',
      '1.2E-04',
      '-1.5E+10',
      '9.40011E+021',
    ],
    ...[
      '9.40011E21',
      '9,40011e21',
      '1.2345678E7',
      '9400111899223100000.0',
      '9400111899223100000.00',
      '9400111899223,00',
      '1001.0',
      '9,400,111,899,223',
      '9,400,111,899.00',
      '9.400.111.899.223.100,00',
      "9'400'111'899",
      '9’400’111’899',
    ],
    ...[
      '#WERT!',
      '#BEZUG!',
      '#NOM?',
      '#¿NOMBRE?',
      '#ÜBERLAUF!',
      '#NV',
      '#Н/Д',
      '#ЗНАЧ!',
      '#VALEUR!',
      'Err:502',
    ],
    ...['NaN', 'Infinity', '-Infinity'],
    ...['03/05/2026', '3/5/2026', '31.12.2025', '2026/05/03', '2026-05-03 00:00:00', '2026-05-03T00:00:00Z'],
    ...['#####', '##', '#NAME?', '#N/A', '#REF!', '#¡VALOR!', '#N/D', '="00123"', '=  "1"', "'00123", "'-5"],
  ])('a code refuses %j, which a spreadsheet left', (sent) => {
    expect(readText('code', ` ${sent} `).problem?.[1]).toEqual({ text: sent });
    expect(readText('scan', sent).problem).toEqual(expect.any(Array));
  });
});

test.each([
  ...[
    'UPS 9.4E+21',
    '1.23457E+11 x',
    'UPS:9,4E+21',
    '(9.4e+21)',
    'IEX-1.23457E+11',
    'IEX1.23457E+11',
    'UPS 1E+12.',
  ],
  ...['UPS 9.40011E21', 'REF 1.2E-04', 'a 9.4E+21 b', 'Guía 9.4E+21', 'UPS\u00a09.4E+21', '9.4E+21;9.5E+21'],
  ...['UPS #####', '##### x', 'UPS ="00123"', '="00123" x'],
])('a code and a scan refuse %j, where a damaged number is among words', (sent) => {
  for (const kind of ['code', 'scan'] as const)
    expect(readText(kind, sent).problem).toEqual([expect.any(String), { text: sent }]);
});

test.each([
  ...[
    'UPS 1Z5R89390357567127',
    '1Z12345E0205271688',
    'A1E+5',
    '12E-5 x',
    'X 1E3',
    'ABC1.5E10',
    'Box # 5',
    'Apt ## 5',
  ],
  ...[
    'https://t.example/?a="1"',
    'https://t.example/?q=12E+34+Street',
    'UPS 3-Jan',
    'UPS 03/05/2026',
    'E+21',
    '9.4E+',
  ],
])('a code and a scan accept %j', (sent) => {
  for (const kind of ['code', 'scan'] as const) expect(readText(kind, sent).problem).toBeUndefined();
});

test('a long text of white space and invisible characters is read in linear time', () => {
  const started = workedMs();
  for (const kind of TEXT_KINDS)
    for (const unit of [
      ' ',
      '\u200b',
      '\u2800',
      '\u{e0020}',
      '\u00a0',
      ' \u200b',
      '#',
      '1',
      '="',
      '1,111',
      '.000',
      '#A',
      ' ="',
      '1.1E',
      '1E+',
      ' ###',
    ])
      readText(kind, `é${unit.repeat(300_000)}é`);
  expect(workedMs() - started).toBeLessThan(2_000);
});

describe('stored texts', () => {
  test('a customer is one customer, however the code is sent', async () => {
    const names = { first_name: ' Ann ', last_name: 'Lee\u200b' };
    const create = (user_code: string) =>
      service.call('createCustomer', { as: 'iex', body: { user_code, ...names } });
    expect((await create(' TEXT-1\u00a0')).status).toBe(200);
    for (const same of ['TEXT-1\u200b', 'TE\u200bXT-1'])
      expect((await create(same)).body['code']).toBe('duplicate_user_code');
    const [row] = await parcels.select("select * from customers where user_code = 'TEXT-1'", []);
    expect(row).toMatchObject({ first_name: 'Ann', last_name: 'Lee' });
    const file = Buffer.from('user_code,first_name,last_name\n TEXT-1 ,Ann,Lee\u200b\n');
    const uploaded = await service.call('uploadCustomers', { as: 'iex', form: { file: { file } } });
    expect(uploaded.body['data']).toMatchObject({ unchanged: 1, created: 0 });
    const found = await service.call('listCustomers', { as: 'iex', query: { search: ' TEXT-1 ' } });
    expect(found.body['total']).toBe(1);
  });

  test('a code with an invisible character is no second code, in JSON, files and pre-alerts', async () => {
    const names = { first_name: 'Ann', last_name: 'Lee' };
    for (const mark of ['\u3164', '\ufe0f', '\u206a', '\u034f', '\u061c', '\u180e', '\u2800', '\u{e0020}']) {
      const user_code = `IEX-1001${mark}`;
      const created = await service.call('createCustomer', { as: 'iex', body: { user_code, ...names } });
      expect([mark, created.body['code']]).toEqual([mark, 'duplicate_user_code']);
      const body = { UserCode: user_code, TrackingNumber: newNumber() };
      expect((await service.call('submitPrealert', { key: DEMO.apiKeys.IEX, body })).status).toBe(201);
      const file = Buffer.from(`user_code,first_name,last_name\n${user_code},Ann,Lee\n`);
      const form = { file: { file }, dry_run: 'true' };
      expect((await service.call('uploadCustomers', { as: 'iex', form })).body['data'].created).toBe(0);
    }
  });

  test('a name of invisible characters alone is blank, in JSON and in files', async () => {
    for (const name of ['\u180e', '\u061c', '\u2800', '\u3164', '\ufe0f\u200d', ' \u2800 \u{e0020}']) {
      const body = { user_code: 'TEXT-BLANK', first_name: name, last_name: 'Lee' };
      const reply = await service.call('createCustomer', { as: 'iex', body });
      expect([reply.status, reply.body['message']]).toEqual([400, 'first_name must not be blank.']);
      const file = Buffer.from(`user_code,first_name,last_name\nTEXT-BLANK,${name},Lee\n`);
      const uploaded = await service.call('uploadCustomers', { as: 'iex', form: { file: { file } } });
      expect(uploaded.status).toBe(400);
    }
  });

  test('a damaged number is refused by JSON and by lines', async () => {
    const key = DEMO.apiKeys.IEX;
    const body = { UserCode: 'IEX-1001', TrackingNumber: '9.40011E+21' };
    const json = await service.call('submitPrealert', { key, body });
    expect(json).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'TrackingNumber', code: 'pattern' }] },
    });
    expect(json.body['message']).toContain('Format the column as text');
    const good = { UserCode: ' IEX-1001\u200b', TrackingNumber: newNumber() };
    const lines = [body, good].map((line) => JSON.stringify(line)).join('\n');
    const reply = await service.call('submitPrealert', {
      key,
      body: lines,
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(reply.body['data']).toMatchObject({ created: 1, invalid: 1 });
  });

  test.each([
    '12E+15',
    '9.40011E21',
    '9400111899223100000.0',
    '9400111899223100000.00',
    '9,400,111,899,223,100,000',
    '#WERT!',
    'NaN',
    '03/05/2026',
  ])('%s is refused as a number and as a code, in JSON and in files', async (damaged) => {
    const expectRefused = (reply: Reply, field: string) => {
      expect([reply.status, reply.body['errors'][0].field]).toEqual([400, field]);
      expect(reply.body['errors'][0].message).toContain(damaged);
    };
    const body = { UserCode: 'IEX-1001', TrackingNumber: damaged };
    expectRefused(await service.call('submitPrealert', { key: DEMO.apiKeys.IEX, body }), 'TrackingNumber');
    const received = { tracking_number: damaged, weight: 1 };
    expectRefused(
      await service.call('receivePackage', { as: 'warehouse', body: received }),
      'tracking_number',
    );
    const customer = { user_code: damaged, first_name: 'Ann', last_name: 'Lee' };
    expectRefused(await service.call('createCustomer', { as: 'iex', body: customer }), 'user_code');
    const upload = (id: 'uploadPrealerts' | 'uploadCustomers', lines: string) =>
      service.call(id, { as: 'iex', form: { file: { file: Buffer.from(lines) } } });
    expectRefused(
      await upload('uploadPrealerts', `tracking_number,user_code\n"${damaged}",IEX-1001\n`),
      'tracking_number',
    );
    expectRefused(
      await upload('uploadCustomers', `user_code,first_name,last_name\n"${damaged}",Ann,Lee\n`),
      'user_code',
    );
  });

  test('an empty or blank text gets one message', async () => {
    for (const text of ['', '   ', '\u200b']) {
      const body = { UserCode: text, TrackingNumber: 'X1' };
      const reply = await service.call('submitPrealert', { key: DEMO.apiKeys.IEX, body });
      expect(reply.body['message']).toBe('UserCode must not be blank.');
    }
  });
});
