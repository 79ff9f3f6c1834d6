import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { errorCatalogue } from '../../generated/errors.js';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { findProgram, titleWith } from '../support/harness/programs.js';
import { operationIds } from '../support/service/contract.js';
import { matching } from '../support/assertions/matching.js';
import { startService, type Service } from '../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const names = readdirSync(join(projectRoot, 'docs/site/pages')).map((file) => file.replace(/\.md$/, ''));
/** The requests that we send have pages too. */
const contract = JSON.parse(readFileSync(join(projectRoot, 'generated/openapi.json'), 'utf8'));
const webhooks: { post: { operationId: string } }[] = Object.values(contract.webhooks);
const sentIds = webhooks.map(({ post }) => post.operationId);
const operationPaths = [...operationIds, ...sentIds].map((id) => `/docs/reference/${id}`);
/** The user guide, which has samples for nobody. */
const userNames = ['', 'es/'].flatMap((language) =>
  readdirSync(join(projectRoot, 'docs/site/guide/en')).map((file) =>
    `${language}guide/${file.replace(/\.md$/, '')}`.replace(/\/index$/, ''),
  ),
);
const guidePaths = [...names, ...userNames].map((name) => (name === 'index' ? '/docs' : `/docs/${name}`));
const paths = ['/docs/reference', ...guidePaths, ...operationPaths];
const markdownPaths = [
  ...['reference', ...names, ...userNames].map((name) => `/docs/${name}`),
  ...operationPaths,
].map((path) => `${path}.md`);

const textOf = async (path: string): Promise<string> => {
  const { status, bytes } = await service.request('GET', path);
  expect([path, status]).toEqual([path, 200]);
  return bytes.toString();
};

const idsIn = (html: string) => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
const linksIn = (html: string) => [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link = '']) => link);
const markdownLinksIn = (text: string) =>
  [...text.matchAll(/\]\((\/[^)\s]*)\)/g)].map(([, link = '']) => link);

describe('the pages', () => {
  test('link only to paths and sections that exist', async () => {
    const ids = new Map<string, Set<string | undefined>>();
    for (const path of paths) ids.set(path, idsIn(await textOf(path)));
    const broken: string[] = [];
    const seen = new Set<string>();
    const check = async (page: string, link: string) => {
      const { origin, pathname, hash } = new URL(link, service.url + page);
      if (origin !== service.url) return;
      const isKnown = seen.has(pathname) || (await service.request('GET', pathname)).status === 200;
      seen.add(pathname);
      const hasSection = hash === '' || ids.get(pathname)?.has(decodeURIComponent(hash.slice(1)));
      if (!isKnown || !hasSection) broken.push(`${page}: ${link}`);
    };
    for (const path of paths) for (const link of linksIn(await textOf(path))) await check(path, link);
    for (const path of [...markdownPaths, '/llms.txt'])
      for (const link of markdownLinksIn(await textOf(path))) await check(path, link);
    expect(broken).toEqual([]);
  });

  test('have a text in each header of a table', async () => {
    const empty: string[] = [];
    let headers = 0;
    for (const path of paths) {
      const cells = [...(await textOf(path)).matchAll(/<th[^>]*>(.*?)<\/th>/gs)];
      headers += cells.length;
      empty.push(...cells.filter(([, text = '']) => text.trim() === '').map(() => path));
    }
    expect(headers).toBeGreaterThan(paths.length);
    expect(empty).toEqual([]);
  });

  test('contain no placeholder that was not filled in', async () => {
    const unfilled = matching(
      // The value of JavaScript, as code, is no placeholder.
      /\{\{|TODO|(?<![`>])undefined(?![`<])|\[object/,
      '{{url}}',
      'TODO',
      'undefined',
      '[object Object]',
    );
    for (const path of [...paths, ...markdownPaths, '/llms.txt'])
      expect([path, unfilled.exec(await textOf(path))]).toEqual([path, null]);
  });

  test('name their version as Markdown, which begins with the same headline', async () => {
    for (const path of paths) {
      const html = await textOf(path);
      const link = /<link rel="alternate" type="text\/markdown" href="([^"]+)"/.exec(html)?.[1];
      const headline = /^# (.+)\n/.exec(await textOf(String(link)))?.[1];
      expect([path, link, headline]).toEqual([path, expect.any(String), expect.any(String)]);
      expect(html).toContain(path === '/docs/reference' ? 'API reference' : `>${headline}<`);
    }
  });

  test('/llms.txt lists every page', async () => {
    const links = markdownLinksIn(await textOf('/llms.txt')).filter((link) => link.endsWith('.md'));
    expect([...new Set(links)].sort()).toEqual(
      markdownPaths.filter((path) => path !== '/docs/index.md').sort(),
    );
  });
});

describe('the errors', () => {
  test('every code has a section with its cause and its cure', async () => {
    const html = await textOf('/docs/errors');
    const sections = html.split('<h3 ').slice(1);
    const complete = sections
      .filter((section) => section.includes('Cause.') && section.includes('Cure.'))
      .map((section) => /^id="([^"]+)"/.exec(section)?.[1]);
    expect(complete.sort()).toEqual(Object.keys(errorCatalogue).sort());
  });

  test('a failure leads to the section of its code', async () => {
    const ids = idsIn(await textOf('/docs/errors'));
    const replies = [
      await service.request('GET', '/nowhere'),
      await service.request('POST', '/docs'),
      await service.call('submitPrealert', { body: {} }),
      await service.call('submitPrealert', { key: DEMO.apiKeys.IEX, body: '{' }),
      await service.call('listPrealerts', { as: 'admin', query: { limit: 501 } }),
    ];
    for (const { body } of replies) {
      const { pathname, hash } = new URL(body['doc_url'], service.url);
      expect([pathname, hash, ids.has(body['code'])]).toEqual(['/docs/errors', `#${body['code']}`, true]);
    }
  });
});

