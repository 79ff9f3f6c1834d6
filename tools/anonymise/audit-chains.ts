import type pg from 'pg';
import { EMPTY_CHAIN_HASH } from '../../src/modules/audit-log/append-to-chain.js';
import { digestOf } from '../../src/modules/audit-log/chain-queries.js';
import type { Secrets } from '../../src/platform/access/secrets.js';
import { sql } from '../../src/platform/db/statements.js';

/** The links that are read, hashed and written in one statement. */
const BATCH_LINKS = 2_000;

type Link = { tenantId: string; sequence: string; digest: string };
type NewLink = { tenant_id: string; sequence: string; hash: string };

/** Computes every link again, because the entries have changed, and with the key of this deployment. */
export async function rechainAuditLogs(client: pg.ClientBase, secrets: Secrets): Promise<void> {
  for (const table of ['audit_links', 'audit_entries'])
    await client.query(`alter table ${table} no force row level security`);
  await client.query('alter table audit_links disable trigger user');
  const { text, values } = sql`
    declare all_links no scroll cursor for
    select l.tenant_id as "tenantId", l.sequence, ${digestOf} as digest
    from audit_links l join audit_entries e on e.tenant_id = l.tenant_id and e.id = l.entry_id
    order by l.tenant_id, l.sequence`;
  await client.query(text, values);
  let previous = { tenantId: '', hash: EMPTY_CHAIN_HASH };
  for (;;) {
    const { rows } = await client.query<Link>(`fetch ${BATCH_LINKS} from all_links`);
    if (rows.length === 0) break;
    const links = rows.map(({ tenantId, sequence, digest }): NewLink => {
      const before = tenantId === previous.tenantId ? previous.hash : EMPTY_CHAIN_HASH;
      previous = { tenantId, hash: secrets.auditChain.hash(before, digest) };
      return { tenant_id: tenantId, sequence, hash: previous.hash };
    });
    await client.query(
      `update audit_links l set hash = decode(new_link.hash, 'hex')
       from jsonb_to_recordset($1) as new_link (tenant_id uuid, sequence bigint, hash text)
       where l.tenant_id = new_link.tenant_id and l.sequence = new_link.sequence`,
      [JSON.stringify(links)],
    );
  }
  await client.query('close all_links');
  await client.query('alter table audit_links enable trigger user');
  for (const table of ['audit_links', 'audit_entries'])
    await client.query(`alter table ${table} force row level security`);
}
