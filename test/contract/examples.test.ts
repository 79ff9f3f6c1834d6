import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { makeResponseValidator } from '../support/contract/response-validator.js';
import type { Schema } from '../../src/platform/contract/bundle.js';
import { dereference, type Media } from '../support/contract/dereference.js';
import { makeAjv, makeEagerCompiler } from '../../src/platform/contract/validator.js';
import { NDJSON, type OperationId } from '../../src/platform/contract/types.js';
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
import { insertUsers } from '../support/builders/users.js';
import {
  documentedCaller,
  EXPECTED_FAILURES,
  OTHERWISE,
  TIMES,
} from '../support/samples/documented-calls.js';
import { addressOf, formCall } from '../support/builders/inputs.js';
import { startService, type Call, type Service } from '../support/service/service.js';

const { validate: validateReply } = makeResponseValidator(bundle);

/** Returns the example with the times that it needs. An example of lines is text. */
const withTimes = (title: string, value: unknown): unknown =>
  typeof value === 'string' ? value : { ...(value as Body), ...TIMES[title] };

const requests = operationIds.flatMap((id) =>
  Object.entries(describeOperation(id).requestBody?.content ?? {}).flatMap(
    ([mediaType, { schema = {}, example, examples = {} }]) => {
      const named = Object.entries(examples).map(([name, { value }]) => ({ name, value }));
      const all = example === undefined ? named : [{ name: 'example', value: example }, ...named];
      return all.map(({ name, value }) => ({ id, name, mediaType, schema, value }));
    },
  ),
);

/**
 * Encodes a body in its media type. An example cannot contain files, so their descriptions are replaced by
 * files.
 */
function encoded(
  id: OperationId,
  mediaType: string,
  schema: Schema,
  value: unknown,
): Pick<Call, 'body' | 'headers'> {
  if (mediaType === 'application/json') return { body: value };
  if (mediaType === NDJSON) return { body: value, headers: { 'content-type': NDJSON } };
  // Form bodies in this contract are flat objects.
  return formCall(mediaType, withFiles(id, schema as ObjectSchema, value as Body));
}

describe('request examples of the contract work on the demo data', () => {
  let service: Service;

  let began: Date;

  beforeAll(async () => {
    service = await startService();
    await insertUsers(service.owner, 1);
    const { rows } = await service.owner.query<{ now: Date }>('select now()');
    began = rows[0]?.now ?? new Date();
  });

  // Several examples announce the same tracking number.
  afterEach(async () => {
    await service.owner.query('delete from prealerts where created_at >= $1', [began]);
  });

  afterAll(async () => {
    await service.stop();
  });

  // Queries run first, because the request bodies change the data.
  test('each query succeeds with its example parameters', async () => {
    // Operations that need a body are covered by the request examples.
    for (const id of operationIds.filter((each) => !operationOf(each).bodyRequired)) {
      const { parameters = [] } = describeOperation(id);
      if (parameters.every((parameter) => parameter.in === 'header')) continue;
      const reply = await service.call(id, { ...documentedCaller(id, ''), ...addressOf(id) });
      expect([id, reply.status, reply.body['errors']]).toEqual([id, EXPECTED_FAILURES[id] ?? 200, undefined]);
    }
  });

  test.each(requests)('$id $name has the expected status', async ({ id, name, mediaType, schema, value }) => {
    const reply = await service.call(id, {
      ...documentedCaller(id, name),
      ...encoded(id, mediaType, schema, withTimes(`${id} ${name}`, value)),
    });
    expect(operationOf(id).statuses).toContain(reply.status);
    const { status, body } = reply;
    if (status === OTHERWISE[`${id} ${name}`]) return;
    const expectedFailure = EXPECTED_FAILURES[`${id} ${name}`];
    const isExpected = expectedFailure === undefined ? status < 300 : status === expectedFailure;
    expect([status, body['message'], isExpected]).toEqual([status, body['message'], true]);
    if (status >= 400) expect(exampleMessages(id, status, body['code'])).toContain(body['message']);
  });
});

