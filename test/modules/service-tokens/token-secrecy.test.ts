import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newServiceToken, readServiceToken } from '../../../src/platform/access/service-tokens.js';
import { startCollector, type Collector } from '../../support/harness/collector.js';
import { ask, logIn, type Question } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import {
  endProcesses,
  freePort,
  startReplica,
  until,
  type Replica,
} from '../../support/service/processes.js';
import { dump } from '../../support/staging/canaries.js';

const LIMIT_MS = 90_000;

let collector: Collector;
let database: TestDatabase;
let replica: Replica;
let metricsPort: number;

beforeAll(async () => {
  collector = await startCollector();
  database = await demoDatabase();
  metricsPort = await freePort();
  replica = await startReplica({
    DATABASE_URL: database.ownerUrl,
    LOG_LEVEL: 'trace',
    RUN_WORKER: 'false',
    METRICS_PORT: String(metricsPort),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await database.drop();
  await collector.stop();
}, LIMIT_MS);

/** Returns whatever the service has written or shown of its requests: log, traces, metrics, the audit log and all rows. */
async function everything(admin: string): Promise<Record<string, string>> {
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  try {
    return {
      log: replica.output(),
      traces: collector.text(),
      metrics: await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
      audit: (await ask(replica.url, { path: '/api/AuditLog.php?limit=100', headers: bearer(admin) })).text,
      rows: await dump(owner),
    };
  } finally {
    await owner.end();
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('the secrets of tokens are in no log, trace, metric, audit entry or row, whatever happens to their requests', async () => {
  const courier = await logIn(replica.url, 'iex');
  const admin = await logIn(replica.url, 'admin');
  const send = async (headers: Record<string, string>, body: object) => {
    const confirmed = { ...body, current_password: DEMO.password };
    const question = { method: 'POST', path: '/api/ServiceTokens.php', headers, body: confirmed };
    const { text } = await ask(replica.url, question);
    return (JSON.parse(text) as { data: { token: string; service_token: { token_id: string } } }).data;
  };
  const own = { ...bearer(courier), 'idempotency-key': 'create-once' };
  const fields = { action: 'create', name: 'secret', scopes: ['packages:read', 'prealerts:write'] };
  const created = await send(own, fields);
  // The stored response, which has the secret too.
  expect(await send(own, fields)).toEqual(created);
  const { token_id } = created.service_token;
  const rotated = await send(bearer(courier), { action: 'rotate', token_id });
  const claims = readServiceToken(created.token);
  const invented = newServiceToken({ tokenId: token_id, courierId: claims?.courierId ?? null });
  const damaged = `${created.token.slice(0, 20)}x${created.token.slice(21)}`;
  const secrets = [created.token, rotated.token, invented, damaged];
  expect(new Set(secrets.map((each) => each.slice(60))).size).toBeGreaterThan(2);
  const requests = secrets.flatMap((secret): Question[] => [
    { path: '/api/Events.php', headers: bearer(secret) },
    { path: '/api/Sessions.php', headers: bearer(secret) },
    { path: '/api/Events.php?limit=none', headers: bearer(secret) },
    { path: '/api/Prealert.php', method: 'POST', headers: { 'x-api-key': secret }, body: {} },
    { path: `/api/Prealert.php?api_key=${secret}`, method: 'POST', body: {} },
    { path: `/api/Events.php?token=${secret}`, headers: bearer(courier) },
    {
      path: '/api/Prealert.php',
      method: 'POST',
      headers: { ...bearer(secret), 'idempotency-key': 'announce-once' },
      body: { UserCode: 'IEX-1001', TrackingNumber: 'SECRECY-1' },
    },
  ]);
  const statuses: number[] = [];
  for (const request of requests) statuses.push((await ask(replica.url, request)).status);
  expect(new Set(statuses)).toEqual(new Set([200, 201, 400, 401, 403]));
  await send(bearer(courier), { action: 'revoke', token_id });
  await until(async () => collector.text().includes('manageServiceTokens'));
  const written = await everything(admin);
  expect(written['log']).toContain(`"tokenId":"${token_id}"`);
  // A line of a token that the database has not admitted only shows what its text claims.
  const refusals = (written['log'] ?? '')
    .split('\n')
    .filter((line) => line.includes('"code":"service_token_invalid"'));
  const claiming = refusals.filter((line) =>
    line.includes(`"claimedTokenId":"${token_id}","claimedRole":"courier"`),
  );
  expect(claiming).not.toEqual([]);
  for (const name of ['tokenId', 'role', 'courierId']) {
    expect(refusals.filter((line) => line.includes(`"${name}":`))).toEqual([]);
    expect(written['log']).toContain(`"${name}":`);
  }
  for (const name of ['log', 'audit', 'rows']) expect(written[name]).toContain(token_id);
  for (const name of ['traces', 'metrics']) expect(written[name]).toContain('listEvents');
  // The ids in front are no secret. A part of the rest would be one.
  const parts = secrets.flatMap((secret) => [secret, secret.slice(45, 90)]);
  const found = Object.entries(written).flatMap(([name, text]) =>
    parts.flatMap((part) => (text.includes(part) ? [`${name}: ${part.slice(0, 12)}`] : [])),
  );
  expect(found).toEqual([]);
}, 60_000);
