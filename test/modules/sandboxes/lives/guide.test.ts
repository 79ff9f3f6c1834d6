import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../../../src/config/project-root.js';
import { makeSandbox } from '../../../support/fixture/sandboxes.js';
import { withService } from '../../../support/fixture/with-service.js';
import { findProgram, titleWith } from '../../../support/harness/programs.js';
import { startReceiver, verified } from '../../../support/receivers/receiver.js';
import { setEndpoints, webhookSecret } from '../../../support/receivers/webhooks.js';
import { until } from '../../../support/service/processes.js';
import { buildSdk } from '../../../sdk/programs/build-sdk.js';
import { livesOf } from './lives-calls.js';

// The worker of the service plays the steps, as in production.
const { service } = withService(() => ({ worker: true }));

const sdk = join(projectRoot, 'sdk', 'typescript');
const LISTEN = join(sdk, 'dist', 'crossdock-listen.mjs');
const LIFE_MS = 60_000;

beforeAll(() => buildSdk(), 180_000);

const missing = ['bash', 'curl', 'sed'].filter((name) => !findProgram(name));
const runs = missing.length === 0 ? test : test.skip;

/** The type of an event. Every webhook has one. */
const typeOf = (event: unknown) => String((event as { type: unknown }).type);

async function run(program: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  await once(child, 'close');
  return output;
}

runs(
  titleWith('the guide shows a life up to the published bill, and its webhooks reach a program', missing),
  async () => {
    const page = await fetch(`${service().url}/docs/sandbox-lives.md`);
    const text = await page.text();
    const code = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
    expect(code.length).toBeGreaterThan(6);
    const script = [
      'set -eu',
      `HOST=${service().url}`,
      `TOKEN=${await service().freshTokenOf('iex')}`,
      // Instead of the reader's seconds, which a busy machine may exceed.
      'sleep() { until curl -sS "$BASE/api/SandboxLives" -H "Authorization: Bearer $SANDBOX_TOKEN" | grep -q \'"steps_due":0\'; do command sleep 0.2; done; }',
      ...code,
      'printf "\\nBASE=%s TOKEN=%s\\n" "$BASE" "$SANDBOX_TOKEN"',
    ].join('\n');
    const output = await run('bash', ['-c', script]);
    expect(output).not.toContain('"status":"error"');
    expect(output).toContain('"tracking_number":"LIFE-HAPPY-1"');
    for (const expected of ['"state":"finished"', '"type":"bill.published"', '"life":"claimed"'])
      expect(output).toContain(expected);
    const [, base, token] = /^BASE=(\S+) TOKEN=(\S+)$/m.exec(output) ?? [];

    const receiver = await startReceiver();
    try {
      const secret = webhookSecret('l');
      const listened = await run(process.execPath, [LISTEN, '--to', receiver.url, '--after', '0', '--once'], {
        CROSSDOCK_URL: base,
        CROSSDOCK_TOKEN: token,
        CROSSDOCK_WEBHOOK_SECRET: secret,
      });
      expect(listened).not.toContain('FAILED');
      const types = receiver.received.map((request) => typeOf(verified(secret, request)));
      expect(types).toEqual([
        'package.created',
        'prealert.received',
        'package.status_changed',
        'manifest.departed',
        'package.status_changed',
        'manifest.arrived',
        'bill.published',
      ]);
    } finally {
      await receiver.stop();
    }
  },
  2 * LIFE_MS,
);

test(
  'a life sends signed webhooks to the URLs of the sandbox, which say where they come from',
  async () => {
    const receiver = await startReceiver();
    try {
      const sandbox = await makeSandbox(service(), 'hrb');
      const lives = livesOf(service(), sandbox);
      const { owner, app } = service();
      await setEndpoints(
        { owner, secrets: app.secrets },
        {
          courierId: sandbox.courierId,
          tenantId: sandbox.sandboxId,
          add: `${receiver.url}/add`,
          update: `${receiver.url}/update`,
          token: null,
          secret: webhookSecret('s'),
        },
      );
      await lives.announce('LIFE-RETURNED-1');
      // The first action finds the pre-alert, so that the second reaches all of its steps.
      await lives.manage({ action: 'set_speed', speed: 0 });
      await lives.manage({ action: 'advance', hours: 200 });
      await until(async () => receiver.received.length >= 4, LIFE_MS);
      const told = receiver.received.map((request) => {
        expect(request.headers).toMatchObject({ 'x-crossdock-sandbox': 'true' });
        return typeOf(verified(webhookSecret('s'), request));
      });
      expect(told.sort()).toEqual([
        'package.created',
        'package.status_changed',
        'package.status_changed',
        'package.status_changed',
      ]);
      expect(await lives.lifeOf('LIFE-RETURNED-1')).toMatchObject({ state: 'finished', refusal: null });
    } finally {
      await receiver.stop();
    }
  },
  2 * LIFE_MS,
);
