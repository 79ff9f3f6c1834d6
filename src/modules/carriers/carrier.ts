import { readPage, type Page } from '../../platform/context/read-page.js';
import { auditLater } from '../../platform/audit/audit.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { ApiError } from '../../platform/errors/errors.js';
import { newId } from '../../platform/values/ids.js';
import { lock } from '../../platform/db/columns.js';
import {
  CARRIER_FIELDS,
  countOfCarriers,
  isCarrierUsed,
  pageOfCarriers,
  type CarrierRow,
} from './queries.js';

export const listCarriers = (ctx: UserContext, query: QueryOf<'listCarriers'>): Promise<Page<CarrierRow>> =>
  readPage(ctx, pageOfCarriers(ctx, query), countOfCarriers(ctx));

/** @throws ApiError validation_failed, duplicate_carrier_name */
export async function createCarrier(ctx: UserContext, name: string): Promise<CarrierRow> {
  const carrier = { id: newId(), name };
  return ctx.write(async (tx) => {
    await tx.models.carrier.create({ data: { ...carrier, tenantId: ctx.tenantId } });
    auditLater(tx, 'carrier.created', carrier.id, { after: { name } });
    return carrier;
  });
}

/**
 * A rename to the current name changes nothing.
 *
 * @throws ApiError validation_failed, carrier_not_found, duplicate_carrier_name
 */
export async function renameCarrier(
  ctx: UserContext,
  { id, name }: CarrierRow,
): Promise<{ carrier: CarrierRow; isChanged: boolean }> {
  return ctx.write(async (tx) => {
    const before = await lock(tx, 'Carrier', id, CARRIER_FIELDS);
    if (before.name === name) return { carrier: before, isChanged: false };
    await tx.models.carrier.updateMany({ where: { id }, data: { name } });
    auditLater(tx, 'carrier.renamed', id, { before: { name: before.name }, after: { name } });
    return { carrier: { id, name }, isChanged: true };
  });
}

/** Returns the carrier as it was. @throws ApiError carrier_not_found, carrier_in_use */
export async function deleteCarrier(ctx: UserContext, id: string): Promise<CarrierRow> {
  return ctx.write(async (tx) => {
    const carrier = await lock(tx, 'Carrier', id, CARRIER_FIELDS);
    // A separate statement: it also sees packages that were committed while the lock was awaited.
    const [found] = await tx.query(isCarrierUsed(ctx, id));
    if (found?.is_used) throw new ApiError('carrier_in_use');
    await tx.models.carrier.deleteMany({ where: { id } });
    auditLater(tx, 'carrier.deleted', id, { before: { name: carrier.name } });
    return carrier;
  });
}
