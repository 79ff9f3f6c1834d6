import { randomBytes } from 'node:crypto';
import type { EncryptionContext, Secrets } from '../../platform/access/secrets.js';
import { auditLater } from '../../platform/audit/audit.js';
import { readPage, type Page } from '../../platform/context/read-page.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf, QueryOf } from '../../platform/contract/types.js';
import { lock } from '../../platform/db/columns.js';
import type { UserTx } from '../../platform/db/scope.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import { quotaOf, takeQuota } from '../../platform/limits/stored/quotas.js';
import { newId } from '../../platform/values/ids.js';
import { targetCourierId } from '../couriers/public.js';
import { unknownUserCode } from '../packages/public.js';
import * as queries from './queries.js';
import type { FeedRow } from './queries.js';
import type { FeedKind } from './senders/signatures.js';

type Body = BodyOf<'manageFeeds'>;
type Action<Name extends Body['action']> = Extract<Body, { action: Name }>;

/** What an action has done, and the secret if we have made one. */
export type Managed = { row: FeedRow; secret: string | null; isChanged: boolean };

const MAX_FEEDS = 20;
const SECRET_BYTES = 32;
const HINT_LENGTH = 4;
/** How long senders may sign with a secret that was replaced. Source: Shopify's and the contract's `rotate`. */
const OVERLAP_HOURS = 1;
const CHANGES = quotaOf('feed_changes');

export const listFeeds = (ctx: UserContext, query: QueryOf<'listFeeds'>): Promise<Page<FeedRow>> =>
  readPage(ctx, queries.pageOfFeeds(ctx, query), queries.countFeeds(ctx, query));

/** @throws ApiError validation_failed, courier_not_found, unknown_user_code, too_many_feeds, quota_exceeded */
export function createFeed(
  ctx: UserContext,
  secrets: Secrets,
  { courier_id, kind, name, user_code: userCode = null, secret: sent }: Action<'create'>,
): Promise<Managed> {
  const courierId = targetCourierId(ctx.caller, courier_id);
  const id = newId();
  const { made, ...secret } = secretOf(secrets, { tenantId: ctx.tenantId, rowId: id }, sent);
  return ctx.write(async (tx) => {
    // The lock makes feeds of a courier wait for each other, because they are counted.
    await lock(tx, 'Courier', courierId, ['id'], 'no key update');
    const [counted] = await tx.query(queries.countFeedsOf(tx, courierId));
    if (!counted || counted.total >= MAX_FEEDS)
      throw new ApiError('too_many_feeds', { args: { limit: MAX_FEEDS } });
    const customerId = await customerOf(tx, { kind, courierId }, userCode);
    await tx.count(queries.insertFeed(tx, { id, courierId, customerId, kind, name, ...secret }));
    auditLater(tx, 'feed.created', id, {
      after: { courier_id: courierId, kind, name, user_code: userCode, hint: secret.hint },
    });
    await takeQuota(tx, CHANGES, ctx.caller, 1);
    return { row: await read(tx, id), secret: made, isChanged: true };
  });
}

/** @throws ApiError validation_failed, feed_not_found, unknown_user_code, quota_exceeded */
export function updateFeed(
  ctx: UserContext,
  { feed_id: id, name, user_code: userCode, is_active: isActive }: Action<'update'>,
): Promise<Managed> {
  return ctx.write(async (tx) => {
    const stored = await lockOwn(tx, id);
    const wanted = {
      name: name ?? stored.name,
      isActive: isActive ?? stored.isActive,
      userCode: userCode === undefined ? stored.userCode : userCode,
      customerId: userCode === undefined ? stored.customerId : await customerOf(tx, stored, userCode),
    };
    const isSame = wanted.name === stored.name && wanted.isActive === stored.isActive;
    if (isSame && wanted.customerId === stored.customerId)
      return { row: await read(tx, id), secret: null, isChanged: false };
    await tx.count(queries.updateFeed(tx, id, wanted));
    auditLater(tx, 'feed.updated', id, { before: audited(stored), after: audited(wanted) });
    await takeQuota(tx, CHANGES, ctx.caller, 1);
    return { row: await read(tx, id), secret: null, isChanged: true };
  });
}

