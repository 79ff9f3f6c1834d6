import { openSecrets } from '../../../../src/platform/access/secrets.js';
import type { Config } from '../../../../src/config/config.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { lockTogether } from '../../../../src/platform/db/locks.js';
import { enterScope } from '../../../../src/platform/db/transactions/admission.js';
import { newId } from '../../../../src/platform/values/ids.js';
import { pageOfPrealerts, statsOfPrealerts } from '../../../../src/modules/prealerts/list-queries.js';
import { insertPrealertsWithKey } from '../../../../src/modules/prealerts/queries.js';
import type { BenchTenant } from '../../rig/tenants.js';
import { contextOf, rateRow, readRow, type Bench, type Row } from '../measure.js';
import { inline } from '../postgres.js';
import { digits, rowCount } from '../../rig/scale.js';

const SUBMIT = {
  method: 'POST',
  path: '/api/Prealert.php',
  host: '127.0.0.1',
  headers: { 'x-api-key': DEMO.apiKeys.IEX },
  body: '{"UserCode":"IEX-1001","TrackingNumber":"LOAD-{n}"}',
};

/** Submitted pre-alerts, each in its own request. */
export const submitRow = (config: Config, bench: Bench): Promise<Row> =>
  rateRow(bench, {
    name: 'submit a pre-alert',
    template: SUBMIT,
    statements: submitStatements(config),
    bare: 'bareInsertMs',
  });

function submitStatements(config: Config): string[] {
  const caller = {
    kind: 'key' as const,
    tenantId: DEMO.tenants.demo,
    keyHash: openSecrets(config.secrets).lookupHash(DEMO.apiKeys.IEX, 'api_key'),
    address: '192.0.2.1',
  };
  const id = newId();
  const prealert = {
    id,
    userCode: 'IEX-1001',
    sentNumber: '@number',
    trackingNumber: '@number',
    trackingKey: '@number',
    keys: ['@number'],
    vendor: null,
    description: null,
    reference: null,
    requestId: 'bench',
  };
  const expressions = { [id]: 'gen_random_uuid()', '@number': "('PGB' || :n)" };
  const insert = inline(insertPrealertsWithKey(contextOf(caller), [prealert]), expressions);
  // The statement builder creates the audit entry's id, the only remaining value that looks like an id.
  const withFreshIds = insert.replace(/'[0-9a-f-]{36}'::uuid, 'api_key'/, "gen_random_uuid(), 'api_key'");
  const lock = inline(lockTogether(caller.tenantId, [prealert], true), expressions);
  return [inline(enterScope(caller)), lock, withFreshIds];
}

/** The connections of the service's pool that one courier may use. */
const BATCH_CONNECTIONS = 4;

/** Pre-alerts in bodies of many lines. */
export const submitLinesRow = (bench: Bench): Promise<Row> =>
  rateRow(bench, {
    name: `submit pre-alerts, ${digits(bench.scale.lines)} lines`,
    template: {
      ...SUBMIT,
      body: '{"UserCode":"IEX-1001","TrackingNumber":"LINE-{n}-{line}"}',
      lines: bench.scale.lines,
    },
    connections: BATCH_CONNECTIONS,
    bare: 'bareInsertMs',
  });

const LIST_QUERY = { page: 1, limit: 50, sort_by: 'created_at', sort_dir: 'DESC' } as const;

/** The first page of pre-alerts with its totals. */
export const listPrealertsRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  readRow(bench, tenant, {
    name: `list pre-alerts, ${rowCount(tenant.size)} rows`,
    call: { method: 'GET', path: '/api/ManagePrealerts.php' },
    statements: (caller) => [
      pageOfPrealerts(contextOf(caller), LIST_QUERY),
      statsOfPrealerts(contextOf(caller), LIST_QUERY),
    ],
  });