describe('every example and default of the contract satisfies its schema', () => {
  const ajv = makeAjv();

  const problemsOf = (schema: Schema, value: unknown): string[] => {
    const validate = ajv.compile(schema);
    // Validation fills in defaults, which must not change the example.
    if (validate(structuredClone(value))) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };

  test.each(requests)('the request body of $id, example $name, is valid', ({ mediaType, schema, value }) => {
    const required = (schema['required'] ?? []) as string[];
    const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
    const texts = required.filter((name) => properties[name]?.['format'] !== 'binary');
    const plain = mediaType === 'application/json' ? schema : { ...schema, required: texts };
    expect(problemsOf(plain, value)).toEqual([]);
  });

  const parameters = operationIds.flatMap((id) =>
    (describeOperation(id).parameters ?? []).map((parameter) => ({ id, ...parameter })),
  );

  test.each(parameters)('the example of parameter $name of $id is valid', ({ schema, example }) => {
    expect(example).not.toBeUndefined();
    expect(problemsOf(schema, example)).toEqual([]);
  });

  test('examples and defaults inside schemas are valid', () => {
    const found = schemasIn(dereference(bundle));
    expect(found.length).toBeGreaterThan(20);
    const problems = found.flatMap(({ at, schema, values }) =>
      values.flatMap((value) => problemsOf(schema, value).map((problem) => `${at}: ${problem}`)),
    );
    expect(problems).toEqual([]);
  });

  // The service skips both checks at start-up.
  test('every request and response schema is valid JSON Schema and compiles', () => {
    const compile = makeEagerCompiler();
    const judging = makeAjv();
    const problems = operationIds.flatMap((id) => {
      const { parameters = [], requestBody, responses } = describeOperation(id);
      const answers = Object.values(responses).flatMap(({ content = {} }) => Object.values(content));
      const bodies = [...Object.values(requestBody?.content ?? {}), ...answers];
      const schemas = [...parameters, ...bodies].flatMap(({ schema }) => (schema ? [schema] : []));
      return schemas.flatMap((schema) => {
        compile({ schema, method: 'POST', url: '/', httpPart: 'body' });
        return judging.validateSchema(schema) ? [] : [`${id}: ${judging.errorsText()}`];
      });
    });
    expect(problems).toEqual([]);
  });

  type Found = { at: string; schema: Schema; values: unknown[] };

  /** Returns every typed schema that has examples or a default. */
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

describe('every response example matches the contract', () => {
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

  test('the contract has more than 200 response examples', () => {
    expect(answers.length).toBeGreaterThan(200);
  });

  test.each(operationIds)('every response example of %s is valid', (id) => {
    for (const { status, name, mediaType, headers, value } of answers.filter((answer) => answer.id === id)) {
      const header = (wanted: string) =>
        wanted === 'content-type' ? mediaType : headers[wanted]?.example?.toString();
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      expect([status, name, validateReply(id, { status, header, headerNames: [], text })]).toEqual([
        status,
        name,
        [],
      ]);
      const { code, status: word } = value as { code?: string; status?: string };
      if (status < 400) continue;
      expect([name, code, word]).toEqual([name, expect.any(String), wordFor(id, status, code)]);
      // The validator has checked that it is a failure.
      expect([name, matchFailure(status, value as FailureBody).faults]).toEqual([name, []]);
    }
  });

  test('the first example of every 429 is the limit that its headers describe as used up', () => {
    const refusals = answers.filter(({ status }) => status === 429);
    const firsts = new Map(refusals.toReversed().map((refusal) => [refusal.id, refusal]));
    expect(firsts.size).toBeGreaterThan(70);
    for (const { id, headers, value } of firsts.values()) {
      const waitS = headers['Retry-After']?.example?.toString();
      expect([id, (value as FailureBody).code, headers['RateLimit']?.example]).toEqual([
        id,
        'rate_limited',
        `"requests";r=0;t=${waitS}`,
      ]);
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

  const wordFor = (id: OperationId, status: number, code = '') => {
    const isOfBearer = operationOf(id).credential === 'token' || code.startsWith('service_token');
    return status >= 500 || (status === 401 && isOfBearer) ? 'error' : 'fail';
  };

  test('every JSON response has an example', () => {
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
