// Numbers of manifests and codes of customers, which stations scan like parcels. They are never a new parcel (decision 0072).
import { tenantRows } from '../../../platform/db/filters.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { once, type Sql } from '../../../platform/db/statements.js';
import type { ScannedNumber, ScanReading } from '../../tracking-numbers/public.js';

/** A manifest or a customer whose number or code is that of a scan. */
export type Namesake = { kind: 'manifest' | 'customer'; text: string };

/** Only the number of a scan that fits no carrier's format with a check digit can be one. */
export const wantsNamesakes = (reading: ScanReading): boolean => namesakeTexts(reading).length > 0;

/** The texts by which the records are looked up. */
export function namesakeTexts({ numbers: [number, another] }: ScanReading): string[] {
  if (!number || another || isVerified(number)) return [];
  return [...new Set([number.text, number.folded])];
}

const isVerified = ({ candidates }: ScannedNumber): boolean =>
  candidates.some(({ check }) => check === 'valid');

/** Looks the codes up for each courier of the tenant, because the index of user codes begins with the courier. */
export function selectNamesakes(ctx: UserScope, readings: ScanReading[]): Sql<Namesake> {
  const texts = readings.flatMap(namesakeTexts);
  return once`select 'manifest' as kind, m.manifest_number as text from manifests m
    where ${tenantRows(ctx, 'm')} and m.manifest_number = any(${texts}::text[])
    union all
    select distinct 'customer', c.user_code from couriers r
    join customers c on c.tenant_id = r.tenant_id and c.courier_id = r.id
    where ${tenantRows(ctx, 'r')} and ${tenantRows(ctx, 'c')} and c.user_code = any(${texts}::text[])`;
}
