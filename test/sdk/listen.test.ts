import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { projectRoot } from '../../src/config/project-root.js';
import { CUSTOMERS, newNumber } from '../support/builders/parcels.js';
import { insertEvent } from '../support/builders/deliveries.js';
import { withService } from '../support/fixture/with-service.js';
import {
  accept,
  hang,
  refuse,
  startReceiver,
  verified,
  type Receiver,
} from '../support/receivers/receiver.js';
import { setEndpoints, webhookSecret } from '../support/receivers/webhooks.js';
import { endProcesses, freePort, runProgram, until, type Running } from '../support/service/processes.js';
import { buildSdk } from './programs/build-sdk.js';

// crossdock-listen: the events of the feed, posted to a program of the developer.

const sdk = join(projectRoot, 'sdk', 'typescript');
const PROGRAM = join(sdk, 'dist', 'crossdock-listen.mjs');
const SECRET = webhookSecret('l');

const { api, db, service } = withService({ worker: true });

let receiver: Receiver;

beforeAll(() => buildSdk(), 180_000);
beforeEach(async () => {
  await db.query('delete from webhook_deliveries; delete from events; delete from event_counters');
  receiver = await startReceiver();
});
afterEach(async () => {
  await endProcesses();
  await receiver.stop();
});
afterAll(endProcesses);

/** Starts the program as the courier iex, unless the settings say otherwise. */
const start = (args: string[], settings: NodeJS.ProcessEnv = {}): Running =>
  runProgram(process.execPath, [PROGRAM, ...args], {
    PATH: process.env['PATH'],
    CROSSDOCK_URL: service().url,
    CROSSDOCK_USERNAME: 'iex',
    CROSSDOCK_PASSWORD: DEMO.password,
    CROSSDOCK_WEBHOOK_SECRET: SECRET,
    ...settings,
  });

/** Runs the program to its end. */
async function listen(args: string[], settings: NodeJS.ProcessEnv = {}) {
  const running = start(['--to', `${receiver.url}/hook`, ...args], settings);
  const { code } = await running.ended;
  return { code, output: running.output() };
}

const insertEvents = async (count: number, fields: Parameters<typeof insertEvent>[1] = {}) => {
  for (let at = 0; at < count; at += 1) await insertEvent(service().owner, fields);
};

const receive = () =>
  api
    .as('warehouse')
    .receivePackage({ tracking_number: newNumber(), weight: 2.25, user_code: CUSTOMERS.IEX })
    .created();

const sequences = () => receiver.received.map(({ body }) => JSON.parse(body).sequence as number);

describe('posts', () => {
  test('exactly what a webhook contains, signed and with the token', async () => {
    const live = await startReceiver();
    const { owner, app } = service();
    await setEndpoints(
      { owner, secrets: app.secrets },
      { add: live.url, token: 'of-the-courier', secret: SECRET },
    );
    await receive();
    await until(async () => live.received.length === 1);
    await setEndpoints({ owner, secrets: app.secrets }, {});
    expect(await listen(['--after', '0', '--once'], { CROSSDOCK_API_TOKEN: 'of-the-courier' })).toMatchObject(
      {
        code: 0,
      },
    );
    const [webhook, posted] = [live.received[0], receiver.received[0]];
    if (!webhook || !posted) throw new Error('A request is missing.');
    expect(posted.body).toBe(webhook.body);
    expect(verified(SECRET, posted)).toEqual(verified(SECRET, webhook));
    for (const name of ['webhook-id', 'content-type', 'user-agent', 'authorization'])
      expect([name, posted.headers[name]]).toEqual([name, webhook.headers[name]]);
    await live.stop();
  });

  test('only new events if no range is given, until it is stopped', async () => {
    await insertEvents(2);
    const running = start(['--to', receiver.url]);
    await until(async () => running.output().includes('Waiting for events after 2.'));
    await receive();
    await until(async () => receiver.received.length === 1);
    running.child.kill('SIGINT');
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(sequences()).toEqual([3]);
    expect(running.output()).toMatch(
      /\nok {5}3 package\.created [\da-f-]{36} \d+ ms 204\n1 event posted\.\n$/,
    );
  });

  test('a range, in order and over several pages', async () => {
    await insertEvents(1_203);
    const { code, output } = await listen(['--after', '150', '--until', '1202']);
    expect(code).toBe(0);
    expect(sequences()).toEqual(Array.from({ length: 1_052 }, (_, at) => at + 151));
    expect(output).toMatch(/\n1052 events posted\.\n$/);
  });

  test('only the named types', async () => {
    await receive();
    await insertEvents(1, { type: 'package.updated' });
    const { output } = await listen(['--after', '0', '--once', '--type', 'package.created']);
    expect(output).toContain('\n1 event posted.');
    expect(sequences()).toEqual([1]);
  });

  test("a courier's events for staff who name it", async () => {
    await insertEvents(1);
    const staff = { CROSSDOCK_USERNAME: 'admin' };
    const range = ['--after', '0', '--once'];
    expect(await listen([...range, '--courier', DEMO.couriers.IEX], staff)).toMatchObject({ code: 0 });
    expect(sequences()).toEqual([1]);
    const unnamed = await listen(range, staff);
    expect(unnamed.code).toBe(1);
    expect(unnamed.output).toContain('courier_id');
  });

  test('with a secret of its own, which it prints', async () => {
    await insertEvents(1);
    const { output } = await listen(['--after', '0', '--once'], { CROSSDOCK_WEBHOOK_SECRET: '' });
    const secret = /The webhooks are signed with (whsec_\S+)/.exec(output)?.[1];
    const [posted] = receiver.received;
    if (!secret || !posted) throw new Error(`Nothing was posted: ${output}`);
    expect(verified(secret, posted)).toMatchObject({ sequence: 1 });
  });
});

