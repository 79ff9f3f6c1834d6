import { afterAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { around, HOSTILE_CHARACTERS, hostileRows, VERY_LONG } from '../../support/attacks/hostile-texts.js';
import { addressOf, inputs, mostPrivilegedCaller, type Input } from '../../support/builders/inputs.js';
import { rounds } from '../../support/harness/effort.js';
import { withService } from '../../support/fixture/with-service.js';
import {
  bodyShapes,
  describeOperation,
  filledPath,
  formShapes,
  nameOfShape,
  operationIds,
  operationOf,
  parametersOf,
} from '../../support/service/contract.js';
import { BOUNDARY, MULTIPART_TYPE } from '../../support/service/forms.js';
import type { Call } from '../../support/service/service.js';
import { randomAddress } from '../../support/sign-in/random-address.js';

// No text of any request makes the service fail, and none is stored with characters that it must not have.

// Before the service stops: hooks run in the order in which they are written.
afterAll(async () => {
  expect(await hostileRows(service().owner)).toEqual([]);
}, 60_000);

const { service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });

const isLong = rounds(0, 1) === 1;
const isText = ({ schema }: Input) => [schema['type']].flat().includes('string');
const texts = inputs.filter(isText);
const byOperation = [...new Set(texts.map(({ owner }) => owner))].map(
  (owner) => [owner, texts.filter((each) => each.owner === owner)] as const,
);

const exampleOf = ({ schema }: Input): string => {
  // Texts of the contract have values of these types.
  const {
    enum: values,
    const: only,
    example,
  } = schema as { enum?: string[]; const?: string; example?: string };
  return example ?? only ?? values?.[0] ?? 'Abc-12345';
};

/** Returns the values that one input is sent with. The default run takes a third of the marks, each at one place, in turn. */
const valuesOf = (input: Input, turn: number): [name: string, value: string][] => [
  ...HOSTILE_CHARACTERS.filter((_each, index) => isLong || (turn + index) % 3 === 0).flatMap(
    ([name, mark], index) =>
      around(exampleOf(input), mark)
        .filter((_value, place) => isLong || place === (turn + index) % 3)
        .map((value): [string, string] => [name, value]),
  ),
  ['a very long text', VERY_LONG],
];

/** Calls the operation and returns what must not happen: a failure of the service, or a quota that hides one. */
async function failureOf(id: OperationId, call: Call): Promise<string | undefined> {
  const { status, body } = await service().call(id, call);
  return status < 500 && status !== 429 ? undefined : `${status} ${JSON.stringify(body).slice(0, 200)}`;
}

test.each(byOperation)('%s takes no hostile text in any of its fields', async (_owner, own) => {
  const failed: string[] = [];
  for (const [turn, input] of own.entries())
    for (const [name, value] of valuesOf(input, turn)) {
      // Each wrong password or code counts, for its user and for its network.
      await service().owner.query('delete from login_throttles');
      const call = input.callWith(value);
      const headers = { ...call.headers, 'x-forwarded-for': randomAddress() };
      const failure = await failureOf(input.id, { ...call, headers });
      if (failure) failed.push(`${input.field} with ${name}: ${failure}`);
    }
  expect(failed).toEqual([]);
});

const inPaths = operationIds.flatMap((id) => parametersOf(id, 'path').map((each) => ({ id, ...each })));

test.each(inPaths)('$id takes no hostile text in its path', async ({ id, name, example }) => {
  for (const [mark, character] of HOSTILE_CHARACTERS.filter(([, each]) => each.isWellFormed()))
    for (const value of around(String(example), character)) {
      const path = { [name]: value };
      expect([mark, await failureOf(id, { ...mostPrivilegedCaller(id), path })]).toEqual([mark, undefined]);
    }
});

/** Bytes that are no UTF-8: half of a surrogate pair, a character in too many bytes, and the beginning of one. */
const BROKEN_BYTES = ['eda080', 'c080', 'f09f98', 'ff'];

const percent = (hex: string) => hex.replace(/../g, '%$&');

