import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pageOfCustomers, totalOfCustomers } from '../../../src/modules/customers/crud/list-queries.js';
import { substringMatches } from '../../../src/modules/customers/search/queries.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { newId } from '../../../src/platform/values/ids.js';
import { makeLabelled } from '../../search-quality/labelled.js';
import { makeNames } from '../../search-quality/names.js';
import type { BenchTenant } from '../database.js';
import { compare, readRow, contextOf, timeCalls, type Bench, type Row } from '../measure.js';
import { timeCopyFrom, timeTransaction } from '../postgres.js';
import { digits, rowCount } from '../scale.js';
import { exchange, logIn } from '../service.js';

/** The default page of customers with its total. */
export const listCustomersRow = (bench: Bench, tenant: BenchTenant): Promise<Row> => {
  const query = { page: 1, limit: 20, sort_by: 'first_name', sort_dir: 'ASC' } as const;
  return readRow(bench, tenant, {
    name: `list customers, ${rowCount(tenant.size)} rows`,
    times: 100,
    call: { method: 'GET', path: '/api/ManageCustomers.php' },
    statements(caller) {
      const ctx = contextOf(caller);
      return [pageOfCustomers(ctx, query), totalOfCustomers(ctx, query)];
    },
  });
};

/** A search for a part of a common name. */
export const searchCustomersRow = (bench: Bench, tenant: BenchTenant): Promise<Row> => {
  const query = { q: 'ramkis', limit: 15, advanced: false };
  return readRow(bench, tenant, {
    name: `search customers, ${rowCount(tenant.size)} rows`,
    times: 50,
    call: { method: 'GET', path: `/api/SearchCustomers.php?q=${query.q}` },
    statements: (caller) => [substringMatches(contextOf(caller), query)],
  });
};

const PER_KIND = 4;

/**
 * Searches with misspelt names of every kind, compared with a plain trigram query on the same index without
 * row-level security.
 */
export async function advancedSearchRow({ ownerUrl, scale }: Bench, tenant: BenchTenant): Promise<Row> {
  const queries = makeLabelled(makeNames(scale.small), PER_KIND).map(({ query }) => query);
  const headers = { authorization: `Bearer ${await logIn(tenant.host)}` };
  let next = 0;
  const search = () => {
    const q = encodeURIComponent(queries[(next += 1) % queries.length] ?? '');
    const path = `/api/SearchCustomers.php?advanced=1&q=${q}`;
    return exchange({ method: 'GET', path, host: tenant.host, headers });
  };
  const trigram = queries.map((query) => {
    const text = `'${query.replaceAll("'", "''")}'`;
    return `select id from customers where tenant_id = '${tenant.id}' and (first_name || ' ' || last_name) % ${text}
      order by similarity(first_name || ' ' || last_name, ${text}) desc limit 15`;
  });
  const settings = "select set_config('pg_trgm.similarity_threshold', '0.4', true)";
  const times = scale.times(queries.length);
  await timeCalls(search, times);
  let client = '';
  const compared = await compare(
    scale,
    () => timeCalls(search, times),
    async () => {
      const reference = await timeTransaction(ownerUrl, [settings, ...trigram], 3);
      client = reference.client;
      return reference.ms / trigram.length;
    },
  );
  return {
    name: `advanced search, ${rowCount(tenant.size)} rows`,
    ...compared,
    unit: 'ms',
    against: `${client}, the plain trigram query`,
  };
}

/**
 * An upload of new customers, compared with a COPY of the same rows into the same table with its indexes and
 * triggers.
 */
export async function uploadRow({ ownerUrl, scale }: Bench, tenant: BenchTenant): Promise<Row> {
  const names = makeNames(scale.uploaded, 5);
  const token = await logIn(tenant.host);
  const upload = async () => {
    const run = randomUUID().slice(0, 8);
    const rows = names.map(({ first, last }, n) => `${run}-${n},${first},${last},Kingston`);
    const { headers, body } = formOf(`user_code,first_name,last_name,branch\n${rows.join('\n')}\n`, tenant);
    const took = await timeCalls(
      () =>
        exchange({
          method: 'POST',
          path: '/api/UploadCustomers.php',
          host: tenant.host,
          headers: { ...headers, authorization: `Bearer ${token}` },
          body,
        }),
      1,
    );
    await deleteUploaded(ownerUrl, tenant, run);
    return took;
  };
  const copy = () => {
    const file = join(tmpdir(), `crossdock-bench-${randomUUID()}.csv`);
    const rows = names.map(
      ({ first, last }, n) =>
        `${tenant.id},${newId()},${tenant.courierId},COPY-${n},${first},${last},Kingston`,
    );
    writeFileSync(file, rows.join('\n'));
    const table = 'customers (tenant_id, id, courier_id, user_code, first_name, last_name, branch)';
    return timeCopyFrom(ownerUrl, file, table);
  };
  const compared = await compare(scale, upload, copy);
  return {
    name: `upload ${digits(scale.uploaded)} customers`,
    ...compared,
    unit: 'ms',
    against: 'psql, COPY FROM of the same rows',
  };
}

function formOf(csv: string, { courierId }: BenchTenant): { headers: Record<string, string>; body: Buffer } {
  const boundary = 'crossdock-bench';
  const part = (head: string, content: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  const body = Buffer.from(
    `${part('name="target_courier_id"', courierId)}${part('name="file"; filename="customers.csv"', csv)}--${boundary}--\r\n`,
  );
  return {
    body,
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(body.length),
    },
  };
}

async function deleteUploaded(ownerUrl: string, { id }: BenchTenant, run: string): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    await client.query('delete from customers where tenant_id = $1 and user_code like $2', [id, `${run}-%`]);
  });
}
