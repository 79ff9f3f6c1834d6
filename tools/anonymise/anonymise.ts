import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { newTotpSecret } from '../../src/modules/auth/credentials/totp.js';
import { openPasswords } from '../../src/modules/auth/credentials/passwords.js';
import type { Secrets } from '../../src/platform/access/secrets.js';
import { rechainAuditLogs } from './audit-chains.js';
import { findUndecided } from './catalogue.js';
import { COLUMNS } from './columns.js';
import { replaceValue, type Tools } from './replace-value.js';
import { rewriteTable, type TextRow } from './rewrite-table.js';
import { makeReplacements, type Replacements } from './values/replacements.js';

export type AnonymiseOptions = {
  /** With the keys of the deployment that will use the data. */
  secrets: Secrets;
  /** The new password of every user. */
  password: string;
  passwordHashCost: number;
  /** The domain of the tenants' new host names. */
  hostSuffix: string;
  log: (line: string) => void;
};

export type Anonymised = {
  rows: number;
  /** The authenticator secret of every user with a second factor, in base 32. */
  totpSecret: string;
};

/**
 * Replaces everything in a database that could identify somebody or give access to something. Either everything is replaced
 * or nothing.
 *
 * @param client connected as the owner of the schema, in no transaction
 */
export async function anonymise(client: pg.Client, options: AnonymiseOptions): Promise<Anonymised> {
  const { secrets, password, passwordHashCost, hostSuffix, log } = options;
  await assertDecided(client);
  const totpSecret = newTotpSecret();
  const tools: Tools = {
    secrets,
    seed: randomBytes(32),
    totpSecret,
    passwordHash: await openPasswords(passwordHashCost).hash(password),
    hostSuffix,
  };
  await client.query('begin');
  try {
    const rows = await replaceAll(client, tools, log);
    await rebuildTerms(client);
    await rechainAuditLogs(client, secrets);
    await client.query('delete from installation.deployments');
    await client.query('delete from installation.processes');
    await client.query('commit');
    await removeOldVersions(client, log);
    return { rows, totpSecret };
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

async function assertDecided(client: pg.ClientBase): Promise<void> {
  const undecided = await findUndecided(client);
  if (undecided.length === 0) return;
  throw new Error(
    `This version does not know how to anonymise ${undecided.join(', ')}. Run the version that the database belongs to.`,
  );
}

async function replaceAll(client: pg.ClientBase, tools: Tools, log: (line: string) => void): Promise<number> {
  const ofTenant = new Map<string, Replacements>();
  const replacementsOf = (tenantId: string) => {
    const made = ofTenant.get(tenantId) ?? makeReplacements(tools.seed, tenantId);
    ofTenant.set(tenantId, made);
    return made;
  };
  let total = 0;
  for (const [table, decisions] of Object.entries(COLUMNS)) {
    const rows = await rewriteTable(client, table, decisions, (row) => {
      const tenantId = (table === 'public.tenants' ? row['id'] : row['tenant_id']) ?? '';
      const place = { table, tenantId, rowId: row['id'] ?? '' };
      return replaceRow(row, decisions, place, { tools, replacements: replacementsOf(tenantId) });
    });
    if (rows > 0) log(`${table}: ${rows} rows`);
    total += rows;
  }
  return total;
}

function replaceRow(
  row: TextRow,
  decisions: (typeof COLUMNS)[string],
  place: { table: string; tenantId: string; rowId: string },
  { tools, replacements }: { tools: Tools; replacements: Replacements },
): TextRow {
  return Object.fromEntries(
    Object.entries(decisions).map(([column, decision]) => {
      const value = row[column] ?? null;
      return [
        column,
        value === null ? null : replaceValue(tools, replacements, decision, { ...place, column }, value),
      ];
    }),
  );
}

/** The words of the new names, for fuzzy search. */
async function rebuildTerms(client: pg.ClientBase): Promise<void> {
  await client.query('alter table customers no force row level security');
  await client.query('alter table customer_terms no force row level security');
  await client.query('delete from customer_terms');
  await client.query(
    `select add_customer_terms(array_agg(tenant_id), array_agg(courier_id), array_agg(name))
     from (select tenant_id, courier_id, first_name as name from customers
       union select tenant_id, courier_id, last_name from customers) as named having count(*) > 0`,
  );
  await client.query('alter table customer_terms force row level security');
  await client.query('alter table customers force row level security');
}

/** Replaced values are still in the files of the tables and in the statistics until they are written anew. */
async function removeOldVersions(client: pg.ClientBase, log: (line: string) => void): Promise<void> {
  log('Rewriting the tables, which removes the old versions of their rows ...');
  for (const table of Object.keys(COLUMNS)) await client.query(`vacuum (full, analyze) ${table}`);
}
