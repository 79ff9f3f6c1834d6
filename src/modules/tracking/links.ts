import { randomBytes } from 'node:crypto';
import { DecryptionError, type Secrets } from '../../platform/access/secrets.js';
import { auditLater } from '../../platform/audit/audit.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import type { UserTx } from '../../platform/db/scope.js';
import { ApiError } from '../../platform/errors/errors.js';
import { newId } from '../../platform/values/ids.js';
import * as queries from './queries.js';
import type { LinkablePackage, LinkRow } from './queries.js';

type Body = BodyOf<'manageTrackingLinks'>;
type Action<Name extends Body['action']> = Omit<Extract<Body, { action: Name }>, 'action'>;

/** A link with its key. */
export type Link = LinkRow & { key: string };

/** The link after an action, null if it has none, and whether the action has changed anything. */
export type Managed = { link: Link | null; isChanged: boolean };

/** 128 bits. */
const KEY_BYTES = 16;

/** Returns the link of a package, or null. @throws ApiError package_not_found */
export async function readLink(ctx: UserContext, secrets: Secrets, packageId: string): Promise<Link | null> {
  const [[found], [row]] = await ctx.read([
    queries.findPackage(ctx, packageId),
    queries.findLink(ctx, packageId),
  ]);
  if (!found) throw new ApiError('package_not_found');
  return opened(ctx, secrets, row) ?? null;
}

/** @throws ApiError package_not_found, package_without_customer */
export const createLink = (
  ctx: UserContext,
  secrets: Secrets,
  { package_id: id }: Action<'create'>,
): Promise<Managed> =>
  ctx.write(async (tx) => {
    const { parcel, link } = await lockLink(tx, secrets, id);
    if (link) return { link, isChanged: false };
    return { link: await storeLink(tx, secrets, parcel, null), isChanged: true };
  });

/** @throws ApiError package_not_found, package_without_customer */
export const replaceLink = (
  ctx: UserContext,
  secrets: Secrets,
  { package_id: id }: Action<'replace'>,
): Promise<Managed> =>
  ctx.write(async (tx) => {
    const { parcel, link } = await lockLink(tx, secrets, id);
    return { link: await storeLink(tx, secrets, parcel, link?.amountDue ?? null), isChanged: true };
  });

/** @throws ApiError package_not_found, package_without_customer */
export const setAmountDue = (
  ctx: UserContext,
  secrets: Secrets,
  { package_id: id, amount_due: sent }: Action<'set_amount_due'>,
): Promise<Managed> =>
  ctx.write(async (tx) => {
    const { parcel, link } = await lockLink(tx, secrets, id);
    const amount = sent === null ? null : sent.toFixed(2);
    if (!link) return { link: await storeLink(tx, secrets, parcel, amount), isChanged: true };
    if (link.amountDue === amount) return { link, isChanged: false };
    tx.later(queries.setAmountDue(tx, link.id, amount));
    auditLater(tx, 'tracking_link.amount_set', link.id, {
      before: { amount_due: link.amountDue },
      after: { amount_due: amount },
    });
    return { link: await read(tx, secrets, id), isChanged: true };
  });

/** Also ends a link whose key was altered. @throws ApiError package_not_found, tracking_link_not_found */
export const endLink = (ctx: UserContext, { package_id: id }: Action<'end'>): Promise<Managed> =>
  ctx.write(async (tx) => {
    const parcel = await lockPackage(tx, id);
    const [row] = await tx.query(queries.findLink(tx, id));
    if (!row) throw new ApiError('tracking_link_not_found', { variant: 'package' });
    tx.later(queries.deleteLink(tx, parcel));
    auditLater(tx, 'tracking_link.ended', row.id, {
      before: { package_id: id, courier_id: row.courierId },
    });
    return { link: null, isChanged: true };
  });

/** The lock makes requests for one package wait for each other. @throws ApiError package_not_found */
async function lockPackage(tx: UserTx, id: string): Promise<LinkablePackage> {
  const [parcel] = await tx.query(queries.lockedPackage(tx, id));
  if (!parcel) throw new ApiError('package_not_found');
  return parcel;
}

/** @throws ApiError package_not_found */
async function lockLink(
  tx: UserTx,
  secrets: Secrets,
  id: string,
): Promise<{ parcel: LinkablePackage; link: Link | undefined }> {
  const parcel = await lockPackage(tx, id);
  const [row] = await tx.query(queries.findLink(tx, id));
  return { parcel, link: opened(tx, secrets, row) };
}

/** Replaces whatever link the courier has for the package. @throws ApiError package_without_customer */
async function storeLink(
  tx: UserTx,
  secrets: Secrets,
  parcel: LinkablePackage,
  amountDue: string | null,
): Promise<Link> {
  const { id: packageId, courierId, userCode, customerId } = parcel;
  if (courierId === null || userCode === null || customerId === null)
    throw new ApiError('package_without_customer');
  const id = newId();
  const key = randomBytes(KEY_BYTES).toString('base64url');
  const place = { tenantId: tx.tenantId, rowId: id, field: 'tracking_key' } as const;
  tx.later(queries.deleteLink(tx, parcel));
  tx.later(
    queries.insertLink(tx, {
      id,
      courierId,
      packageId,
      customerId,
      userCode,
      amountDue,
      keyHash: secrets.lookupHash(key, 'tracking_link'),
      keyCipher: secrets.encrypt(key, place),
    }),
  );
  auditLater(tx, 'tracking_link.created', id, {
    after: { package_id: packageId, courier_id: courierId, user_code: userCode, amount_due: amountDue },
  });
  return read(tx, secrets, packageId);
}

async function read(tx: UserTx, secrets: Secrets, packageId: string): Promise<Link> {
  const [row] = await tx.query(queries.findLink(tx, packageId));
  const link = opened(tx, secrets, row);
  if (!link) throw new Error('A tracking link was not stored.');
  return link;
}

/** A link whose key was altered can be shown to nobody, so it counts as none, and the next one replaces it. */
function opened(
  { tenantId }: Pick<UserTx, 'tenantId'>,
  secrets: Secrets,
  row: LinkRow | undefined,
): Link | undefined {
  if (!row) return undefined;
  try {
    const key = secrets.decrypt(row.keyCipher, { tenantId, rowId: row.id, field: 'tracking_key' });
    return { ...row, key };
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}
