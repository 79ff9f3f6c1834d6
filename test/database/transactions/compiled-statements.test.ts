import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql } from '../../../src/platform/db/statements.js';
import { withService } from '../../support/fixture/with-service.js';
import { alterDatabase } from '../../support/harness/database-zone.js';
import { until } from '../../support/service/processes.js';

const { service } = withService({
  // What an operator may write. pg takes it instead of the options that the service passes.
  through: (url) =>
    `${url}?options=${encodeURIComponent('-c jit=on -c timezone=America/Jamaica -c work_mem=8MB')}`,
});

// Where it is available, each new customer took half a second. The embedded server has none, so its time would not show it.
test('the service does not let PostgreSQL compile its statements', async () => {
  await alterDatabase(service(), 'jit to on');
  const ctx = makeContext(service().db, { kind: 'system', tenantId: DEMO.tenants.demo }, 'a-test');
  type Settings = { jit: string; zone: string; memory: string };
  const settings = sql<Settings>`select current_setting('jit') as jit, current_setting('timezone') as zone,
    current_setting('work_mem') as memory`;
  let found: Settings[] = [];
  await until(() =>
    ctx
      .read((tx) => tx.query(settings))
      .then(
        (rows) => (found = rows).length > 0,
        () => false,
      ),
  );
  expect(found).toEqual([{ jit: 'off', zone: 'UTC', memory: '8MB' }]);
});
