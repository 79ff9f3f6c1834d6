import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { run, until } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';
import { matching } from '../../support/assertions/matching.js';

// docs/first-courier.md: its commands run as they are written, against a tenant that tenant-create has just made.

const LIMIT_MS = 120_000;
const page = readFileSync(join(projectRoot, 'docs', 'first-courier.md'), 'utf8');
const BLOCKS = [...page.matchAll(/^```sh name=(\S+)\n(.*?)^```$/gms)].map(([, name = '', body = '']) => ({
  name,
  body,
}));

let service: Service;
let receiver: Receiver;

beforeAll(async () => {
  service = await startService({ demo: false, worker: true });
  receiver = await startReceiver();
}, LIMIT_MS);

afterAll(async () => {
  await service.stop();
  await receiver.stop();
}, LIMIT_MS);

async function createTenant(): Promise<string> {
  const created = run(
    'src/commands/tenant-create.js',
    { DATABASE_OWNER_URL: String(service.owner.options.connectionString) },
    ['--slug', 'gateway', '--name', 'Gateway Ltd', '--host', '*', '--generate-password'],
  );
  expect((await created.ended).code).toBe(0);
  return /Password, shown this once: (\S+)/.exec(created.output())?.[1] ?? '';
}

/** Not spawnSync, because the service runs in this process. */
async function runShell(script: string): Promise<{ code: number; output: string }> {
  const { PATH } = process.env;
  const shell = spawn('sh', ['-eu', '-c', script], { env: { PATH }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, code] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    new Promise<number>((resolve) => shell.on('close', (status) => resolve(status ?? 1))),
  ]);
  return { code, output: output + errors };
}

const missing = [findProgram('curl') ? undefined : 'curl'];
const declare = missing.some(Boolean) ? test.skip : test;

declare(
  titleWith('the commands lead from the printed password to a courier that receives webhooks', missing),
  async () => {
    const values: Record<string, string> = {
      API: `${service.url}/api`,
      PRINTED_PASSWORD: await createTenant(),
      PASSWORD: 'nine parcels under a blue roof',
      WEBHOOK_URL: receiver.url,
    };
    const blocks = BLOCKS.map(({ name, body }) => {
      const changed = Object.entries(values).map(([key, value]) => `${key}='${value}'\n`);
      return name === 'values' ? body + changed.join('') : body;
    });
    const { code, output } = await runShell(blocks.join('\n'));
    if (code !== 0) throw new Error(output);
    expect(output).toContain('The password is changed.');
    expect(output).toMatch(/^API key of SUN: [0-9a-f]{64}$/m);
    expect(output).toMatch(/^One-time password of sunny: \S+$/m);
    expect(output).toMatch(/^Webhook secret: whsec_\S+$/m);
    expect(output).toContain('"matched_by":"prealert"');
    expect(output).not.toContain('"status":"error"');
    // The test, and the parcel that arrived.
    await until(async () => receiver.received.length >= 2);
  },
  LIMIT_MS,
);

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...readdirSync(join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

test('no link of a document of a release leads to a folder that the release does not contain', () => {
  const links = DOCUMENTS.flatMap((document) =>
    [...readFileSync(join(projectRoot, document), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].map(
      ([, target = '']) => `${document}: ${target}`,
    ),
  );
  expect(links.length).toBeGreaterThan(100);
  const unreleased = matching(/: (\.\.\/)*(test|scripts|src|openapi|console|sdk)\//, 'README.md: test/x.ts');
  expect(links.filter((link) => unreleased.test(link))).toEqual([]);
});
