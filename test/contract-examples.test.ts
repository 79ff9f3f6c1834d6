import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { makeReplyJudge } from '../src/contract/check-replies.js';
import type { Media } from '../src/contract/bundle.js';
import type { OperationId } from '../src/contract/types.js';
import { DEMO } from '../src/demo/seed.js';
import { bundle, describeOperation, operationIds, operationOf } from './support/contract.js';
import { toForm } from './support/forms.js';
import { startService, type Call, type Service } from './support/service.js';

const { judge } = makeReplyJudge(bundle);

/** Who an example is written for. */
function documentedCaller(id: OperationId, name: string): Call {
  const { credential } = operationOf(id);
  if (credential === 'key') return { key: DEMO.apiKeys.IEX };
  if (credential === 'none') return {};
  return { as: name === 'courier' ? 'iex' : 'manager' };
}

// What is not simply done, and why.
const OTHERWISE: Record<string, number> = {
  // their preauth_token stands for one that login gave
  'login verifyCode': 401,
  'login verifyBackupCode': 401,
  // the demo manifest has packages aboard
  'manageManifest delete_manifest': 400,
};

const MEDIA = {
  'application/json': (_id: OperationId, value: unknown): Call => ({ body: value }),
  // as: an example of a form is an object
  'multipart/form-data': (id: OperationId, value: unknown): Call => ({
    form: toForm(value as Record<string, unknown>, operationOf(id).fileFields),
  }),
};

const requests = operationIds.flatMap((id) =>
  Object.entries(MEDIA).flatMap(([mediaType, toCall]) =>
    Object.entries(describeOperation(id).requestBody?.content[mediaType]?.examples ?? {}).map(
      ([name, { value }]) => ({ id, name, call: toCall(id, value) }),
    ),
  ),
);

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

  test.each(requests)('$id, $name', async ({ id, name, call }) => {
    const reply = await service.call(id, { ...documentedCaller(id, name), ...call });
    expect(operationOf(id).statuses).toContain(reply.status);
    const otherwise = OTHERWISE[`${id} ${name}`];
    const isAsSaid = otherwise === undefined ? reply.status < 300 : reply.status === otherwise;
    expect([reply.status, reply.body['message'], isAsSaid]).toEqual([
      reply.status,
      reply.body['message'],
      true,
    ]);
  });

  test('and so does each query', async () => {
    for (const id of operationIds) {
      const parameters = describeOperation(id).parameters as
        { name: string; example?: string | number }[] | undefined;
      if (!parameters) continue;
      const query = Object.fromEntries(parameters.map(({ name, example }) => [name, example ?? '']));
      const reply = await service.call(id, { ...documentedCaller(id, ''), query });
      expect([id, reply.status, reply.body['errors']]).toEqual([id, 200, undefined]);
    }
  });
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
        wanted === 'content-type' ? mediaType : Object.keys(headers).find((each) => each === wanted);
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      expect([status, name, judge(id, { status, header, text })]).toEqual([status, name, []]);
      const { code, status: word } = value as { code?: string; status?: string };
      if (status >= 400) expect([name, code, word]).toEqual([name, expect.any(String), wordFor(id, status)]);
    }
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
