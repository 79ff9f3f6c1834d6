import type pg from 'pg';

/** From when on the audit entries of bulk changes are counted. */
export async function auditMark(owner: pg.Pool): Promise<string> {
  const { rows } = await owner.query<{ now: string }>('select clock_timestamp()::text as now');
  return rows[0]?.now ?? '';
}

/** How many customers the audit entries of uploads and synchronisations since then say were created, or updated. */
export async function customersAudited(
  owner: pg.Pool,
  kind: 'created' | 'updated',
  since: string,
): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    `select coalesce(sum(jsonb_array_length(after -> $1)), 0)::integer as count from audit_entries
     where action in ('customers.uploaded', 'customers.synchronised') and at >= $2::timestamptz`,
    [kind, since],
  );
  return rows[0]?.count ?? 0;
}
