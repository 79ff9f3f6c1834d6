import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { signatureHeaders } from '../../src/modules/webhooks/delivery/sign.js';
import { findProgram, titleWith } from '../support/harness/programs.js';
import { freePort, statusOf, until } from '../support/service/processes.js';

const run = promisify(execFile);
const SAMPLES = join(projectRoot, 'docs/site/samples/webhooks');
const script = readFileSync(join(SAMPLES, 'send-signed.bash'), 'utf8');

let folder: string;
let receiver: ChildProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossdock-receiver-'));
  await cp(SAMPLES, folder, { recursive: true });
});

afterAll(async () => {
  receiver?.kill();
  if (receiver) await once(receiver, 'close');
  await rm(folder, { recursive: true });
});

test('the example of a signature is the one that the service makes', () => {
  const text = readFileSync(join(SAMPLES, 'vector.txt'), 'utf8').trimEnd();
  const lines = text.split('\n');
  const body = lines.pop() ?? '';
  const values = Object.fromEntries(lines.map((line) => line.split(/ +/)));
  const sentAt = new Date(Number(values['webhook-timestamp']) * 1000);
  expect(signatureHeaders([values.secret], { id: values['webhook-id'], sentAt, body })).toMatchObject({
    'webhook-signature': values['webhook-signature'],
  });
});

const missing = ['python3', 'bash', 'openssl', 'curl', 'od'].filter((name) => !findProgram(name));

(missing.length === 0 ? test : test.skip)(
  titleWith('the receiver accepts the signed request once, and refuses a changed one', missing),
  async () => {
    const port = await freePort();
    const [secret = ''] = /(?<=^SECRET=).+$/m.exec(script) ?? [];
    let output = '';
    receiver = spawn('python3', ['receiver.py', String(port)], {
      cwd: folder,
      env: { ...process.env, WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    receiver.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
    await until(async () => (await statusOf(`http://127.0.0.1:${port}/`)) !== undefined);
    const send = async (changed = script) => {
      const { stdout } = await run('bash', ['-euc', changed.replaceAll('8080', String(port))]);
      return stdout;
    };
    expect([await send(), await send()]).toEqual(['204\n', '204\n']);
    // A caller that stops in the middle of its request does not delay the others.
    const slow = connect(port, '127.0.0.1');
    slow.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    await once(slow, 'connect');
    const startMs = performance.now();
    expect(await send()).toBe('204\n');
    expect(performance.now() - startMs).toBeLessThan(8_000);
    slow.destroy();
    expect(await send(script.replace('--data-binary "$BODY"', '--data-binary "$BODY "'))).toBe('401\n');
    expect(await send(script.replace('SECRET=whsec_M', 'SECRET=whsec_N'))).toBe('401\n');
    expect(output).toBe('New: package.created\n');
  },
  60_000,
);
