import { differenceOf, pickColumns } from '../../../platform/audit/difference.js';
import { readPage, type Page } from '../../../platform/context/read-page.js';
import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf, QueryOf } from '../../../platform/contract/types.js';
import { lock } from '../../../platform/db/columns.js';
import { lockUserCode } from '../../../platform/db/locks.js';
import { assertQuota, takeQuota, type Quota } from '../../../platform/limits/stored/quotas.js';
import { targetCourierId } from '../../couriers/public.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { assertCodesFree, countRenamed, renameOnPrealerts } from '../../prealerts/public.js';
import { isNumericCode, type LikeCode } from '../shared/leading-zeros.js';
import { mergeFields, newFields } from './fields.js';
import { branchNames, pageOfCustomers, totalOfCustomers } from './list-queries.js';
import {
  CUSTOMER_FIELDS,
  likeStoredCode,
  oneCustomer,
  STORED_FIELDS,
  updateFields,
  type CustomerFields,
  type CustomerRow,
  type StoredCustomer,
} from './queries.js';

/** Returns one page of customers and the total number of matching ones, in one round trip. */
export const listCustomers = (
  ctx: UserContext,
  query: QueryOf<'listCustomers'>,
): Promise<Page<CustomerRow>> => readPage(ctx, pageOfCustomers(ctx, query), totalOfCustomers(ctx, query));

/** Returns the distinct branch names of customers, sorted. */
export async function listBranches(ctx: UserContext, courierId?: string): Promise<string[]> {
  const [rows] = await ctx.read([branchNames(ctx, courierId)]);
  return rows.map(({ branch }) => branch);
}

/**
 * Creates a customer. Returns its id, and the customer whose code is equal but for leading zeros.
 *
 * @param quota the courier's daily quota of changed customers, here and below
 * @throws ApiError courier_not_found, duplicate_user_code, rename_unfinished, quota_exceeded, 400 for staff without a courier
 */
export async function createCustomer(
  ctx: UserContext,
  quota: Quota,
  body: BodyOf<'createCustomer'>,
): Promise<{ id: string; likeCodes: LikeCode[] }> {
  const courierId = targetCourierId(ctx.caller, body.courier_id);
  const customer = { id: newId(), courierId, ...newFields(body) };
  return ctx.write(async (tx) => {
    await tx.models.customer.create({ data: { ...customer, tenantId: ctx.tenantId } });
    await assertCodesFree(tx, courierId, (codes) => codes.includes(customer.userCode));
    auditLater(tx, 'customer.created', customer.id, { after: pickColumns(customer, STORED_FIELDS) });
    await takeOne(tx, quota, courierId);
    return { id: customer.id, likeCodes: await findLikeCode(tx, courierId, customer.userCode) };
  });
}

/**
 * Changes the given fields. A new user code is also written to the customer's pre-alerts, which refer to it;
 * packages keep the code they were received with. Values equal to the stored ones are not written.
 *
 * @throws ApiError customer_not_found, duplicate_user_code, quota_exceeded, rename_unfinished
 */
export async function updateCustomer(
  ctx: UserContext,
  quota: Quota,
  body: BodyOf<'updateCustomer'>,
): Promise<{ row: CustomerRow; isChanged: boolean; likeCodes: LikeCode[] }> {
  const id = body.courier_customer_id;
  return ctx.write(async (tx) => {
    const stored = await lock(tx, 'Customer', id, STORED_FIELDS);
    const changes = await writeChanges(tx, quota, stored, mergeFields(stored, body));
    await takeQuota(tx, quota, stored.courierId, changes);
    const [row] = await tx.query(oneCustomer(ctx, id));
    if (!row) throw new Error('The customer was not found in the transaction that wrote it.');
    const likeCodes =
      row.userCode === stored.userCode ? [] : await findLikeCode(tx, row.courierId, row.userCode);
    return { row, isChanged: changes > 0, likeCodes };
  });
}

const findLikeCode = async (tx: UserTx, courierId: string, userCode: string): Promise<LikeCode[]> =>
  isNumericCode(userCode) ? tx.query(likeStoredCode(tx, courierId, userCode)) : [];

/**
 * Writes the fields if they differ from the stored ones. Returns the number of changed customers and pre-alerts. The quota is checked
 * before a rename writes or locks anything: its locks make other couriers wait.
 */
async function writeChanges(
  tx: UserTx,
  quota: Quota,
  stored: StoredCustomer,
  fields: CustomerFields,
): Promise<number> {
  const difference = differenceOf<CustomerFields>(stored, fields, CUSTOMER_FIELDS);
  if (!difference) return 0;
  const { id: customerId, courierId, userCode: from } = stored;
  const rename = fields.userCode === from ? null : { customerId, courierId, from, to: fields.userCode };
  const changes = 1 + (rename ? await countRenamed(tx, rename) : 0);
  if (rename) await assertQuota(tx, quota, courierId, changes);
  await tx.count(updateFields(tx, customerId, fields));
  auditLater(tx, 'customer.updated', customerId, { ...difference });
  if (rename) await renameOnPrealerts(tx, rename);
  return changes;
}

/**
 * Deletes a customer permanently and returns its id. The audit trail records its content.
 *
 * @throws ApiError customer_not_found, quota_exceeded, 400
 */
export async function deleteCustomer(
  ctx: UserContext,
  quota: Quota,
  ids: { inQuery: string | undefined; inBody: string | undefined },
): Promise<string> {
  const id = requireCustomerId(ids);
  return ctx.write(async (tx) => {
    const stored = await lock(tx, 'Customer', id, STORED_FIELDS);
    // Before the lock, because other couriers wait for it.
    await assertQuota(tx, quota, stored.courierId);
    await tx.query(lockUserCode(ctx.tenantId, stored.userCode));
    await tx.models.customer.deleteMany({ where: { id } });
    auditLater(tx, 'customer.deleted', id, { before: pickColumns(stored, STORED_FIELDS) });
    await takeOne(tx, quota, stored.courierId);
    return id;
  });
}

function requireCustomerId({
  inQuery,
  inBody,
}: {
  inQuery: string | undefined;
  inBody: string | undefined;
}): string {
  const id = inQuery ?? inBody;
  if (id === undefined) throw invalidFieldError('id', 'customer_required');
  if (inBody !== undefined && inBody !== id)
    throw invalidFieldError('courier_customer_id', 'different', { other: 'id in the query' });
  return id;
}

const takeOne = (tx: UserTx, quota: Quota, courierId: string): Promise<void> =>
  takeQuota(tx, quota, courierId, 1);
