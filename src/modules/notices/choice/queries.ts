import { tenantRows } from '../../../platform/db/filters.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import { once, type Sql } from '../../../platform/db/statements.js';
import type { MediaType } from '../../couriers/public.js';

/** The courier and the address of a mail, and what the owner of the address has chosen. The logo is null if the courier has none. */
export type ChoiceRow = {
  courierId: string;
  courierName: string;
  recipient: string;
  addressKey: string;
  isOptedOut: boolean;
} & ({ logoHash: string; logoMediaType: MediaType } | { logoHash: null; logoMediaType: null });

export const choiceOfKey = (ctx: SystemScope, keyHash: string): Sql<ChoiceRow> => once`
  select m.courier_id as "courierId", c.name as "courierName", m.recipient, m.address_key as "addressKey",
    coalesce(o.is_opted_out, false) as "isOptedOut", g.content_hash as "logoHash", g.media_type as "logoMediaType"
  from notice_mails m
  join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = m.tenant_id and c.id = m.courier_id and c.is_active
  left join courier_logos g on ${tenantRows(ctx, 'g')} and g.tenant_id = c.tenant_id and g.courier_id = c.id
  left join notice_choices o on ${tenantRows(ctx, 'o')} and o.tenant_id = m.tenant_id and o.courier_id = m.courier_id
    and o.address_key = m.address_key
  where ${tenantRows(ctx, 'm')} and m.key_hash = ${keyHash}`;

/** Returns no row if it was chosen already. */
export const storeChoice = (
  { tenantId }: SystemScope,
  { courierId, addressKey }: Pick<ChoiceRow, 'courierId' | 'addressKey'>,
  isOptedOut: boolean,
): Sql<{ changedAt: Date }> => once`
  insert into notice_choices as o (tenant_id, courier_id, address_key, is_opted_out)
  select ${tenantId}::uuid, ${courierId}::uuid, ${addressKey}, ${isOptedOut}::boolean
  where ${isOptedOut}::boolean or exists (select from notice_choices k where k.tenant_id = ${tenantId}::uuid
    and k.courier_id = ${courierId}::uuid and k.address_key = ${addressKey})
  on conflict (tenant_id, courier_id, address_key) do update set is_opted_out = excluded.is_opted_out, changed_at = now()
    where o.is_opted_out <> excluded.is_opted_out
  returning o.changed_at as "changedAt"`;
