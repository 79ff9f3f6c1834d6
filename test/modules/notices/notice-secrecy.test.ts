import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { hashOfKey } from '../../../src/modules/notices/mails/send-notice-mail.js';
import { insertNotices } from '../../support/fixture/notices.js';
import { startCollector, type Collector } from '../../support/harness/collector.js';
import { ask, logIn } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import {
  endProcesses,
  freePort,
  startReplica,
  until,
  type Replica,
} from '../../support/service/processes.js';
import { dump } from '../../support/staging/canaries.js';

// The process as it runs, with the most that it can write into its log.

const LIMIT_MS = 90_000;
const KEY = 'ab12cd34ef56ab12cd34ef56ab12cd34';
const WRONG = '99887766554433221100aabbccddeeff';

let collector: Collector;
let database: TestDatabase;
let owner: pg.Client;
let replica: Replica;
let metricsPort: number;

beforeAll(async () => {
  collector = await startCollector();
  database = await demoDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await insertNotices(owner);
  await owner.query(
    `update notice_mails m set key_hash = $1 from couriers c where c.id = m.courier_id and c.code = $2`,
    [hashOfKey(KEY), 'IEX'],
  );
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
  await owner.end();
  await database.drop();
  await collector.stop();
}, LIMIT_MS);

test(
  'a key is in no log, trace, metric, call or row, however its address is spelled',
  async () => {
    const iex = { authorization: `Bearer ${await logIn(replica.url, 'iex')}` };
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const statuses: number[] = [];
    for (const key of [KEY, WRONG])
      for (const path of [
        `/notices/${key}`,
        `/notices/${key}?lang=es`,
        `/notices/${key}?lang=fr`,
        `/notices/${key}/more`,
        `/Notices/${key}`,
        `/%6eotices/${key}`,
        `/notices/${key}%zz`,
      ])
        for (const headers of [{ accept: 'text/html' }, iex]) {
          statuses.push((await ask(replica.url, { path, headers })).status);
          const raw = 'choice=stop';
          const sent = await ask(replica.url, {
            method: 'POST',
            path,
            headers: { ...headers, ...form },
            raw,
          });
          statuses.push(sent.status);
        }
    expect([...new Set(statuses)].sort()).toEqual([200, 400, 404]);
    await until(async () => collector.text().includes('submitNoticeChoice'));
    const written: Record<string, string> = {
      log: replica.output(),
      traces: collector.text(),
      metrics: await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
      rows: await dump(owner),
    };
    expect(written['log']).toContain('"path":"/notices/…"');
    expect(written['traces']).toContain('/notices/:key');
    expect(written['metrics']).toContain('getNoticeChoice');
    const parts = [KEY, WRONG].flatMap((key) => [key, key.slice(2, 20)]);
    const found = Object.entries(written).flatMap(([name, text]) =>
      parts.flatMap((part) => (text.includes(part) ? [`${name}: ${part}`] : [])),
    );
    expect(found).toEqual([]);
  },
  LIMIT_MS,
);
