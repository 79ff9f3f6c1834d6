import type { Secrets } from '../../../platform/access/secrets.js';
import type { SystemContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { ownOrAll, readScan } from '../../tracking-numbers/public.js';
import { isLastName } from './last-name.js';
import type { PageLimits } from './limits.js';
import {
  foundPackages,
  pageOfLink,
  pageOfPackage,
  searchedCourier,
  type CourierRow,
  type FoundRow,
  type PageRow,
} from './queries.js';

type Parts = { limits: PageLimits; address: string };

/**
 * Returns what the page of a key shows. One statement finds it or nothing, whatever the key is.
 * @throws ApiError tracking_link_not_found, too_many_attempts
 */
export async function readPage(
  ctx: SystemContext,
  key: string,
  { secrets, limits, address }: Parts & { secrets: Secrets },
): Promise<PageRow> {
  await limits.countPage({ tenantId: ctx.tenantId, address });
  const [[row]] = await ctx.read([pageOfLink(ctx, secrets.lookupHash(key, 'tracking_link'))]);
  if (!row) throw new ApiError('tracking_link_not_found');
  return row;
}

/** @throws ApiError tracking_link_not_found, too_many_attempts */
export async function readSearch(
  ctx: SystemContext,
  code: string,
  { limits, address }: Parts,
): Promise<CourierRow> {
  await limits.countPage({ tenantId: ctx.tenantId, address });
  const [[courier]] = await ctx.read([searchedCourier(ctx, code)]);
  if (!courier) throw new ApiError('tracking_link_not_found', { variant: 'search' });
  return courier;
}

/** What a search has found. `page` is undefined for a number that does not exist, and as well for a wrong name. */
export type Found = { courier: CourierRow; page: PageRow | undefined };

/** @throws ApiError tracking_link_not_found, too_many_attempts */
export async function search(
  ctx: SystemContext,
  code: string,
  { tracking_number: sent, last_name: lastName }: BodyOf<'submitTrackingSearch'>,
  { limits, address }: Parts,
): Promise<Found> {
  const who = { tenantId: ctx.tenantId, address };
  await limits.countPage(who);
  await limits.countSearch(who);
  const keys = readScan(sent).numbers.flatMap((number) => number.keys);
  const [[courier], rows] = await ctx.read([searchedCourier(ctx, code), foundPackages(ctx, code, keys)]);
  if (!courier) throw new ApiError('tracking_link_not_found', { variant: 'search' });
  await limits.countSearchOf(courier.courierId, who);
  const found = ownOrAll(rows, keys);
  const isRight = await compareName({ found, lastName, limits, number: keys[0] ?? '', who });
  if (!isRight) return { courier, page: undefined };
  const [[page]] = await ctx.read([pageOfPackage(ctx, isRight.id)]);
  return { courier, page };
}

type Comparison = {
  found: readonly FoundRow[];
  lastName: string;
  limits: PageLimits;
  number: string;
  who: { tenantId: string; address: string };
};

/**
 * Returns the package whose customer has the name. Names are counted per package, because a number has several spellings, and for a number
 * that does not exist under the number, so that both take the same time.
 */
async function compareName({
  found,
  lastName,
  limits,
  number,
  who,
}: Comparison): Promise<FoundRow | undefined> {
  const [first, another] = found;
  // Several packages end in a short number. Whose it is stays open (decision 0105).
  const parcel = another ? undefined : first;
  const { isAllowed, giveBack } = await limits.countName(parcel?.id ?? number, who);
  const isRight = isLastName(lastName, parcel?.lastName ?? '');
  if (!parcel || !isRight || !isAllowed) return undefined;
  await giveBack();
  return parcel;
}
