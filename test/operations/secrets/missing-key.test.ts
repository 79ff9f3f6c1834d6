import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { ask, logIn, type Question } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { endProcesses, startReplica, until, type Replica } from '../../support/service/processes.js';

// A running server meets secrets that `rewrap` has encrypted with a version of ENCRYPTION_KEYS that was added after its start.

const LIMIT_MS = 60_000;

let database: TestDatabase;
let owner: pg.Client;
let service: Replica;
let token: string;
let preauth: string;

const post = (path: string, body: object, headers: Record<string, string> = {}): Question => ({
  method: 'POST',
  path: `/api/${path}.php`,
  headers: { authorization: `Bearer ${token}`, ...headers },
  body,
});

const ADD_CARRIER = () =>
  post('ManageCarriers', { action: 'create', name: 'Night Air' }, { 'idempotency-key': 'missing-key-1' });

const NEWER = (column: string) => `${column} = regexp_replace(${column}, '^v\\d+', 'v9')`;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  service = await startReplica({ DATABASE_URL: database.ownerUrl, RUN_WORKER: 'false' });
  token = await logIn(service.url);
  await ask(service.url, post('RotateWebhookSecret', { courier_id: DEMO.couriers.IEX }));
  expect((await ask(service.url, ADD_CARRIER())).status).toBeLessThan(300);
  await owner.query(
    `update users set two_factor_enabled = true, totp_secret = 'v9.AAAA' where username = 'manager' and tenant_id = '${DEMO.tenants.demo}'`,
  );
  const login = { action: 'login', username: 'manager', password: DEMO.password };
  const { text } = await ask(service.url, { method: 'POST', path: '/api/login.php', body: login });
  preauth = JSON.parse(text).data.preauth_token;
  await owner.query(
    `update couriers set ${NEWER('api_key_cipher')}, ${NEWER('webhook_secret_cipher')}, ${NEWER('webhook_previous_secret_cipher')}`,
  );
  await owner.query(`update idempotency_keys set ${NEWER('answer_cipher')}`);
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await owner.end();
  await database.drop();
});

const QUESTIONS: [string, () => Question][] = [
  [
    'the settings of a courier',
    () => ({
      path: `/api/CourierSettingsAPI.php?id=${DEMO.couriers.IEX}`,
      headers: { authorization: `Bearer ${token}` },
    }),
  ],
  ['a webhook secret', () => post('RotateWebhookSecret', { courier_id: DEMO.couriers.IEX })],
  ['a repeated request', ADD_CARRIER],
  [
    'a second factor',
    () => ({
      method: 'POST',
      path: '/api/login.php',
      body: { action: 'verify_2fa', preauth_token: preauth, code: '123456' },
    }),
  ],
];

const ADVICE =
  /No encryption key of version 9 is configured\. If ENCRYPTION_KEYS was changed, restart every server and worker\./;

test.each(QUESTIONS)(
  '%s is 503 with Retry-After, and a line of the log says what to do',
  async (_what, question) => {
    const lines = service.output().split('\n').length;
    const { status, headers, text } = await ask(service.url, question());
    expect([status, JSON.parse(text).code, Number(headers['retry-after']) > 0]).toEqual([
      503,
      'unavailable',
      true,
    ]);
    // The line follows the response.
    await until(async () =>
      ADVICE.test(
        service
          .output()
          .split('\n')
          .slice(lines - 1)
          .join('\n'),
      ),
    );
  },
  LIMIT_MS,
);
