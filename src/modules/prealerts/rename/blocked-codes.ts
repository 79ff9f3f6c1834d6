import type { SystemTx, UserTx } from '../../../platform/db/scope.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { findBlockedCodes } from './queries.js';

/**
 * Refuses codes whose pre-alerts still wait for the new code of another customer: a customer who got one of them would get these
 * pre-alerts. Call it after the customers are written. A rename that gives up the code at the same time has ended then, and is seen.
 *
 * @param haveOne returns whether the written customers have one of these codes
 * @throws ApiError rename_unfinished
 */
export async function assertCodesFree(
  tx: UserTx | SystemTx,
  courierId: string,
  haveOne: (codes: string[]) => boolean | Promise<boolean>,
): Promise<void> {
  const codes = (await tx.query(findBlockedCodes(tx, courierId))).map(({ userCode }) => userCode);
  if (codes.length > 0 && (await haveOne(codes))) throw new ApiError('rename_unfinished');
}