test('every operation is in the document of the reference, and in the reference as Markdown', async () => {
  const document = JSON.parse(await textOf('/docs/json'));
  const markdown = await textOf('/docs/reference.md');
  const listed = Object.values(document.paths).flatMap((item) =>
    Object.values(item as object).map(({ operationId }) => operationId as string),
  );
  expect(listed.filter(Boolean).sort()).toEqual([...operationIds].sort());
  for (const id of operationIds) expect(markdown).toContain(`Operation \`${id}\`.`);
  expect(document.servers).toEqual([{ url: '/', description: 'This instance' }]);
  const submit = document.paths['/api/Prealert.php'].post;
  const languages = new Set(submit['x-codeSamples'].map(({ lang }: { lang: string }) => lang));
  expect(languages).toEqual(new Set(['Shell', 'PHP', 'Python', 'JavaScript', 'Go']));
});

test('the Postman collection is served', async () => {
  const collection = JSON.parse(await textOf('/docs/postman.json'));
  expect(collection.info.schema).toContain('getpostman.com/json/collection/v2.1.0');
});

describe('the samples for the terminal work when they are pasted', () => {
  const missing = ['bash', 'curl', 'openssl', 'sed'].filter((name) => !findProgram(name));
  const runs = missing.length === 0 ? test : test.skip;

  const HOST = 'https://demo.crossdock.example';

  /** Each page with the statuses of its requests. */
  const STATUSES: Record<string, number[]> = {
    'quick-start': [200, 200, 200, 201, 200],
    // The preauth_token is a placeholder.
    authentication: [201, 200, 200, 200, 200, 200, 401],
    'bulk-prealerts': [200],
    scanning: [200],
    // The function, and a call without a function.
    idempotency: [201, 201],
    pagination: [200, 200],
    files: [200, 200, 200],
    webhooks: [200, 200, 200, 200, 200, 200, 200, 200, 200],
    // The URLs of the page before.
    'integration-check': [200, 200],
    'failed-calls': [200],
    // An event of a carrier, and an order of a shop.
    feeds: [200, 200, 200],
    'tracking-pages': [200, 200],
    sandbox: [200, 201, 200, 200, 503, 200],
    'sandbox-lives': [200, 200, 201, 200, 200, 200, 200, 200, 200, 200, 200, 200],
    'going-live': [200, 200],
    'flat-packages': [200],
    'code-generators': [200],
  };

  runs.each(Object.entries(STATUSES))(
    titleWith('%s', missing),
    async (name, expected) => {
      const folder = await mkdtemp(join(tmpdir(), 'crossdock-samples-'));
      try {
        await writeFile(join(folder, 'logo.png'), onePixel());
        const { output, statuses } = await paste(await script(name), folder);
        expect([output, statuses]).toEqual([output, expected]);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    60_000,
  );

  test('every page with such samples is tried', () => {
    const found = names.filter((name) =>
      /^```sh( tab=curl)?\n/m.test(readFileSync(join(projectRoot, 'docs/site/pages', `${name}.md`), 'utf8')),
    );
    expect(found.sort()).toEqual(Object.keys(STATUSES).sort());
  });

  /** Returns all samples of a page as one script, in the order of the page. */
  async function script(name: string): Promise<string> {
    const text = await textOf(`/docs/${name}.md`);
    const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, code = '']) => code);
    const settings = await service.call('getCourierSettings', { as: 'iex' });
    const packages = await service.call('listPackages', { as: 'warehouse' });
    const values = {
      HOST,
      TOKEN: await service.freshTokenOf('iex'),
      STAFF_TOKEN: await service.freshTokenOf('warehouse'),
      PACKAGE_ID: packages.body['data'][0].package_id,
      API_KEY: settings.body['data'].api_key,
      PREAUTH_TOKEN: 'none',
    };
    const assignments = Object.entries(values).map(([key, value]) => `${key}=${value}\n`);
    return [...assignments, ...blocks].join('\n').replaceAll(HOST, service.url);
  }

  async function paste(code: string, folder: string): Promise<{ output: string; statuses: number[] }> {
    const shell = spawn('bash', ['-uc', REPORTING_CURL + code], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let errors = '';
    shell.stdout.on('data', (chunk) => (output += String(chunk)));
    shell.stderr.on('data', (chunk) => (errors += String(chunk)));
    await once(shell, 'close');
    const statuses = [...errors.matchAll(/^HTTP (\d+)$/gm)].map(([, status]) => Number(status));
    return { output: output + errors, statuses };
  }
});

/** Writes the status of each request to standard error, also if the sample reads it itself. */
const REPORTING_CURL = `curl() {
  case "$*" in
    *'%{http_code}'*) set -- "$@" -w '%{stderr}HTTP %{http_code}\\n%{stdout}%{http_code}' ;;
    *) set -- "$@" -w '%{stderr}HTTP %{http_code}\\n' ;;
  esac
  command curl "$@"
}
`;

const onePixel = () =>
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );

test('the changelog has a date for each release, and what concerns operators on a page of its own', async () => {
  const [integrators, operators] = [
    await textOf('/docs/changelog.md'),
    await textOf('/docs/changelog-operators.md'),
  ];
  const versions = [...integrators.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title);
  expect(
    versions.filter((title) => !/^\d+\.\d+\.\d+( \(\d{4}-\d\d-\d\d\)|, not released yet)$/.test(title)),
  ).toEqual([]);
  const changes = [...readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8').matchAll(/^- .+$/gm)].map(
    String,
  );
  const plain = (text: string) => text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1');
  const isOn = (page: string, change: string) => plain(page).includes(plain(change));
  // Each change is on exactly one of the pages.
  expect(changes.filter((change) => isOn(integrators, change) === isOn(operators, change))).toEqual([]);
  expect([integrators.includes('APP_ENV'), operators.includes('APP_ENV')]).toEqual([false, true]);
});
