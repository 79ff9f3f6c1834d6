import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { matching } from '../support/assertions/matching.js';
import { runTool } from '../../sdk-tools/tool.js';
import { projectRoot } from '../../src/config/project-root.js';
import { rounds } from '../support/harness/effort.js';
import { writeReadmeSamples } from '../support/sdk/readme-samples.js';
import { buildSdk } from './programs/build-sdk.js';
import { startService } from '../support/service/service.js';

const sdk = join(projectRoot, 'sdk', 'typescript');
const bundle = join(sdk, 'dist', 'browser', 'crossdock.min.js');

/**
 * What the bundle had when this was written, and a little more. A larger one needs a reason. The names of the operations, for the
 * hook of logs, and the sizes of their pages take 0.7 kB. An operation takes 10 to 40 bytes.
 */
const BUDGET_BYTES = 14_900;

let folder: string;

beforeAll(async () => {
  await buildSdk();
  folder = await mkdtemp(join(tmpdir(), 'crossdock-sdk-'));
}, 180_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the bundle for browsers stays within its budget', async () => {
  expect(gzipSync(await readFile(bundle)).length).toBeLessThan(BUDGET_BYTES);
});

test('the main entry imports nothing of Node.js', async () => {
  expect(await readFile(bundle, 'utf8')).not.toMatch(
    matching(/["']node:|\brequire\(/, 'import "node:fs"', "import 'node:fs'", 'require("fs")'),
  );
});

test('the packed package installs, runs, and compiles strictly with the types of a browser and of Node.js', async () => {
  const npm = (args: string[], place: string) => runTool({ program: 'npm', args, folder: place });
  const packed = await npm(['pack', '--json', '--pack-destination', folder], sdk);
  const [{ filename, files }] = JSON.parse(packed);
  expect(files.map(({ path }: { path: string }) => path)).toEqual(
    expect.arrayContaining(['README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts', 'dist/node.js']),
  );
  await writeFile(join(folder, 'package.json'), '{"name":"consumer","private":true,"type":"module"}');
  await npm(['install', '--offline', '--no-audit', '--no-fund', join(folder, filename)], folder);
  const imports =
    "import { VERSION } from '@crossdock/sdk'; import '@crossdock/sdk/node'; import '@crossdock/sdk/browser'; console.log(VERSION);";
  const args = ['--input-type=module', '--eval', imports];
  expect(await runTool({ program: process.execPath, args, folder })).toMatch(/^\d+\.\d+\.\d+\n$/);
  await typecheck();
}, 120_000);

test('a program with require() gets the same package, with types', async () => {
  const program = `const { CrossdockKeyClient, VERSION } = require('@crossdock/sdk');
    const { fileAt } = require('@crossdock/sdk/node');
    new CrossdockKeyClient({ baseUrl: 'https://demo.crossdock.example', apiKey: 'key' });
    console.log(VERSION, typeof fileAt, require.resolve('@crossdock/sdk').includes('cjs'));`;
  // Node.js before 20.19 cannot load ES modules with require().
  const args = ['--no-experimental-require-module', '--input-type=commonjs', '--eval', program];
  expect(await runTool({ program: process.execPath, args, folder })).toMatch(/^[\d.]+ function true\n$/);
  await writeFile(join(folder, 'required.cts'), REQUIRING_CONSUMER);
  await compile('typescript-7', ['--lib', 'ES2022', '--types', 'node', 'required.cts']);
});

test('every sample of the README compiles under strict', async () => {
  const samples = await writeReadmeSamples(join(sdk, 'README.md'), folder);
  expect(samples.length).toBeGreaterThan(7);
  const lib = 'ES2022,DOM,DOM.Iterable,DOM.AsyncIterable';
  await compile('typescript-7', ['--lib', lib, '--types', 'node', ...samples]);
});

/**
 * Compiles a consumer without `skipLibCheck`, with the types of browsers and with those of Node.js. The previous compiler, which
 * many integrators still have, takes ten times as long and compiles it in `npm run test:long`.
 */
async function typecheck(): Promise<void> {
  await cp(join(sdk, 'consumer.ts'), join(folder, 'consumer.ts'));
  await writeFile(join(folder, 'node.ts'), NODE_CONSUMER);
  await mkdir(join(folder, 'node_modules', '@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types'])
    await cp(join(projectRoot, 'node_modules', name), join(folder, 'node_modules', name), {
      recursive: true,
    });
  await Promise.all([
    compile('typescript-7', ['--lib', 'ES2022,DOM,DOM.Iterable,DOM.AsyncIterable', 'consumer.ts']),
    compile(rounds(0, 1) === 1 ? 'typescript' : 'typescript-7', [
      '--lib',
      'ES2022',
      '--types',
      'node',
      'consumer.ts',
      'node.ts',
    ]),
  ]);
}

const STRICT = [
  '--strict',
  '--noEmit',
  '--skipLibCheck',
  'false',
  // The compiler's own declarations are not ours to check, and take most of the time.
  '--skipDefaultLibCheck',
  '--exactOptionalPropertyTypes',
  '--module',
  'NodeNext',
  '--target',
  'ES2022',
];

function compile(compiler: string, args: string[]): Promise<string> {
  const program = join(projectRoot, 'node_modules', compiler, 'bin/tsc');
  return runTool({ program: process.execPath, args: [program, ...STRICT, ...args], folder });
}

const REQUIRING_CONSUMER = `import sdk = require('@crossdock/sdk');
import files = require('@crossdock/sdk/node');
const client = new sdk.CrossdockClient({ baseUrl: process.env['URL'], token: process.env['TOKEN'] });
client.customers.upload({ file: files.fileAt('customers.csv') }).then(({ data }) => data.created.toFixed());
`;

const NODE_CONSUMER = `import { CrossdockClient } from '@crossdock/sdk';
import { fileAt, saveTo } from '@crossdock/sdk/node';
const client = new CrossdockClient({ baseUrl: 'https://demo.crossdock.example', token: 'token' });
await client.customers.upload({ file: fileAt('customers.csv') });
await saveTo(await client.packages.exportXlsx(), 'packages.xlsx');
`;

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const inBrowser = chromium ? test : test.skip;

inBrowser(
  'a page in a browser logs in, lists pre-alerts and uploads a file (skipped without Chromium)',
  async () => {
    const service = await startService();
    const page = await servePage(service.url);
    const profile = await mkdtemp(join(tmpdir(), 'crossdock-chromium-'));
    const flags = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      `--user-data-dir=${profile}`,
    ];
    const browser = spawn(chromium ?? '', [...flags, page.url], { stdio: 'ignore' });
    const ended = new Promise((resolve) => browser.once('close', resolve));
    try {
      const seen = JSON.parse(await page.result);
      expect(seen).toEqual({
        records: 3,
        total: expect.any(Number),
        created: 1,
        code: 'manifest_not_found',
        verified: true,
      });
      expect(seen.total).toBeGreaterThan(3);
    } finally {
      browser.kill('SIGKILL');
      await ended;
      await page.stop();
      await service.stop();
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
  },
  60_000,
);

/** Serves the page and the bundle, forwards `/api` to the service, and receives what the page reports. */
async function servePage(
  serviceUrl: string,
): Promise<{ url: string; result: Promise<string>; stop(): Promise<void> }> {
  let report: (text: string) => void = () => undefined;
  const result = new Promise<string>((resolve) => (report = resolve));
  const server = createServer((request, response) => {
    void answer().catch(() => response.destroy());
    async function answer() {
      const path = request.url ?? '';
      if (path === '/') return response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
      if (path === '/crossdock.min.js')
        return response.writeHead(200, { 'content-type': 'text/javascript' }).end(await readFile(bundle));
      const body = await readAll(request);
      if (path === '/result') {
        report(body.toString());
        return response.writeHead(204).end();
      }
      const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
      const reply = await fetch(serviceUrl + path, {
        method: request.method ?? 'GET',
        headers: headers as Record<string, string>,
        ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
      });
      const type = reply.headers.get('content-type') ?? '';
      return response
        .writeHead(reply.status, { 'content-type': type })
        .end(Buffer.from(await reply.arrayBuffer()));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    result,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const PAGE = `<!doctype html>
<script type="module">
  import { CrossdockClient, verifyWebhook } from '/crossdock.min.js';
  const report = (seen) => fetch('/result', { method: 'POST', body: JSON.stringify(seen) });
  try {
    const client = new CrossdockClient({ baseUrl: location.origin, username: 'iex', password: 'crossdock-demo' });
    let records = 0;
    for await (const prealert of client.prealerts.list({ limit: 2 })) if (prealert.tracking_number && (records += 1) === 3) break;
    const { meta } = await client.prealerts.list({ limit: 1 });
    const csv = new Blob(['user_code,first_name,last_name\\nBROWSER-1,Ann,Lee\\n']).stream();
    const upload = await client.customers.upload({ file: csv });
    const code = await client.manifests.get({ id: crypto.randomUUID() }).catch((error) => error.code);
    const secret = 'whsec_' + btoa('a secret of 24 bytes ....');
    const key = await crypto.subtle.importKey('raw', new TextEncoder().encode('a secret of 24 bytes ....'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    const seconds = Math.floor(Date.now() / 1000);
    const signed = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode('m.' + seconds + '.{}'));
    const signature = 'v1,' + btoa(String.fromCharCode(...new Uint8Array(signed)));
    const headers = { 'webhook-id': 'm', 'webhook-timestamp': String(seconds), 'webhook-signature': signature };
    const verified = JSON.stringify(await verifyWebhook('{}', headers, secret)) === '{}';
    await report({ records, total: meta.total_records, created: upload.data.created, code, verified });
  } catch (error) {
    await report({ error: String(error.stack) });
  }
</script>`;
