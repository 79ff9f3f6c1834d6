import { Worker } from 'node:worker_threads';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import type { Config } from '../../../src/config/config.js';
import { DEMO } from '../../../src/development/demo/seed.js';
import { lockAnnouncedParcel } from '../../../src/platform/db/locks.js';
import { enterScope } from '../../../src/platform/db/admission.js';
import { newId } from '../../../src/platform/values/ids.js';
import { pageOfPrealerts, statsOfPrealerts } from '../../../src/modules/prealerts/list-queries.js';
import { insertPrealertWithKey } from '../../../src/modules/prealerts/queries.js';
import type { BenchTenant } from '../database.js';
import { compare, contextOf, readRow, type Bench, type Row } from '../measure.js';
import { findProgram, inline, rateDriver, ratePgbench } from '../postgres.js';
import { digits, rowCount } from '../scale.js';
import type { Load } from '../submit-load.js';

const CLIENTS = 10;

/**
 * Submitted pre-alerts per second, compared with the same statements through pgbench, in alternating rounds.
 */
export async function submitRow(config: Config, { servingUrl, port, scale }: Bench): Promise<Row> {
  const statements = submitStatements(config);
  const pgbench = findProgram('pgbench');
  const compared = await compare(
    scale,
    () => rateHttp({ port, seconds: scale.seconds, ...SINGLE_CALLS }),
    () =>
      pgbench
        ? ratePgbench(pgbench, servingUrl, statements(':n'), CLIENTS, scale.seconds)
        : rateDriver(
            servingUrl,
            (n) => ['begin', ...statements(String(n)), 'commit'],
            CLIENTS,
            scale.seconds,
          ),
  );
  const against = pgbench ? 'pgbench, the same pipelined statements' : 'bare node-postgres (no pgbench here)';
  return { name: 'submit a pre-alert', ...compared, unit: '/s', against };
}

function submitStatements(config: Config): (n: string) => string[] {
  const caller = {
    kind: 'key' as const,
    tenantId: DEMO.tenants.demo,
    keyHash: openSecrets(config.secrets).lookupHash(DEMO.apiKeys.IEX, 'api_key'),
  };
  const id = newId();
  const prealert = {
    id,
    userCode: 'IEX-1001',
    trackingNumber: '@number',
    trackingKey: '@number',
    vendor: null,
    description: null,
    reference: null,
  };
  return (n) => {
    const number = `('PGB' || ${n})`;
    const expressions = { [id]: 'gen_random_uuid()', '@number': number };
    const insert = insertPrealertWithKey(contextOf(caller), prealert);
    // The statement builder creates the audit entry's id, the only remaining value that looks like an id.
    const withFreshIds = inline(insert, expressions).replace(
      /'[0-9a-f-]{36}'::uuid, 'api_key'/,
      "gen_random_uuid(), 'api_key'",
    );
    return [
      inline(enterScope(caller)),
      inline(lockAnnouncedParcel(caller.tenantId, '@number'), expressions),
      withFreshIds,
    ];
  };
}

const SINGLE_CALLS = { connections: CLIENTS * 2, perRequest: 1 };
const LINES = 1_000;
/** The connections of the service's pool that one courier may use. */
const BATCH_CONNECTIONS = 4;

/** Pre-alerts per second in bodies of 1,000 lines, compared with single calls, in alternating rounds. */
export async function submitLinesRow({ port, scale: { seconds }, scale }: Bench): Promise<Row> {
  const compared = await compare(
    scale,
    () => rateHttp({ port, seconds, connections: BATCH_CONNECTIONS, perRequest: LINES }),
    () => rateHttp({ port, seconds, ...SINGLE_CALLS }),
  );
  return {
    name: `submit pre-alerts, ${digits(LINES)} lines`,
    ...compared,
    unit: '/s',
    against: 'single calls',
  };
}

async function rateHttp(given: Omit<Load, 'key'>): Promise<number> {
  const { seconds } = given;
  const load: Load = { ...given, key: DEMO.apiKeys.IEX };
  const worker = new Worker(new URL('../submit-load.js', import.meta.url), { workerData: load });
  const { created, refused } = await new Promise<{ created: number; refused: number }>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  if (refused > 0) throw new Error(`${refused} submissions were rejected.`);
  return created / seconds;
}

const LIST_QUERY = { page: 1, limit: 50, sort_by: 'created_at', sort_dir: 'DESC' } as const;

/** The first page of pre-alerts with its totals, over HTTP and through psql. */
export const listPrealertsRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  readRow(bench, tenant, {
    name: `list pre-alerts, ${rowCount(tenant.size)} rows`,
    times: 100,
    call: { method: 'GET', path: '/api/ManagePrealerts.php' },
    statements: (caller) => [
      pageOfPrealerts(contextOf(caller), LIST_QUERY),
      statsOfPrealerts(contextOf(caller), LIST_QUERY),
    ],
  });
