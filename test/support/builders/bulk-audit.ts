import type pg from 'pg';

/** Returns the current time. Audit entries of bulk changes are counted from here. */
export async function auditMark(owner: pg.Pool): Promise<string> {
  const { rows } = await owner.query<{ now: string }>('select clock_timestamp()::text as now');
  return rows[0]?.now ?? '';
}

/**
 * Returns how many customers were created or updated according to the audit entries of uploads and synchronisations.
 */
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
