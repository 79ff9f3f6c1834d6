import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { hasPermission } from '../../src/platform/access/permissions.js';
import { makeResponseValidator } from '../../src/platform/contract/response-validator.js';
import { dereference, type Media, type Schema } from '../../src/platform/contract/bundle.js';
import { makeAjv, makeEagerCompiler } from '../../src/platform/contract/validator.js';
import type { OperationId } from '../../src/platform/contract/types.js';
import { DEMO } from '../../src/development/demo/seed.js';
import {
  bundle,
  describeOperation,
  operationIds,
  operationOf,
  withFiles,
  type Body,
  type ObjectSchema,
} from '../support/service/contract.js';
import { exampleMessages } from '../support/failures/failure-check.js';
import { matchFailure, type FailureBody } from '../support/failures/failure-templates.mjs';
import { addressOf, formCall } from '../support/builders/inputs.js';
import { startService, type Call, type Service } from '../support/service/service.js';

const { validate: judge } = makeResponseValidator(bundle);

/** Who an example is written for. */
function documentedCaller(id: OperationId, name: string): Call {
  const { credential, permission } = operationOf(id);
  if (credential === 'key') return { key: DEMO.apiKeys.IEX };
  if (credential === 'none') return {};
  // it logs out, and nobody else is hrb here
  if (id === 'manageSessions') return { as: 'hrb' };
  if (name.startsWith('courier')) return { as: 'iex' };
  return { as: hasPermission('manager', permission) ? 'manager' : 'admin' };
}

// What is not simply done, and why.
const OTHERWISE: Record<string, number> = {
  // their preauth_token stands for one that login gave
  'login verifyCode': 401,
  'login verifyBackupCode': 401,
  // its token stands for one that was mailed
  'resetPassword reset': 400,
  // nothing was sent to anybody
  'manageWebhookDeliveries redeliver': 404,
  // the demo couriers have no URLs: a fresh installation calls nobody
  'syncCustomers staff': 400,
  'syncCustomers courier': 400,
  // nobody was given this one-time password, and no authenticator shows this code
  'changePassword firstLogin': 400,
  'manageTwoFactor enable': 400,
  'manageTwoFactor disable': 400,
  'manageTwoFactor regenerate': 400,
  // it stands for one that listSessions answered
  'manageSessions end': 404,
  // packages name them
  'manageWarehouses delete': 400,
  'manageCarriers delete': 400,
  // the demo manifest has packages aboard
  'manageManifest delete_manifest': 400,
  // it stands for one that add_adjustment answered
  'manageCourierBills remove_adjustment': 404,
  // the example before has published it
  'manageCourierBills delete_draft': 400,
};

// The demo's packages are of the weeks before today, whenever that is, and shipped since.
const JUST_NOW = new Date(Date.now() - 60_000).toISOString().slice(0, 19).replace('T', ' ');
const TIMES: Record<string, Body> = {
  'manageCourierBills create_draft': { start_date: '2020-01-01', end_date: '2100-01-01' },
  'recordPackageEvent several': { occurred_at: JUST_NOW },
};

const requests = operationIds.flatMap((id) =>
  Object.entries(describeOperation(id).requestBody?.content ?? {}).flatMap(
    ([mediaType, { schema = {}, example, examples = {} }]) => {
      const named = Object.entries(examples).map(([name, { value }]) => ({ name, value }));
      const all = example === undefined ? named : [{ name: 'example', value: example }, ...named];
      return all.map(({ name, value }) => ({ id, name, mediaType, schema, value }));
    },
  ),
);

/** A body as its media type has it; files cannot stand in an example and take their words' place. */
function asSent(mediaType: string, schema: Schema, value: unknown): Pick<Call, 'body' | 'headers'> {
  if (mediaType === 'application/json') return { body: value };
  // as: forms of this contract are flat objects
  return formCall(mediaType, withFiles(schema as ObjectSchema, value as Body));
}

describe('a request that is copied out of the reference works on the demo data', () => {
  let service: Service;

  let began: Date;

  beforeAll(async () => {
    service = await startService();
    const { rows } = await service.owner.query<{ now: Date }>('select now()');
    began = rows[0]?.now ?? new Date();
  });

  // several examples announce the same parcel
  afterEach(async () => {
    await service.owner.query('delete from prealerts where created_at >= $1', [began]);
  });

  afterAll(async () => {
    await service.stop();
  });

  // before the bodies, which change what is there
  test('each query', async () => {
    // those that need a body were sent with it
    for (const id of operationIds.filter((each) => !operationOf(each).bodyRequired)) {
      const { parameters = [] } = describeOperation(id);
      if (parameters.every((parameter) => parameter.in === 'header')) continue;
      const reply = await service.call(id, { ...documentedCaller(id, ''), ...addressOf(id) });
      expect([id, reply.status, reply.body['errors']]).toEqual([id, 200, undefined]);
    }
  });

  test.each(requests)('$id, $name', async ({ id, name, mediaType, schema, value }) => {
    const reply = await service.call(id, {
      ...documentedCaller(id, name),
      ...asSent(mediaType, schema, { ...(value as Body), ...TIMES[`${id} ${name}`] }),
    });
    expect(operationOf(id).statuses).toContain(reply.status);
    const { status, body } = reply;
    const otherwise = OTHERWISE[`${id} ${name}`];
    const isAsSaid = otherwise === undefined ? status < 300 : status === otherwise;
    expect([status, body['message'], isAsSaid]).toEqual([status, body['message'], true]);
    if (status >= 400) expect(exampleMessages(id, status, body['code'])).toContain(body['message']);
  });
});

