import pg from 'pg';
import { developmentConfig } from '../staging/development.js';
import { seedDemo } from '../../../fixtures/demo/seed.js';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { findMove, planMove } from '../../../src/platform/db/tenant-move/find-move.js';
import type { Move } from '../../../src/platform/db/tenant-move/move.js';
import type { OwnedCell } from '../../../src/platform/db/tenant-move/cell-state.js';
import { describeDeployment, recordDeployment } from '../../../src/startup/deployment.js';
import { startOwnServer, type OwnServer } from '../service/postgres.js';

/** Two databases of one server that can replicate. The first one has the demo tenants. */
export type TwoCells = { server: OwnServer; urls: { a: string; b: string } };

export async function startTwoCells(): Promise<TwoCells> {
  const server = await startOwnServer(undefined, { wal_level: 'logical', max_worker_processes: '16' });
  await server.query('create database cell_b');
  const urls = { a: server.urlOf('cell_a'), b: server.urlOf('cell_b') };
  await migrate(urls.b, MIGRATIONS);
  await server.query('create database cell_a template cell_b');
  const config = developmentConfig({});
  await withClient(urls.a, (client) => seedDemo(client, openSecrets(config.secrets), new Date()));
  for (const url of Object.values(urls))
    await withClient(url, (client) => recordDeployment(client, describeDeployment(config)));
  return { server, urls };
}

/** Runs one command with connections of its own, as npm run tenant:move does. */
export async function withMove<Result>(
  { urls }: TwoCells,
  slug: string,
  work: (move: Move) => Promise<Result>,
  to?: 'cell-a' | 'cell-b',
): Promise<Result> {
  return withClient(urls.a, (a) =>
    withClient(urls.b, async (b) => {
      const cells: OwnedCell[] = [
        { name: 'cell-a', url: urls.a, client: a },
        { name: 'cell-b', url: urls.b, client: b },
      ];
      return work(await (to ? planMove(cells, slug, to) : findMove(cells, slug)));
    }),
  );
}

/** Returns the tenant's rows by table, for the tables that have some. */
export async function countRows(
  url: string,
  tables: string[],
  tenantId: string,
): Promise<Record<string, number>> {
  return withClient(url, async (client: pg.Client) => {
    const counts: Record<string, number> = {};
    for (const table of tables) {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::int as count from ${table} where tenant_id = $1`,
        [tenantId],
      );
      if (rows[0]?.count) counts[table] = rows[0].count;
    }
    return counts;
  });
}