describe('says what failed', () => {
  test('goes on, and how to post it again', async () => {
    await insertEvents(4);
    receiver.answer = (request, response) =>
      JSON.parse(request.body).sequence % 2 === 0
        ? refuse(500, 'Traceback:\n  \u001B[31mno such customer')(request, response)
        : accept(request, response);
    const { code, output } = await listen(['--after', '0', '--once']);
    expect(code).toBe(1);
    expect(sequences()).toEqual([1, 2, 3, 4]);
    expect(output).toMatch(/\nFAILED 2 \S+ \S+ \d+ ms 500 Traceback: \[31mno such customer\n/);
    expect(output).toMatch(/\n4 events posted, 2 not accepted: 2, 4\.\n.*--after 1 --until 4\n$/);
  });

  test('if nothing listens, or there is no response in time', async () => {
    await insertEvents(1);
    const nowhere = start(['--to', `http://127.0.0.1:${await freePort()}`, '--after', '0', '--once']);
    expect((await nowhere.ended).code).toBe(1);
    expect(nowhere.output()).toMatch(/FAILED 1 .* ms connect ECONNREFUSED 127\.0\.0\.1:\d+\n/);
    receiver.answer = hang;
    expect((await listen(['--after', '0', '--once'])).output).toMatch(
      /FAILED 1 .* no response within 10 s\n/,
    );
  }, 60_000);

  test('if a redirect is answered, which a webhook does not follow', async () => {
    await insertEvents(1);
    receiver.answer = (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end();
    const { code } = await listen(['--after', '0', '--once']);
    expect([code, receiver.received.length]).toEqual([1, 1]);
  });

  test('if the range is not in the feed', async () => {
    await insertEvents(3);
    const ahead = await listen(['--after', '9', '--once']);
    expect([ahead.code, ahead.output]).toEqual([
      1,
      expect.stringContaining('The events end with 3, before 9, '),
    ]);
    await db.query('delete from events where sequence < 3');
    expect((await listen(['--after', '0', '--once'])).output).toContain(
      'The events from 1 to 2 are deleted.',
    );
    expect(sequences()).toEqual([3]);
  });

  test('if the password is wrong, without the password', async () => {
    const { code, output } = await listen(['--once'], { CROSSDOCK_PASSWORD: 'not-the-password' });
    expect(code).toBe(1);
    expect(output).toMatch(/password/i);
    expect(output).not.toContain('not-the-password');
  });
});

describe('refuses with status 2, and says what to change', () => {
  const TO = ['--to', 'http://127.0.0.1:8080/'];
  test.each<[string, string[], NodeJS.ProcessEnv, string]>([
    ['no URL to post to', [], {}, '--to is missing'],
    ['a URL without http', ['--to', 'localhost:8080'], {}, '--to must be a URL'],
    ['a text as a sequence', [...TO, '--after', 'first'], {}, '--after must be the sequence'],
    ['an unknown option', [...TO, '--since', '1'], {}, "'--since'"],
    ['no instance', TO, { CROSSDOCK_URL: '' }, 'CROSSDOCK_URL is missing'],
    ['no user', TO, { CROSSDOCK_USERNAME: '' }, 'Set CROSSDOCK_TOKEN, or CROSSDOCK_USERNAME'],
    ['a secret without its prefix', TO, { CROSSDOCK_WEBHOOK_SECRET: 'secret' }, 'must be whsec_ and base64'],
  ])('%s', async (_case, args, settings, text) => {
    const running = start(args, settings);
    expect((await running.ended).code).toBe(2);
    expect(running.output()).toContain(text);
    expect(running.output()).not.toContain('    at ');
  });

  test('and has a help', async () => {
    const running = start(['--help'], { CROSSDOCK_URL: '' });
    expect((await running.ended).code).toBe(0);
    expect(running.output()).toContain('Usage: crossdock-listen');
  });
});
