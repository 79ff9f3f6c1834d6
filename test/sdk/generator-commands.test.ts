import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runProgram, runTool } from '../../sdk-tools/tool.js';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { startService, type Service } from '../support/service/service.js';

// The commands download the generators, as those of an integrator do.
const question = [
  'view',
  '@hey-api/openapi-ts@0.95.0',
  'version',
  '--fetch-retries=0',
  '--fetch-timeout=10000',
];
const canDownload = spawnSync('npm', question, { timeout: 20_000 }).status === 0;
const withRegistry = canDownload ? test : test.skip;
const skipped = canDownload ? '' : ' (skipped: the npm registry does not answer)';

const page = readFileSync(join(projectRoot, 'docs/site/pages/code-generators.md'), 'utf8');
const npxCommands = [...page.matchAll(/^npx .+$/gm)].map(String);

let service: Service;
let folder: string;

beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), 'crossdock-generator-'));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

test('every command for npx names the versions that it downloads', () => {
  const packages = npxCommands.flatMap((command) =>
    [...command.matchAll(/ -p (\S+)/g)].map(([, name]) => name),
  );
  expect([npxCommands.length, packages.length]).toEqual([2, 3]);
  for (const name of packages) expect(name).toMatch(/^.+@\d+\.\d+\.\d+$/);
});

withRegistry(
  `the commands for npx work in a folder with the contract alone, and the first call announces a parcel${skipped}`,
  async () => {
    await writeFile(join(folder, 'openapi.json'), (await service.request('GET', '/openapi.sdk.json')).bytes);
    for (const command of npxCommands) await runTool({ program: 'sh', args: ['-c', command], folder });
    expect(await readdir(folder)).toEqual(expect.arrayContaining(['client', 'schema.d.ts']));
    const [, call = ''] = /^```ts\n([^]*?)^```$/m.exec(page) ?? [];
    await writeFile(join(folder, 'first-call.ts'), call);
    const modules = join(projectRoot, 'node_modules');
    const bundle = [
      'first-call.ts',
      '--bundle',
      '--platform=node',
      '--format=esm',
      '--outfile=first-call.mjs',
    ];
    await runTool({
      // A script, or the program itself if the packages' install scripts have run.
      program: join(modules, 'esbuild/bin/esbuild'),
      args: bundle,
      folder,
    });
    const env = { CROSSDOCK_URL: service.url, CROSSDOCK_API_KEY: DEMO.apiKeys.IEX };
    const first = await runTool({ program: process.execPath, args: ['first-call.mjs'], folder }, env);
    expect(first).toMatch(/^announced [\da-f-]{36}\n$/);
    const again = await runProgram(
      { program: process.execPath, args: ['first-call.mjs'], folder },
      env,
      () => undefined,
    );
    expect(again).toEqual({ code: 0, output: '409 duplicate_tracking_number\n' });
  },
  300_000,
);
