import { expect, test } from '@jest/globals';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql } from '../../../src/platform/db/statements.js';
import { withService } from '../../support/fixture/with-service.js';
import { until } from '../../support/service/processes.js';

const { service } = withService();

// Where it is available, each new customer took half a second. The embedded server has none, so its time would not show it.
test('the service does not let PostgreSQL compile its statements', async () => {
  const { db, owner } = service();
  const { rows } = await owner.query<{ name: string; tenant: string }>(
    'select current_database() as name, id as tenant from tenants limit 1',
  );
  const [{ name, tenant } = { name: '', tenant: '' }] = rows;
  await owner.query(`alter database "${name}" set jit to on`);
  await owner.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  const ctx = makeContext(db, { kind: 'system', tenantId: tenant }, 'a-test');
  const settings = sql`select current_setting('jit') as jit`;
  const read = () => ctx.read((tx) => tx.query(settings));
  // Terminated connections leave the pool asynchronously.
  await until(() =>
    read().then(
      () => true,
      () => false,
    ),
  );
  expect(await read()).toMatchObject([{ jit: 'off' }]);
});
