import type { UserContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import { UUID } from '../../../platform/contract/keywords.js';
import { keysOfStored } from '../../tracking-numbers/public.js';
import { isHouseNumber } from '../intake/house-number.js';
import { findClaims, findDetail, type ClaimRow, type DetailRow } from './queries.js';

export type PackageDetail = { row: DetailRow; claims: ClaimRow[] };

/**
 * Returns one package with the records that it refers to.
 *
 * @param name its id or its house number
 * @throws ApiError package_not_found, also for another courier's package: one statement finds nothing in both cases
 */
export async function readPackage(ctx: UserContext, name: string): Promise<PackageDetail> {
  const [[row]] = await ctx.read([findDetail(ctx, keyOf(name))]);
  if (!row) throw new ApiError('package_not_found');
  if (isMasked(ctx.caller, row)) return { row, claims: [] };
  const [claims] = await ctx.read([findClaims(ctx, keysOfStored(row))]);
  return { row, claims };
}

/** Whether the caller sees only the end of the tracking number. Pre-alerts would show the rest. */
export const isMasked = ({ courierId }: UserCaller, { userCode }: Pick<DetailRow, 'userCode'>): boolean =>
  courierId !== null && userCode === null;

function keyOf(name: string): { id: string } | { houseNumber: string } {
  if (UUID.test(name)) return { id: name };
  const capitals = name.toUpperCase();
  // House numbers of other systems keep their letters.
  return { houseNumber: isHouseNumber(capitals) ? capitals : name };
}