describe('every example and default of the contract is what its schema allows', () => {
  const ajv = makeAjv();

  const faultsOf = (schema: Schema, value: unknown): string[] => {
    const validate = ajv.compile(schema);
    // defaults are filled in, which must not reach the example
    if (validate(structuredClone(value))) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };

  test.each(requests)('the request $id, $name', ({ mediaType, schema, value }) => {
    const required = (schema['required'] ?? []) as string[];
    const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
    const texts = required.filter((name) => properties[name]?.['format'] !== 'binary');
    const plain = mediaType === 'application/json' ? schema : { ...schema, required: texts };
    expect(faultsOf(plain, value)).toEqual([]);
  });

  const parameters = operationIds.flatMap((id) =>
    (describeOperation(id).parameters ?? []).map((parameter) => ({ id, ...parameter })),
  );

  test.each(parameters)('the parameter $name of $id', ({ schema, example }) => {
    expect(example).toBeDefined();
    expect(faultsOf(schema, example)).toEqual([]);
  });

  test('of every schema, wherever it stands', () => {
    const found = schemasIn(dereference(bundle));
    expect(found.length).toBeGreaterThan(20);
    const faults = found.flatMap(({ at, schema, values }) =>
      values.flatMap((value) => faultsOf(schema, value).map((fault) => `${at}: ${fault}`)),
    );
    expect(faults).toEqual([]);
  });

  // The service skips both at its start.
  test('every schema of a request or an answer is valid JSON Schema and compiles', () => {
    const compile = makeEagerCompiler();
    const judging = makeAjv();
    const faults = operationIds.flatMap((id) => {
      const { parameters = [], requestBody, responses } = describeOperation(id);
      const answers = Object.values(responses).flatMap(({ content = {} }) => Object.values(content));
      const bodies = [...Object.values(requestBody?.content ?? {}), ...answers];
      const schemas = [...parameters, ...bodies].flatMap(({ schema }) => (schema ? [schema] : []));
      return schemas.flatMap((schema) => {
        compile({ schema, method: 'POST', url: '/', httpPart: 'body' });
        return judging.validateSchema(schema) ? [] : [`${id}: ${judging.errorsText()}`];
      });
    });
    expect(faults).toEqual([]);
  });

  type Found = { at: string; schema: Schema; values: unknown[] };

  /** Everything that has a type, and says what it looks like or what it is when left out. */
  function schemasIn(node: unknown, at = ''): Found[] {
    if (typeof node !== 'object' || node === null) return [];
    const schema = node as Schema;
    const { type, examples, default: given } = schema;
    const values = [...(Array.isArray(examples) ? examples : []), ...(given === undefined ? [] : [given])];
    const isSchema = (typeof type === 'string' || Array.isArray(type)) && values.length > 0;
    return [
      ...(isSchema ? [{ at, schema, values }] : []),
      ...Object.entries(schema).flatMap(([key, child]) => schemasIn(child, `${at}/${key}`)),
    ];
  }
});

describe('every example of an answer is one that the contract allows', () => {
  const answers = operationIds.flatMap((id) =>
    Object.entries(describeOperation(id).responses).flatMap(([status, { headers = {}, content = {} }]) =>
      Object.entries(content).flatMap(([mediaType, media]) =>
        examplesOf(media).map(([name, value]) => ({
          id,
          status: Number(status),
          name,
          mediaType,
          headers,
          value,
        })),
      ),
    ),
  );

  function examplesOf({ example, examples = {} }: Media): [string, unknown][] {
    const named = Object.entries(examples).map(([name, { value }]): [string, unknown] => [name, value]);
    return example === undefined ? named : [['example', example], ...named];
  }

  test('there are hundreds', () => {
    expect(answers.length).toBeGreaterThan(200);
  });

  test.each(operationIds)('%s', (id) => {
    for (const { status, name, mediaType, headers, value } of answers.filter((answer) => answer.id === id)) {
      const header = (wanted: string) =>
        wanted === 'content-type' ? mediaType : headers[wanted]?.example?.toString();
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      expect([status, name, judge(id, { status, header, headerNames: [], text })]).toEqual([
        status,
        name,
        [],
      ]);
      const { code, status: word } = value as { code?: string; status?: string };
      if (status < 400) continue;
      expect([name, code, word]).toEqual([name, expect.any(String), wordFor(id, status)]);
      // as: the validator has found it to be a failure
      expect([name, matchFailure(status, value as FailureBody).faults]).toEqual([name, []]);
    }
  });

  test('every failure response is a reference to a shared component', () => {
    const written = Object.values(bundle.paths)
      .flatMap((item) => Object.values(item))
      .filter(({ operationId }) => operationId)
      .flatMap(({ operationId, responses }) =>
        Object.entries(responses)
          .filter(([status, response]) => Number(status) >= 400 && !('$ref' in response))
          .map(([status]) => `${operationId} ${status}`),
      );
    expect(written).toEqual([]);
  });

  const wordFor = (id: OperationId, status: number) =>
    status >= 500 || (status === 401 && operationOf(id).credential === 'token') ? 'error' : 'fail';

  test('every answer with a JSON body has an example', () => {
    const bare = operationIds.flatMap((id) =>
      Object.entries(describeOperation(id).responses)
        .filter(([, { content = {} }]) =>
          Object.values(content).some((media) => examplesOf(media).length === 0),
        )
        .map(([status]) => `${id} ${status}`),
    );
    expect(bare).toEqual([]);
  });
});
