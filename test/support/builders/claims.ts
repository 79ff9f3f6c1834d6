import type pg from 'pg';

export type PlantedClaim = { courierId: string; trackingNumber: string; status?: 'open' | 'refused' };

/** Plants a claim of a courier for its first active customer, past the limits of the operation. Returns its id. */
export async function insertClaim(
  owner: pg.Pool,
  { courierId, trackingNumber, status = 'open' }: PlantedClaim,
): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(
    `insert into parcel_claims (tenant_id, id, courier_id, customer_id, user_code, tracking_number, tracking_key, status, submitted_by,
       decided_by, decided_at)
     select k.tenant_id, new_id(), k.courier_id, k.id, k.user_code, $2, $2, $3, new_id(), case when $3 = 'refused' then new_id() end,
       case when $3 = 'refused' then now() end
     from customers k where k.courier_id = $1 and k.is_active order by k.user_code limit 1 returning id`,
    [courierId, trackingNumber, status],
  );
  const [row] = rows;
  if (!row) throw new Error(`The courier ${courierId} has no active customer.`);
  return row.id;
}
