/// <reference types="postman-collection/types" />
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Collection, Request, type Item } from 'postman-collection';
import { buildPostmanCollection, type PostmanItem } from '../../../scripts/samples/postman.mjs';
import { sampleRequests } from '../../../scripts/samples/sample-requests.mjs';
import { DEMO } from '../../../src/development/demo/seed.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { sampleFiles } from '../../support/samples/files.js';
import { bundle, operationIds, operationOf } from '../../support/service/contract.js';
import { startService, type Call, type Reply, type Service } from '../../support/service/service.js';

const built = buildPostmanCollection(bundle);
const collection = new Collection(built as object);

const items: Item[] = [];
collection.forEachItem((item: Item) => items.push(item));

function operationIdOf({ request }: Item): OperationId {
  const { description } = request.toJSON();
  const [, id] = /Operation `(\w+)`\.$/.exec(description.content) ?? [];
  const found = operationIds.find((each) => each === id);
  if (!found) throw new Error(`The request names no operation: ${String(id)}.`);
  return found;
}

test("Postman's own library reads every part of the collection", () => {
  // The library drops what its format does not have. It builds the text of an address from its parts.
  const read = JSON.parse(JSON.stringify(collection.toJSON()));
  expect(read).toMatchObject(withoutAddresses(built));
  const shown = items.map(({ request }) => request.url.toString());
  expect(built.item.flatMap(({ item = [] }) => item.map(addressOf))).toEqual(shown);
});

function addressOf({ request }: PostmanItem): string | undefined {
  const values = new Map(request?.url.variable.map(({ key, value }) => [key, value]));
  return request?.url.raw.replace(/\/:(\w+)/g, (_, name: string) => `/${values.get(name) ?? ''}`);
}

const withoutAddresses = (part: object): object =>
  JSON.parse(
    JSON.stringify(part, (key, value) => (key === 'url' ? { ...value, raw: undefined } : value)),
  ) as object;

test('the collection has a request for each sample, in a folder per tag', () => {
  expect(items).toHaveLength(sampleRequests(bundle).length);
  expect(new Set(items.map(operationIdOf))).toEqual(new Set(operationIds));
  const names = built.item.flatMap((folder) =>
    (folder.item ?? []).map(({ name }) => `${folder.name}: ${name}`),
  );
  expect(names).toHaveLength(new Set(names).size);
});

describe('every request of the collection works as Postman sends it', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
  });

  afterAll(async () => {
    await service.stop();
  });

  // Failures that say that a request is not as the operation wants it.
  const MALFORMED = [
    ...[
      'route_not_found',
      'method_not_allowed',
      'unsupported_media_type',
      'malformed_json',
      'malformed_form',
    ],
    ...['token_missing', 'token_invalid', 'key_missing', 'key_invalid', 'session_ended', 'permission_denied'],
    'validation_failed',
  ];

  test('each gets a response of its operation, and the login stores the token', async () => {
    const variables = { baseUrl: service.url, apiKey: DEMO.apiKeys.IEX, token: '' };
    const isLogin = (item: Item) => operationOf(operationIdOf(item)).path === '/api/login.php';
    const isRead = ({ request }: Item) => request.method === 'GET';
    const isLogout = ({ name }: Item) => name.endsWith('logout');
    const others = items.filter((item) => !isLogin(item) && !isRead(item) && !isLogout(item));
    const inOrder = [...items.filter(isLogin), ...items.filter(isRead), ...others, ...items.filter(isLogout)];
    // The collection stores new tokens, so the requests run in sequence.
    for (const item of inOrder) {
      const { status, body } = await send(item, variables);
      const { statuses } = operationOf(operationIdOf(item));
      const isWellFormed = status < 500 && !MALFORMED.includes(String(body['code']));
      const isDeclared = (statuses as readonly number[]).includes(status);
      expect([item.name, status, body['message'], isDeclared && isWellFormed]).toEqual([
        item.name,
        status,
        body['message'],
        true,
      ]);
    }
    expect(variables.token).toMatch(/^ey/);
  }, 120_000);

  type Variables = { baseUrl: string; apiKey: string; token: string };

  async function send(item: Item, variables: Variables): Promise<Reply> {
    collection.syncVariablesFrom(variables);
    const request = new Request(item.request.toObjectResolved(collection));
    const { pathname, search } = new URL(request.url.toString());
    const reply = await service.request(request.method, pathname + search, {
      headers: { ...(request.getHeaders({ enabled: true }) as object), ...credentialOf(request, variables) },
      ...bodyOf(request),
    });
    for (const event of item.events.all())
      runScript((event.script.exec as string[]).join('\n'), reply, variables);
    return reply;
  }

  function credentialOf(request: Request, { apiKey, token }: Variables): Record<string, string> {
    const { type = 'inherited' } = (request.toJSON().auth ?? {}) as { type?: string };
    if (type === 'apikey') return { 'X-API-KEY': apiKey };
    return type === 'inherited' ? { Authorization: `Bearer ${token}` } : {};
  }

  type Param = { key: string; value: string; src?: string };

  function bodyOf(request: Request): Pick<Call, 'body' | 'form' | 'urlencoded'> {
    const { body } = request.toJSON();
    const pairs = (params: Param[] = []) => params.map(({ key, value }) => [key, value]);
    if (body?.mode === 'raw') return { body: body.raw };
    if (body?.mode === 'urlencoded') return { urlencoded: Object.fromEntries(pairs(body.urlencoded)) };
    if (body?.mode !== 'formdata') return {};
    const params = body.formdata as Param[];
    return { form: Object.fromEntries(params.map((param) => [param.key, partOf(param)])) };
  }

  function partOf({ value, src }: Param) {
    if (src === undefined) return value;
    const file = sampleFiles.get(src);
    if (!file) throw new Error(`The samples have no file ${src}.`);
    return file;
  }

  /** Runs a script of the collection with the two objects of Postman's sandbox that it uses. */
  function runScript(script: string, reply: Reply, variables: Variables): void {
    const collectionVariables = {
      set: (name: keyof Variables, value: string) => {
        variables[name] = value;
      },
    };
    runInNewContext(script, { pm: { response: { json: () => reply.body }, collectionVariables } });
  }
});
