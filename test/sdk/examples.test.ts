import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { CLASS_PATH } from '../../sdk-tools/java/language.js';
import { freePort, statusOf, until } from '../support/service/processes.js';
import { startService, type Service } from '../support/service/service.js';

// The programs in sdk/go/examples and sdk/java/examples, as documentation shows them. They run if the SDK is built.
const go = join(projectRoot, 'sdk', 'go');
const java = join(projectRoot, 'sdk', 'java');
const JAVA = ['java', '-cp', CLASS_PATH];

const LANGUAGES = [
  {
    name: 'go',
    folder: go,
    built: join(go, 'bin', 'submit-prealert'),
    submit: [join(go, 'bin', 'submit-prealert')],
    verify: [join(go, 'bin', 'verify-webhook')],
  },
  {
    name: 'java',
    folder: java,
    built: join(java, 'target', 'lib'),
    submit: [...JAVA, join('examples', 'SubmitPrealert.java')],
    verify: [...JAVA, join('examples', 'VerifyWebhook.java')],
  },
];

const LIMIT_MS = 60_000;

let service: Service;
let receiver: ChildProcess | undefined;

beforeAll(async () => {
  service = await startService();
});

afterEach(async () => {
  if (!receiver) return;
  const ended = once(receiver, 'close');
  receiver.kill();
  await ended;
  receiver = undefined;
});

afterAll(() => service.stop());

describe.each(LANGUAGES)('$name', ({ name, folder, built, submit, verify }) => {
  const isBuilt = existsSync(built);
  const reason = isBuilt ? '' : ` (skipped: build it with npm run sdk -- ${name})`;
  const builtTest = isBuilt ? test : test.skip;

  const submitPrealert = async (trackingNumber: string): Promise<string> => {
    const env = {
      ...process.env,
      CROSSDOCK_URL: service.url,
      CROSSDOCK_API_KEY: DEMO.apiKeys.IEX,
    };
    const [program, ...args] = [...submit, trackingNumber];
    return (await promisify(execFile)(program, args, { cwd: folder, env })).stdout.trim();
  };

  builtTest(
    `the example submits a pre-alert, and reports a duplicate as such${reason}`,
    async () => {
      const trackingNumber = `EXAMPLE-1-${name.toUpperCase()}`;
      const printed = await submitPrealert(trackingNumber);
      const { body } = await service.call('listPrealerts', {
        as: 'admin',
        query: { search: trackingNumber },
      });
      expect(body['data']).toMatchObject([{ vendor: 'Example Books' }]);
      expect(printed).toBe(`announced ${String(body['data'][0].prealert_id)}`);
      expect(await submitPrealert(trackingNumber)).toBe('already announced');
      expect(await submitPrealert(`NO NUMBER OF ${name === 'go' ? 'GO' : 'JAVA'}`)).toMatch(
        /^announced [\da-f-]{36}\ncheck it: .+ \(unlikely_number\)$/,
      );
    },
    LIMIT_MS,
  );

  builtTest(
    `the example accepts a signed webhook and rejects a changed one${reason}`,
    async () => {
      const secret = `whsec_${randomBytes(24).toString('base64')}`;
      const port = await freePort();
      const env = { ...process.env, PORT: String(port), CROSSDOCK_WEBHOOK_SECRET: secret };
      const [program = '', ...args] = verify;
      receiver = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      receiver.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
      const url = `http://127.0.0.1:${port}/`;
      await until(async () => (await statusOf(url)) !== undefined);

      const data = { tracking_number: 'EXAMPLE-WEBHOOK', shipper: 'Café Müller' };
      const id = '01930a3e-7c1d-7e11-9c5a-2f4b8d6e0e01';
      const body = JSON.stringify({ type: 'package.created', event_id: id, sequence: 1, data });
      const sentAt = new Date();
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign(id, sentAt, body),
      };
      const send = async (text: string) => (await fetch(url, { method: 'POST', headers, body: text })).status;
      expect(await send(body)).toBe(204);
      expect(await send(body.replace('Café', 'Cafe'))).toBe(401);
      await until(async () => output.includes('\n'));
      expect(output).toBe(`package.created ${id} EXAMPLE-WEBHOOK\n`);
    },
    LIMIT_MS,
  );
});
