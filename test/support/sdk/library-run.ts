import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { Command } from '../../../sdk-tools/language.js';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { until } from '../service/processes.js';
import { startService, type Service } from '../service/service.js';
import { startFailingService, type FailingService } from './failing-service.js';

/** What the tests and examples of a library in `sdk/` need: a service, a failing service, and files. */
export type LibraryRun = {
  /** Names the services and files for the library's programs. */
  environment: Record<string, string>;
  failing: FailingService;
  stop(): Promise<void>;
};

export async function startLibraryRun(): Promise<LibraryRun> {
  const [service, failing, files] = await Promise.all([
    startService(),
    startFailingService(),
    mkdtemp(join(tmpdir(), 'crossdock-library-')),
  ]);
  await makeEvents(service);
  return {
    environment: {
      CROSSDOCK_URL: service.url,
      CROSSDOCK_FAILING_URL: failing.url,
      CROSSDOCK_API_KEY: DEMO.apiKeys.IEX,
      CROSSDOCK_USERNAME: 'iex',
      CROSSDOCK_PASSWORD: DEMO.password,
      CROSSDOCK_COURIER_ID: DEMO.couriers.IEX,
      CROSSDOCK_WEBHOOK_SECRET: SECRET,
      CURSOR_FILE: join(files, 'cursor'),
      EVENT_FILE: join(files, 'events'),
    },
    failing,
    async stop() {
      await Promise.all([service.stop(), failing.stop(), rm(files, { recursive: true })]);
    },
  };
}

/** Receives packages of the courier, each of which is an event. */
async function makeEvents(service: Service): Promise<void> {
  for (let number = 1; number <= EVENTS; number++) {
    const body = { tracking_number: `EVENT-${number}`, weight: 1, user_code: 'IEX-1001' };
    await service.call('receivePackage', { as: 'warehouse', body });
  }
}

/** More than two pages of the smallest limit that the libraries' tests use. */
const EVENTS = 8;

/** Returns the first code block of a library's README, for this service instead of the one that it names. */
export async function firstSample(folder: string, environment: Record<string, string>): Promise<string> {
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  const [, code = ''] = /^```\w+\n(.*?)^```/ms.exec(readme) ?? [];
  return code
    .replace('https://demo.crossdock.example', environment['CROSSDOCK_URL'] ?? '')
    .replace('1Z999AA10123456784', `README-${basename(folder)}`);
}

const SECRET = `whsec_${Buffer.from('a secret of the courier').toString('base64')}`;

/**
 * Starts a receiver of webhooks, and sends it a webhook without and with a valid signature. Returns both statuses and the
 * events that the receiver has stored.
 */
export async function tryReceiver(receiver: Command, port: number, environment: Record<string, string>) {
  const { program, args, folder } = receiver;
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: 'ignore',
  });
  try {
    await until(async () => (await send(port, 'v1,none').catch(() => undefined)) !== undefined);
    const statuses = [await send(port, 'v1,none'), await send(port, new Webhook(SECRET).sign(ID, NOW, BODY))];
    return { statuses, stored: await readFile(environment['EVENT_FILE'] ?? '', 'utf8') };
  } finally {
    child.kill();
  }
}

const ID = 'event-1';
const NOW = new Date();
const BODY = JSON.stringify({
  type: 'webhook.test',
  event_id: ID,
  sequence: null,
  timestamp: '2026-11-21 15:10:00',
  data: { message: 'Café' },
});

async function send(port: number, signature: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    body: BODY,
    headers: {
      'webhook-id': ID,
      'webhook-timestamp': String(Math.floor(NOW.getTime() / 1000)),
      'webhook-signature': signature,
    },
  });
  await response.arrayBuffer();
  return response.status;
}
