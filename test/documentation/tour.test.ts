import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { findProgram, titleWith } from '../support/harness/programs.js';
import { startService, type Service } from '../support/service/service.js';

// The tour in README.md and its continuation in docs/tour.md run as they are written, in one terminal.

const LIMIT_MS = 120_000;
const API = 'http://127.0.0.1:3000/api';
const RECEIVER_PORT = '8099';

const blocksOf = (path: string, section: RegExp) => {
  const page = readFileSync(join(projectRoot, path), 'utf8');
  const blocks = [...page.slice(page.search(section)).matchAll(/^```sh[^\n]*\n(.*?)^```$/gms)];
  return blocks.map(([, body = '']) => body);
};
const FIRST = blocksOf('README.md', /^## The first five steps of the tour$/m);
const NEXT = blocksOf('docs/tour.md', /^# Tour$/m);

let service: Service;
let folder: string;

beforeAll(async () => {
  service = await startService({ worker: true });
  folder = mkdtempSync(join(tmpdir(), 'crossdock-tour-'));
}, LIMIT_MS);

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
}, LIMIT_MS);

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? String(address.port) : '';
}

/** Not spawnSync, because the service runs in this process. Ends the receiver that the tour starts in the background. */
async function runBash(script: string): Promise<{ code: number; output: string }> {
  const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const lines = `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n${script}`;
  const shell = spawn('bash', ['-eu', '-o', 'pipefail', '-c', lines], {
    cwd: folder,
    env: { PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    once(shell, 'close') as Promise<[number | null]>,
  ]);
  return { code: code ?? 1, output: output + errors };
}

const missing = ['bash', 'curl'].map((name) => (findProgram(name) ? undefined : name));
const declare = missing.some(Boolean) ? test.skip : test;

declare(
  titleWith('the tour leads from the login to bills, events and webhooks', missing),
  async () => {
    expect(FIRST).toHaveLength(1);
    expect(NEXT).toHaveLength(2);
    expect(FIRST[0]).toContain(`API=${API}\n`);
    expect(NEXT[1]).toContain(RECEIVER_PORT);
    const script = [...FIRST, ...NEXT]
      .join('\n')
      .replaceAll(API, `${service.url}/api`)
      .replaceAll(RECEIVER_PORT, await freePort());
    const { code, output } = await runBash(script);
    if (code !== 0) throw new Error(output);
    expect(output).not.toContain('"status":"error"');
    // Not lines: what the receiver prints in the background can stand before a reply.
    const replies = output.match(/\{"status":"success"/g) ?? [];
    // One per request whose reply the tour prints.
    const printed = script.match(/(?<=echo( "\$DRAFT")?)$/gm) ?? [];
    expect(replies).toHaveLength(printed.length);
    expect(output).toContain('"status":"shipped"');
    expect(output).toContain('"balance":0,"status":"paid"');
    expect(output).toMatch(/^ v1,\S+$/m);
    expect(readdirSync(folder).toSorted()).toEqual([
      'customers.csv',
      'invoice.pdf',
      'label.pdf',
      'packages.xlsx',
    ]);
  },
  LIMIT_MS,
);