/** Replaces the secret. The old one also works for an hour. @throws ApiError feed_not_found, quota_exceeded */
export function rotateFeed(
  ctx: UserContext,
  secrets: Secrets,
  { feed_id: id, secret: sent }: Action<'rotate'>,
): Promise<Managed> {
  return ctx.write(async (tx) => {
    const { secretCipher, hint: before } = await lockOwn(tx, id);
    const place = { tenantId: tx.tenantId, rowId: id };
    const { made, ...secret } = secretOf(secrets, place, sent);
    const previous = secrets.decrypt(secretCipher, { ...place, field: 'feed_secret' });
    const previousCipher = secrets.encrypt(previous, { ...place, field: 'previous_feed_secret' });
    const overlapHours = OVERLAP_HOURS;
    await tx.count(queries.rotateFeed(tx, id, { ...secret, previousCipher, overlapHours }));
    auditLater(tx, 'feed.rotated', id, { before: { hint: before }, after: { hint: secret.hint } });
    await takeQuota(tx, CHANGES, ctx.caller, 1);
    return { row: await read(tx, id), secret: made, isChanged: true };
  });
}

/** Ends a feed. Returns it as it was. @throws ApiError feed_not_found */
export function deleteFeed(ctx: UserContext, { feed_id: id }: Action<'delete'>): Promise<Managed> {
  return ctx.write(async (tx) => {
    const { secretCipher: _, customerId: __, ...row } = await lockOwn(tx, id);
    await tx.count(queries.deleteFeed(tx, id));
    auditLater(tx, 'feed.deleted', id, {
      before: { courier_id: row.courierId, kind: row.kind, ...audited(row) },
    });
    return { row, secret: null, isChanged: true };
  });
}

/** What the audit log shows. Never the secret. */
const audited = ({ name, isActive, userCode }: Pick<FeedRow, 'name' | 'isActive' | 'userCode'>) => ({
  name,
  is_active: isActive,
  user_code: userCode,
});

const SHOPS = new Set<FeedKind>(['shopify', 'woocommerce']);

/** Returns the id of the customer of a shop. @throws ApiError validation_failed, unknown_user_code */
async function customerOf(
  tx: UserTx,
  { kind, courierId }: Pick<FeedRow, 'kind' | 'courierId'>,
  userCode: string | null,
): Promise<string | null> {
  if (userCode === null) return null;
  if (!SHOPS.has(kind)) throw invalidFieldError('user_code', 'shops_only');
  const [customer] = await tx.query(queries.activeCustomer(tx, courierId, userCode));
  if (!customer) throw unknownUserCode('user_code');
  return customer.id;
}

async function lockOwn(tx: UserTx, id: string): Promise<queries.LockedFeed> {
  const [row] = await tx.query(queries.lockedFeed(tx, id));
  if (!row) throw new ApiError('feed_not_found');
  return row;
}

async function read(tx: UserTx, id: string): Promise<FeedRow> {
  const [row] = await tx.query(queries.feedById(tx, id));
  if (!row) throw new Error('A feed was not stored.');
  return row;
}

/** `made` is the secret if the caller has sent none. */
function secretOf(
  secrets: Secrets,
  place: Omit<EncryptionContext, 'field'>,
  sent: string | undefined,
): { made: string | null; secretCipher: string; hint: string } {
  const secret = sent ?? randomBytes(SECRET_BYTES).toString('base64url');
  return {
    made: sent === undefined ? secret : null,
    secretCipher: secrets.encrypt(secret, { ...place, field: 'feed_secret' }),
    // By characters: half of one could not be stored.
    hint: [...secret].slice(-HINT_LENGTH).join(''),
  };
}
