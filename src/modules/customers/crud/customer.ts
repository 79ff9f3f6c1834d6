import { auditStatement, type AuditFact } from '../../../platform/audit/audit.js';
import { makeContext } from '../../../platform/context/request-context.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { BodyOf, QueryOf } from '../../../platform/contract/types.js';
import { takeQuota, type Quota } from '../../../platform/db/quotas.js';
import { transaction, snapshot, type Db, type Tx } from '../../../platform/db/transaction.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import { renameOnPrealerts } from '../../prealerts/public.js';
import { differenceOf, mergeFields, newFields } from './fields.js';
import * as listing from './list-queries.js';
import * as queries from './queries.js';
import type { CustomerRow, StoredCustomer } from './queries.js';

/** Returns one page of customers and the total number of matching ones, in one round trip. */
export async function listCustomers(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'listCustomers'>,
): Promise<{ rows: CustomerRow[]; total: number }> {
  const [rows, counted] = await snapshot(db, caller, [
    listing.pageOfCustomers(db, caller, query),
    listing.totalOfCustomers(db, caller, query),
  ]);
  // The two statements select exactly these columns.
  return { rows: rows as CustomerRow[], total: (counted as { total: number }[])[0]?.total ?? 0 };
}

/** Returns the distinct branch names of customers, sorted. */
export async function listBranches(db: Db, caller: UserCaller, courierId?: string): Promise<string[]> {
  const [rows] = await snapshot(db, caller, [listing.branchNames(db, caller, courierId)]);
  // The statement selects exactly this column.
  return (rows as { branch: string }[]).map(({ branch }) => branch);
}

/** The context of a change of customers, with the daily quota of a courier. */
export type ChangeContext = { db: Db; caller: UserCaller; requestId: string; quota: Quota };

const takeOneFromQuota = (tx: Tx, { caller, quota }: ChangeContext, courierId: string): Promise<void> =>
  takeQuota(tx, quota, { tenantId: caller.tenantId, courierId }, 1);

/**
 * Creates a customer and returns its id.
 * @throws ApiError courier_not_found, duplicate_user_code, quota_exceeded, 400 for staff without a courier
 */
export async function createCustomer(
  context: ChangeContext,
  body: BodyOf<'createCustomer'>,
): Promise<string> {
  const { db, caller, requestId } = context;
  const courierId = caller.courierId ?? body.courier_id;
  if (!courierId) throw invalidFieldError('courier_id', 'required_for_staff');
  const id = newId();
  await transaction(db, caller, async (tx) => {
    const insertion = queries.insertCustomer(caller.tenantId, {
      id,
      courier_id: courierId,
      ...newFields(body),
    });
    const [after] = await tx.query<StoredCustomer>(insertion);
    await audit(tx, requestId, { action: 'customer.created', id, after });
    await takeOneFromQuota(tx, context, courierId);
  });
  return id;
}

/**
 * Changes the given fields. A new user code is also written to the customer's pre-alerts, which refer to it;
 * packages keep the code they were received with. Values equal to the stored ones are not written.
 * @throws ApiError customer_not_found, duplicate_user_code, quota_exceeded
 */
export async function updateCustomer(
  context: ChangeContext,
  body: BodyOf<'updateCustomer'>,
): Promise<{ row: CustomerRow; isChanged: boolean }> {
  const { db, caller, requestId } = context;
  const id = body.courier_customer_id;
  return transaction(db, caller, async (tx) => {
    const [stored] = await tx.query<StoredCustomer>(queries.customerForUpdate(db, caller, id));
    if (!stored) throw new ApiError('customer_not_found');
    const fields = mergeFields(stored, body);
    const difference = differenceOf(stored, fields);
    if (difference) {
      await tx.execute(queries.updateCustomer(db, caller, id, fields));
      await audit(tx, requestId, { action: 'customer.updated', id, ...difference });
    }
    if (fields.user_code !== stored.user_code) {
      const codes = { from: stored.user_code, to: fields.user_code };
      const ctx = makeContext(db, caller, requestId);
      const audit = async (...facts: AuditFact[]) => void (await tx.execute(ctx.auditStatement(facts)));
      await renameOnPrealerts(ctx, { ...tx, audit }, { courierId: stored.courier_id, ...codes });
    }
    if (difference) await takeOneFromQuota(tx, context, stored.courier_id);
    const [row] = await tx.query<CustomerRow>(queries.oneCustomer(db, caller, id));
    if (!row) throw new Error('The customer was not found in the transaction that wrote it.');
    return { row, isChanged: difference !== undefined };
  });
}

/**
 * Deletes a customer permanently and returns its id. The audit trail records its content.
 * @throws ApiError customer_not_found, quota_exceeded, 400
 */
export async function deleteCustomer(
  context: ChangeContext,
  ids: { inQuery: string | undefined; inBody: string | undefined },
): Promise<string> {
  const { db, caller, requestId } = context;
  const id = requireCustomerId(ids);
  await transaction(db, caller, async (tx) => {
    const [before] = await tx.query<StoredCustomer>(queries.removeCustomer(db, caller, id));
    if (!before) throw new ApiError('customer_not_found');
    await audit(tx, requestId, { action: 'customer.deleted', id, before });
    await takeOneFromQuota(tx, context, before.courier_id);
  });
  return id;
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

type Change = { action: string; id: string; before?: object | undefined; after?: object | undefined };

async function audit(tx: Tx, requestId: string, { action, id, before, after }: Change): Promise<void> {
  const states = { ...(before && { before: { ...before } }), ...(after && { after: { ...after } }) };
  const fact = { action, entity: 'customer' as const, entityId: id, ...states };
  await tx.execute(auditStatement(tx.caller, requestId, [fact]));
}
