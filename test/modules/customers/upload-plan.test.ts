import { beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import { multipart } from '../../support/fixture/sent.js';

type Plan = { 'Node Type': string; Plans?: Plan[] };
type Explained = { 'QUERY PLAN': [{ Plan: Plan }] };

/** More rows than files that keep the plan with lookups. */
const ROWS = 1_500;

const { api, service } = withService();
beforeAll(async () => {
  plans = explainWrites(service().db.pool);
}, 60_000);
let plans: Promise<Plan>[];

type Statement = { text: string; values: unknown[] };

/** Explains each statement that writes customers, in its own transaction, immediately before it runs. */
function explainWrites(pool: pg.Pool): Promise<Plan>[] {
  const explained: Promise<Plan>[] = [];
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const explain = async ({ text, values }: Statement) => {
      // EXPLAIN with this format returns one row.
      const { rows } = (await query({ text: `explain (format json) ${text}`, values })) as {
        rows: Explained[];
      };
      const [row] = rows;
      if (!row) throw new Error('EXPLAIN returned no row.');
      return row['QUERY PLAN'][0].Plan;
    };
    client.query = ((...args: unknown[]) => {
      const [batch] = args;
      const statements = isSubmittable(batch) ? statementsIn(batch) : [];
      for (const statement of statements)
        if (/insert into customers/.test(statement.text)) explained.push(explain(statement));
      return query(...args);
    }) as typeof client.query;
  });
  return explained;
}

const isSubmittable = (value: unknown): value is pg.Submittable =>
  typeof value === 'object' && value !== null && 'submit' in value;

/** Returns the statements of a batch, which it submits to a connection that only records them. */
function statementsIn(batch: pg.Submittable): Statement[] {
  const statements: Statement[] = [];
  let text = '';
  const ignore = () => undefined;
  const connection = {
    parse: (message: { text: string }) => void (text = message.text),
    bind: ({ values }: { values?: unknown[] }) => void statements.push({ text, values: values ?? [] }),
    query: ignore,
    describe: ignore,
    execute: ignore,
    sync: ignore,
    flush: ignore,
    stream: { write: ignore },
    parsedStatements: {},
    submittedNamedStatements: {},
  };
  // The methods that a query of node-postgres calls.
  batch.submit(connection as unknown as pg.Connection);
  return statements;
}

const joinsOf = ({ 'Node Type': type, Plans: parts = [] }: Plan): string[] => [
  ...(/Nested Loop|Join/.test(type) ? [type] : []),
  ...parts.flatMap(joinsOf),
];

const upload = (courierId: string, lastName: string) => {
  const rows = Array.from({ length: ROWS }, (_, n) => `NEW-${n},Ann,${lastName}`);
  const file = { file: ['user_code,first_name,last_name', ...rows, ''].join('\n') };
  return api.as('admin').uploadCustomers(multipart({ file, target_courier_id: courierId }));
};

test("large files are joined by hash, also while the statistics are those of before the courier's first upload", async () => {
  const { rows } = await service().owner.query<{ id: string }>(
    `insert into couriers (tenant_id, id, code, name, house_color)
     values ($1, gen_random_uuid(), 'NEWC', 'New Courier', '#336699') returning id`,
    [DEMO.tenants.demo],
  );
  const courierId = rows[0]?.id ?? '';
  await service().owner.query('analyze customers');
  // No statistics until the end of the test.
  await service().owner.query('alter table customers set (autovacuum_enabled = off)');
  expect((await upload(courierId, 'Lee').ok()).data).toMatchObject({ created: ROWS });
  expect((await upload(courierId, 'Roy').ok()).data).toMatchObject({ updated: ROWS });
  const joins = (await Promise.all(plans)).map(joinsOf);
  expect(joins).toHaveLength(2);
  for (const found of joins) {
    expect(found).toContain('Hash Join');
    expect(found).not.toContain('Nested Loop');
  }
});
