import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
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
const { IEX } = DEMO.couriers;
const [PARCEL = ''] = DEMO.packages.shipped.IEX;

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

const BROWSER = { accept: 'text/html' };
const open = (path: string, headers: Record<string, string> = {}) =>
  ask(replica.url, { path, headers: { ...BROWSER, ...headers } });

async function post(user: string, path: string, body: object): Promise<string> {
  const headers = { authorization: `Bearer ${await logIn(replica.url, user)}` };
  const { text, status } = await ask(replica.url, { method: 'POST', path, headers, body });
  expect([status, text]).toEqual([200, expect.stringContaining('"success"')]);
  return text;
}

async function newLink(): Promise<string> {
  await post('iex', '/api/TrackingSettings.php', { is_enabled: true });
  const made = await post('iex', '/api/TrackingLinks.php', { action: 'replace', package_id: PARCEL });
  return (JSON.parse(made) as { data: { link: { path: string } } }).data.link.path;
}

/** Fills each text and number of the rows about the parcel that the page must not show, and returns what was written. */
async function plantMarkers(): Promise<string[]> {
  const texts = [
    ['packages', 'shipper description package_type first_name last_name', 'id = $2'],
    [
      'customers',
      'email first_name last_name',
      'courier_id = $3 and user_code = (select user_code from packages where id = $2)',
    ],
    [
      'couriers',
      'company_name email phone_number1 phone_number2 address1 address2 city_town parish_province',
      'id = $3',
    ],
    ['manifests', 'notes flight_number awb_number', 'id = (select manifest_id from packages where id = $2)'],
    ['warehouses', 'name address city phone email', 'id = (select warehouse_id from packages where id = $2)'],
    ['prealerts', 'vendor description reference', 'id = (select prealert_id from packages where id = $2)'],
  ] as const;
  const markers: string[] = [];
  for (const [table, names, which] of texts)
    for (const name of names.split(' ')) {
      const marker = `Marker${markers.length}x`;
      markers.push(marker);
      await owner.query(
        `update ${table} set ${name} = $1 where ${which} and ($2::uuid is not null or $3::uuid is not null)`,
        [marker, PARCEL, IEX],
      );
    }
  await owner.query(
    "update packages set weight_lb = 98765.432, length_in = 8765.43, house_number = 'HOUSEMARK' where id = $1",
    [PARCEL],
  );
  const { rows } = await owner.query<{ secret: string }>(
    `select unnest(array[p.house_number, p.user_code, p.id::text, p.weight_lb::text, p.manifest_id::text, p.warehouse_id::text, m.manifest_number, w.id::text,
       c.code, u.id::text])
     as secret from packages p join manifests m on m.id = p.manifest_id join warehouses w on w.id = p.warehouse_id join couriers c on c.id = p.courier_id
     join customers u on u.courier_id = p.courier_id and u.user_code = p.user_code where p.id = $1`,
    [PARCEL],
  );
  const remarks = 'RemarkMarker';
  await post('admin', '/api/RecordPackageEvent.php', {
    package_ids: [PARCEL],
    status: 'on_hold',
    remarks,
    location: 'LocationMarker',
  });
  return [...markers, ...rows.map(({ secret }) => secret), remarks, 'LocationMarker', '98765', '8765'];
}

test(
  'a page has nothing but what it is for: no row about the parcel is in it',
  async () => {
    const path = await newLink();
    const secrets = await plantMarkers();
    const { text, status } = await open(path);
    expect(status).toBe(200);
    expect(text).toContain('On hold');
    expect(secrets.length).toBeGreaterThan(30);
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    // A user, a sibling and another customer are not named either.
    const { rows } = await owner.query<{ name: string }>(
      `select name from (select full_name as name from users union select name from couriers union select user_code from customers) names
       where name <> (select name from couriers where id = $1)`,
      [IEX],
    );
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.filter(({ name }) => text.includes(name))).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'a key is in no log, trace, metric, call or row, however its address is spelled',
  async () => {
    const path = await newLink();
    const key = path.replace('/track/', '');
    const wrong = 'WRONGKEYwrongkeyWRONGk';
    const admin = { authorization: `Bearer ${await logIn(replica.url, 'iex')}` };
    const statuses: number[] = [];
    for (const each of [key, wrong])
      for (const spelled of [
        `/track/${each}`,
        `/track/${each}?lang=es`,
        `/track/${each}?lang=fr`,
        `/track/${each}/`,
        `/track/${each}/more`,
        `/Track/${each}`,
        `/%74rack/${each}`,
        `/track/x${each.repeat(6)}`,
        `/track/${each}%2f`,
        `/track/${each}%zz`,
      ])
        for (const headers of [{}, admin]) statuses.push((await open(spelled, headers)).status);
    expect([...new Set(statuses)].sort()).toEqual([200, 400, 404]);
    // A client that leaves before the response.
    const leaving = new AbortController();
    const left = fetch(`${replica.url}${path}`, { signal: leaving.signal });
    leaving.abort();
    await expect(left).rejects.toThrow('abort');
    await until(async () => collector.text().includes('getTrackingPage'));
    const written: Record<string, string> = {
      log: replica.output(),
      traces: collector.text(),
      metrics: await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
      rows: await dump(owner),
    };
    expect(written['log']).toContain('"path":"/track/…"');
    expect(written['traces']).toContain('/track/:key');
    expect(written['metrics']).toContain('getTrackingPage');
    const parts = [key, wrong].flatMap((each) => [each, each.slice(2, 18)]);
    const found = Object.entries(written).flatMap(([name, text]) =>
      parts.flatMap((part) => (text.includes(part) ? [`${name}: ${part}`] : [])),
    );
    expect(found).toEqual([]);
  },
  LIMIT_MS,
);
