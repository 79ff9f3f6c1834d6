/// <reference types="postman-collection/types" resolution-mode="require" />
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Collection, Request, VariableScope, type Item } from 'postman-collection';
import { buildPostmanCollection } from '../../../scripts/contract/samples/postman/collection.js';
import type { PostmanItem } from '../../../scripts/contract/samples/postman/items.js';
import { sampleRequests } from '../../../scripts/contract/samples/sample-requests.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertUsers } from '../../support/builders/users.js';
import { documentedCaller, isExpectedStatus } from '../../support/samples/documented-calls.js';
import { sampleFiles } from '../../support/samples/files.js';
import { bundle, operationIds, operationOf } from '../../support/service/contract.js';
import { startService, type Call, type Reply, type Service } from '../../support/service/service.js';

// Methods that the library has and its types leave out.
declare module 'postman-collection' {
  interface ItemGroup {
    forEachItem(visit: (item: Item) => void): void;
  }
  interface Property {
    toObjectResolved(scope: Property): Request.definition;
  }
}

const built = buildPostmanCollection(bundle);
// The types of the library lack the variables of a collection.
const collection = new Collection(built as object);

/** Headers that are switched on, with the library's defaults otherwise. */
const SENT_HEADERS = { enabled: true, ignoreCase: false, multiValue: false, sanitizeKeys: false };

const items: Item[] = [];
collection.forEachItem((item: Item) => items.push(item));
/** The first folder has requests of its own. */
const START = built.item[0]?.item?.length ?? 0;

test('no request follows a redirect, which would send its credential to another host', () => {
  const requestsOf = (item: PostmanItem): PostmanItem[] => item.item?.flatMap(requestsOf) ?? [item];
  const following = built.item
    .flatMap(requestsOf)
    .filter(({ protocolProfileBehavior }) => protocolProfileBehavior?.followRedirects !== false);
  expect(following).toEqual([]);
});

/** Each item with the sample that it was made from. */
const requests = sampleRequests(bundle);
const calls = items.slice(START).map((item) => {
  const { content } = item.request.toJSON().description;
  const found = requests.find(
    ({ operationId, title }) => title === item.name && content.endsWith(`Operation \`${operationId}\`.`),
  );
  const id = operationIds.find((each) => each === found?.operationId);
  if (!found || !id) throw new Error(`No sample is named ${item.name}.`);
  return { item, id, example: found.example };
});

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
  expect(items).toHaveLength(START + requests.length);
  expect(new Set(calls.map(({ id }) => id))).toEqual(new Set(operationIds));
  const names = built.item.flatMap((folder) =>
    (folder.item ?? []).map(({ name }) => `${folder.name}: ${name}`),
  );
  expect(names).toHaveLength(new Set(names).size);
});

describe('every request of the collection works as Postman sends it', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
    await insertUsers(service.owner, 1);
  });

  afterAll(async () => {
    await service.stop();
  });

  test('each has a status that its operation declares, and the login stores the token', async () => {
    const variables: Variables = { ...given, baseUrl: service.url, apiKey: DEMO.apiKeys.IEX };
    // The others change the demo data.
    const reads = calls.filter(({ item }) => item.request.method === 'GET');
    for (const { item, id, example } of [...reads, ...calls.filter((call) => !reads.includes(call))]) {
      const { as } = documentedCaller(id, example);
      if (as !== undefined) variables['token'] = await service.tokenOf(as);
      const { status, body } = await send(item, variables);
      const answer = [item.name, status, body['message']];
      expect([...answer, isExpectedStatus(id, example, status, true)]).toEqual([...answer, true]);
      if (id === 'login' && status === 200) expect(variables['token']).toBe(body['data'].access_token);
    }
  }, 120_000);

  test('the first folder works in its order, and again, with the variables that a courier sets', async () => {
    const variables: Variables = { ...given, baseUrl: service.url };
    const numbers: string[] = [];
    for (const _run of [1, 2]) {
      for (const item of items.slice(0, START))
        expect([item.name, (await send(item, variables)).status]).toEqual([item.name, expect.any(Number)]);
      numbers.push(variables['trackingNumber'] ?? '');
    }
    expect(new Set(numbers).size).toBe(2);
    const stored = numbers.map((search) => service.call('listPrealerts', { as: 'iex', query: { search } }));
    const found = (await Promise.all(stored)).map(({ body }) => body['data'][0]?.tracking_number);
    expect(found).toEqual(numbers);
  });

  test('every POST that takes an Idempotency-Key has a new one in each run', () => {
    const keyOf = (item: Item) => {
      collection.syncVariablesFrom({ ...given, trackingNumber: 'PM-1' });
      const request = new Request(item.request.toObjectResolved(collection));
      return (request.getHeaders(SENT_HEADERS) as Record<string, string>)['Idempotency-Key'];
    };
    const keyed = calls.filter(({ id }) => operationOf(id).takesIdempotencyKey);
    expect(keyed.length).toBeGreaterThan(30);
    expect(
      keyed.filter(({ item }) => !keyOf(item) || keyOf(item) === keyOf(item)).map(({ id }) => id),
    ).toEqual([]);
  });

  /** The values with which the collection is published. */
  const given = Object.fromEntries(built.variable.map(({ key, value }) => [key, value]));

  type Variables = Record<string, string>;

  async function send(item: Item, variables: Variables): Promise<Reply> {
    runScripts(item, 'prerequest', undefined, variables);
    collection.syncVariablesFrom(variables);
    const request = new Request(item.request.toObjectResolved(collection));
    const { pathname, search } = new URL(request.url.toString());
    const reply = await service.request(request.method, pathname + search, {
      headers: { ...(request.getHeaders(SENT_HEADERS) as object), ...credentialOf(request, variables) },
      ...bodyOf(request),
    });
    runScripts(item, 'test', reply, variables);
    return reply;
  }

  function credentialOf(request: Request, { apiKey = '', token = '' }: Variables): Record<string, string> {
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

  /** Runs the scripts of the collection and of the item with those parts of Postman's sandbox that they use. */
  function runScripts(item: Item, event: string, reply: Reply | undefined, variables: Variables): void {
    const scope = new VariableScope({});
    const pm = {
      response: reply && {
        code: reply.status,
        json: () => reply.body,
        text: () => reply.bytes.toString(),
        headers: { has: (name: string) => reply.headers.has(name) },
      },
      collectionVariables: {
        get: (name: string) => variables[name],
        set: (name: string, value: string) => (variables[name] = value),
      },
      variables: { replaceIn: (text: string) => scope.replaceIn(text) },
      // A test that throws fails the test here too.
      test: (_title: string, run: () => void) => run(),
    };
    const scripts = [...collection.events.all(), ...item.events.all()].filter(
      ({ listen }) => listen === event,
    );
    for (const { script } of scripts) runInNewContext((script.exec as string[]).join('\n'), { pm });
  }
});