describe('bytes that are no UTF-8', () => {
  const refused = async (id: OperationId, call: Call, path = filledPath(id)) => {
    const { status } = await service().request(operationOf(id).method, path, {
      ...mostPrivilegedCaller(id),
      ...call,
    });
    return status;
  };

  test('in a query are refused by every operation with a text parameter', async () => {
    const queried = texts.filter(
      ({ id, field, owner }) => owner === id && parametersOf(id, 'query').some(({ name }) => name === field),
    );
    expect(queried.length).toBeGreaterThan(50);
    for (const { id, field, callWith } of queried)
      for (const hex of BROKEN_BYTES) {
        const { body } = callWith('x');
        const path = `${filledPath(id)}?${field}=a${percent(hex)}b`;
        expect([id, field, hex, await refused(id, { body }, path)]).toEqual([id, field, hex, 400]);
      }
  });

  const jsonBodies = bodyShapes().map((shape) => [nameOfShape(shape), shape] as const);

  test.each(jsonBodies)('in a JSON body are refused by %s', async (_name, { id, example }) => {
    for (const hex of BROKEN_BYTES) {
      const [before = '', after = ''] = JSON.stringify({ ...example, other: 'MARK' }).split('MARK');
      const body = Buffer.concat([Buffer.from(before), Buffer.from(hex, 'hex'), Buffer.from(after)]);
      expect([hex, await refused(id, { ...addressOf(id), body })]).toEqual([hex, 400]);
    }
  });

  test('in the name or value of a part of a form are refused', async () => {
    const shapes = formShapes().filter(({ mediaType }) => mediaType === 'multipart/form-data');
    expect(shapes.length).toBeGreaterThan(1);
    for (const { id } of shapes)
      for (const hex of BROKEN_BYTES)
        for (const [name, value] of [
          ['dry_run', hex],
          [hex, 'x'],
        ] as const)
          expect([id, hex, await refused(id, partWith(name, value))]).toEqual([id, hex, 400]);
  });

  /** Returns a form whose only part has this name and value, in which hexadecimal digits stand for bytes. */
  function partWith(name: string, value: string): Call {
    const toBytes = (text: string) => Buffer.from(text, BROKEN_BYTES.includes(text) ? 'hex' : 'utf8');
    const body = Buffer.concat([
      Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="`),
      toBytes(name),
      Buffer.from('"\r\n\r\n'),
      toBytes(value),
      Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
    ]);
    return { headers: { 'content-type': MULTIPART_TYPE }, body };
  }
});

const LINES = 'application/x-ndjson';
const inLines = operationIds.filter((id) => LINES in (describeOperation(id).requestBody?.content ?? {}));

test.each(inLines)('%s takes no hostile text in the fields of a line', async (id) => {
  const own = texts.filter((each) => each.owner === id);
  expect(own.length).toBeGreaterThan(3);
  for (const input of own) {
    const lines = valuesOf(input, 0).map(([, value]) => JSON.stringify(input.callWith(value).body));
    const call = { ...mostPrivilegedCaller(id), headers: { 'content-type': LINES }, body: lines.join('\n') };
    const { status } = await service().call(id, call);
    expect([input.field, status < 500]).toEqual([input.field, true]);
  }
});

/** Node lets control characters of one byte and letters outside ASCII through, and no others. */
const HEADERS = ['a\u0080\u009bb', 'a\tb', 'caf\u00e9 \u00ff\u00fe', '\u00ed\u00a0\u0080', 'x'.repeat(7_000)];

test.each([
  'idempotency-key',
  'user-agent',
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'traceparent',
  'tracestate',
  'accept-language',
  'if-none-match',
  'x-api-key',
])('the header %s makes no request fail, and is stored in no other form than plain text', async (name) => {
  const user = { action: 'login', username: 'admin', password: DEMO.password };
  for (const value of HEADERS) {
    const headers = { [name]: value };
    const number = { UserCode: 'IEX-1001', TrackingNumber: `H-${name}-${value.length}` };
    const replies = [
      await service().call('login', { headers, body: user }),
      await service().call('submitPrealert', { key: DEMO.apiKeys.IEX, headers, body: number }),
      await service().call('receivePackage', {
        as: 'warehouse',
        headers,
        body: { tracking_number: `R-${name}-${value.length}`, weight: 1 },
      }),
    ];
    expect([value, replies.map(({ status }) => status).filter((status) => status >= 500)]).toEqual([
      value,
      [],
    ]);
  }
});

test('the host of a request makes none fail', async () => {
  for (const host of ['a\u0080b', '\u00ff', 'two.localhost\t', `${'x'.repeat(7_000)}.localhost`]) {
    const { status } = await service().call('login', {
      host,
      body: { action: 'login', username: 'admin', password: DEMO.password },
    });
    expect([host.slice(0, 20), status < 500]).toEqual([host.slice(0, 20), true]);
  }
});
