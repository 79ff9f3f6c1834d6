import { randomUUID } from 'node:crypto';
import { pageOfCustomers, totalOfCustomers } from '../../../../src/modules/customers/crud/list-queries.js';
import { substringMatches } from '../../../../src/modules/customers/search/queries.js';
import { withClient } from '../../../../src/platform/db/connections/roles.js';
import { newId } from '../../../../src/platform/values/ids.js';
import { makeLabelled } from '../../search-quality/labelled.js';
import { makeNames } from '../../rig/names.js';
import type { BenchTenant } from '../../rig/tenants.js';
import { administrator, callRow, contextOf, readRow, timeCalls, type Bench, type Row } from '../measure.js';
import { timeCopyFrom, timeTransaction } from '../postgres.js';
import { digits, rowCount } from '../../rig/scale.js';
import { exchange, logIn } from '../../rig/service.js';

/** The default page of customers with its total. */
export const listCustomersRow = (bench: Bench, tenant: BenchTenant): Promise<Row> => {
  const query = { page: 1, limit: 20, sort_by: 'first_name', sort_dir: 'ASC' } as const;
  return readRow(bench, tenant, {
    name: `list customers, ${rowCount(tenant.size)} rows`,
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
    call: { method: 'GET', path: `/api/SearchCustomers.php?q=${query.q}` },
    statements: (caller) => [substringMatches(contextOf(caller), query)],
  });
};

const PER_KIND = 4;

/** Searches with misspelt names of every kind, compared with a plain trigram query on the same index without row-level security. */
export async function advancedSearchRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const { ownerUrl, scale } = bench;
  const queries = makeLabelled(makeNames(scale.small), PER_KIND).map(({ query }) => query);
  const ask = await administrator(tenant);
  let next = 0;
  const search = () => {
    const q = encodeURIComponent(queries[(next += 1) % queries.length] ?? '');
    return ask('GET', `/api/SearchCustomers.php?advanced=1&q=${q}`);
  };
  const trigram = queries.map((query) => {
    const text = `'${query.replaceAll("'", "''")}'`;
    return `select id from customers where tenant_id = '${tenant.id}' and (first_name || ' ' || last_name) % ${text}
      order by similarity(first_name || ' ' || last_name, ${text}) desc limit 15`;
  });
  const settings = "select set_config('pg_trgm.similarity_threshold', '0.4', true)";
  const times = scale.times(queries.length);
  await timeCalls(search, times);
  return callRow(bench, {
    name: `advanced search, ${rowCount(tenant.size)} rows`,
    call: search,
    times,
    against: {
      what: 'psql, the plain trigram query',
      run: async () => (await timeTransaction(ownerUrl, [settings, ...trigram], 3)).ms / trigram.length,
    },
    bare: 'bareSelectMs',
  });
}

/** An upload of new customers, compared with a COPY of the same rows into the same table with its indexes and triggers. */
export async function uploadRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const { ownerUrl, scale } = bench;
  const names = makeNames(scale.uploaded, 5);
  const token = await logIn(tenant.host);
  let run = '';
  const upload = () => {
    run = randomUUID().slice(0, 8);
    const rows = names.map(({ first, last }, n) => `${run}-${n},${first},${last},Kingston`);
    const { headers, body } = formOf(`user_code,first_name,last_name,branch\n${rows.join('\n')}\n`, tenant);
    return exchange({
      method: 'POST',
      path: '/api/UploadCustomers.php',
      host: tenant.host,
      headers: { ...headers, authorization: `Bearer ${token}` },
      body,
    });
  };
  const copy = () => {
    const lines = names.map(
      ({ first, last }, n) =>
        `${tenant.id},${newId()},${tenant.courierId},COPY-${n},${first},${last},Kingston`,
    );
    const table = 'customers (tenant_id, id, courier_id, user_code, first_name, last_name, branch)';
    return timeCopyFrom(ownerUrl, lines, table);
  };
  return callRow(bench, {
    name: `upload ${digits(scale.uploaded)} customers`,
    call: upload,
    undo: () => deleteUploaded(ownerUrl, tenant, run),
    against: { what: 'COPY FROM of the same rows', run: copy },
    bare: 'bareCopyMs',
  });
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
