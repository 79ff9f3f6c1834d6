import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import MiniSearch from 'minisearch';
import { projectRoot } from '../../src/config/project-root.js';
import { operationIds, operationOf } from '../support/service/contract.js';
import { startService, type Service } from '../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

async function textOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  const { status, bytes } = await service.request('GET', path, { headers });
  expect([path, status]).toEqual([path, 200]);
  return bytes.toString();
}

type Node = { [key: string]: Node };

// The file is a JSON object.
const contract = JSON.parse(readFileSync(join(projectRoot, 'generated/openapi.json'), 'utf8')) as Node;

/** Returns the names of all fields of a schema, at any depth. It does not use the code that writes the pages. */
function fieldsIn(node: Node, seen = new Set<string>()): Set<string> {
  const found = new Set<string>();
  const add = (names: Iterable<string>) => [...names].forEach((name) => found.add(name));
  const reference = node['$ref'] as unknown;
  if (typeof reference === 'string' && !seen.has(reference)) {
    const target = reference
      .split('/')
      .slice(1)
      .reduce((parent, key) => parent[key] ?? {}, contract);
    add(fieldsIn(target, new Set([...seen, reference])));
  }
  for (const keyword of ['allOf', 'oneOf', 'anyOf', 'items'])
    for (const part of [node[keyword] ?? []].flat()) add(fieldsIn(part, seen));
  for (const [name, value] of Object.entries(node['properties'] ?? {})) {
    found.add(name);
    add(fieldsIn(value, seen));
  }
  return found;
}

const ENVELOPE = new Set(['status', 'message', 'timestamp']);
const schemasIn = (content: Node = {}) => Object.values(content).flatMap(({ schema }) => schema ?? []);

function fieldsOf(id: (typeof operationIds)[number]): string[] {
  const { path, method } = operationOf(id);
  const operation = contract['paths']?.[path]?.[method.toLowerCase()] ?? {};
  const successes = Object.entries(operation['responses'] ?? {}).filter(([status]) => status.startsWith('2'));
  const schemas = [operation['requestBody'] ?? {}, ...successes.map(([, each]) => each)].flatMap(
    ({ content }) => schemasIn(content),
  );
  const names = schemas.flatMap((schema) => [...fieldsIn(schema)]);
  return [...new Set(names)].filter((name) => !ENVELOPE.has(name));
}

/** Returns the last part of each field that the tables of a page name. */
const namedIn = (page: string) =>
  new Set([...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name.split('.').at(-1)));

describe('the page of each operation', () => {
  test('as Markdown has its request, and every field of its body and its response', async () => {
    const missing: string[] = [];
    for (const id of operationIds) {
      const page = await textOf(`/docs/reference/${id}.md`);
      const { method, path } = operationOf(id);
      const named = namedIn(page);
      const fields = fieldsOf(id).filter((name) => !named.has(name));
      if (!page.includes(`\`${method} ${service.url}${path}\``)) missing.push(`${id}: its request`);
      missing.push(...fields.map((name) => `${id}: ${name}`));
    }
    expect(missing).toEqual([]);
  });

  test('has all its failure codes, and they are in the reference of all operations too', async () => {
    const page = await textOf('/docs/reference/submitPrealert.md');
    for (const code of ['validation_failed', 'unknown_user_code', 'duplicate_tracking_number', 'overloaded'])
      expect(page).toContain(`[\`${code}\`](/docs/errors#${code})`);
    const whole = await textOf('/docs/reference.md');
    for (const name of ['entryDateCeiling', 'houseNumber', 'existing.differs', 'TrackingNumber'])
      expect(whole).toMatch(new RegExp(`\`(\\S+\\.)?${name}\``));
  });
});

describe('for programs', () => {
  const placeholder = 'https://demo.crossdock.example';
  const texts = [
    '/docs/quick-start.md',
    '/docs/reference.md',
    '/docs/reference/login.md',
    '/llms.txt',
    '/llms-full.txt',
  ];

  test.each([...texts, '/docs/postman.json'])('%s names the host of the request', async (path) => {
    const text = await textOf(path, { host: 'shop.example:8443' });
    expect([text.includes('http://shop.example:8443'), text.includes(placeholder)]).toEqual([true, false]);
    expect(await textOf(path, { host: '[::1]:3000' })).toContain('http://[::1]:3000');
  });

  test.each(['a_b.example', 'a..example', 'x"y.example', 'a`b', `${'a'.repeat(300)}.example`])(
    'a host %s does not become part of a text',
    async (host) => {
      const { status, bytes } = await service.request('GET', '/llms.txt', { headers: { host } });
      const text = bytes.toString();
      // A host that is not well-formed can be refused before.
      expect([200, 400]).toContain(status);
      expect([text.includes(`//${host}`), status === 200 && !text.includes(placeholder)]).toEqual([
        false,
        false,
      ]);
    },
  );

  test('each host has an entity tag of its own', async () => {
    const tagOf = async (host: string) =>
      (await service.request('GET', '/llms.txt', { headers: { host } })).headers.get('etag');
    const [first, second, again] = [
      await tagOf('a.example'),
      await tagOf('b.example'),
      await tagOf('a.example'),
    ];
    expect([first === second, first === again]).toEqual([false, true]);
  });

  test('/llms.txt has the host, the path, the header and the fields of the first call', async () => {
    const text = await textOf('/llms.txt');
    const expected = [
      service.url,
      'POST /api/Prealert.php',
      '`X-API-KEY: <key>`',
      '`UserCode`',
      '`TrackingNumber`',
    ];
    expect(expected.filter((part) => !text.includes(part))).toEqual([]);
  });

  test('/llms-full.txt has every guide, every operation and every code', async () => {
    const text = await textOf('/llms-full.txt');
    const guides = readdirSync(join(projectRoot, 'docs/site/pages'));
    const titles = guides.map(
      (name) => readFileSync(join(projectRoot, 'docs/site/pages', name), 'utf8').split('\n')[0],
    );
    expect(titles.filter((title) => !text.includes(`${title}\n`))).toEqual([]);
    expect(operationIds.filter((id) => !text.includes(`Operation \`${id}\`.`))).toEqual([]);
  });
});

test('the search finds fields, codes, operations and misspelt words', async () => {
  const fields = { fields: ['section', 'title', 'text'], storeFields: ['title', 'section', 'excerpt'] };
  const index = MiniSearch.loadJSON(await textOf('/docs/search.json'), fields);
  const found = (text: string) =>
    index.search(text, { prefix: true, fuzzy: 0.2, combineWith: 'AND' }).map(({ id }) => id as string);
  expect(found('entryDateCeiling')).toContain('/docs/reference/listPackages');
  expect(found('duplicate_tracking_number')).toContain('/docs/errors#duplicate_tracking_number');
  expect(found('idempotncy')).toContain('/docs/idempotency');
  expect(found('ManageManifest.php')).toContain('/docs/reference/manageManifest');
  expect(found('xyzzy')).toEqual([]);
});

test('every entry of the search leads to a page and a section', async () => {
  const { documentIds } = JSON.parse(await textOf('/docs/search.json'));
  const targets = Object.values(documentIds as Record<string, string>);
  const ids = new Map<string, string>();
  const broken: string[] = [];
  for (const target of targets) {
    const [path = '', section] = target.split('#');
    const html = ids.get(path) ?? (await textOf(path));
    ids.set(path, html);
    if (section && !html.includes(` id="${section}"`)) broken.push(target);
  }
  expect([targets.length > 200, broken]).toEqual([true, []]);
});
