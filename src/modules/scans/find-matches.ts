import type { UserContext } from '../../platform/context/request-context.js';
import { isHouseNumber } from '../packages/public.js';
import { keysOfStored, type ScanReading } from '../tracking-numbers/public.js';
import * as queries from './queries.js';

export type MatchedPackage = queries.PackageRow & { matchedBy: 'tracking_number' | 'house_number' };

/** The records that a scan matches, of those that the caller may see. */
export type ScanMatches = {
  packages: MatchedPackage[];
  /** At most 50, to be shown. */
  prealerts: queries.PrealertRow[];
  /** What all pre-alerts say, to decide with. */
  claims: queries.ClaimRow[];
  manifests: queries.ManifestRow[];
  customers: queries.CustomerRow[];
};

/** Looks up all numbers of the scan, as intake does. All statements use indexes only. */
export async function findMatches(ctx: UserContext, { text, numbers }: ScanReading): Promise<ScanMatches> {
  const texts = [...new Set([text, ...numbers.flatMap((number) => [number.text, number.folded])])];
  const keys = [...new Set(numbers.flatMap((number) => number.keys))];
  const [numbered, housed, announced, claims, manifests, customers] = await ctx.read([
    queries.packagesByKey(ctx, keys),
    queries.packagesByHouseNumber(ctx, texts.filter(isHouseNumber)),
    queries.prealertsByKey(ctx, keys),
    queries.claimsByKey(ctx, keys),
    queries.manifestsByNumber(ctx, texts),
    queries.customersByCode(ctx, texts),
  ]);
  const isNumbered = new Set(numbered.map(({ id }) => id));
  const labelled = housed.filter(({ id }) => !isNumbered.has(id));
  const packages: MatchedPackage[] = [
    ...numbered.map((row) => ({ ...row, matchedBy: 'tracking_number' as const })),
    ...labelled.map((row) => ({ ...row, matchedBy: 'house_number' as const })),
  ];
  const ofLabelled = await claimsOf(ctx, labelled);
  const isOfParcel = isAnnounced(numbers, housed);
  return {
    packages,
    prealerts: [...announced.filter(isOfParcel), ...ofLabelled.prealerts],
    claims: [...claims.filter(isOfParcel), ...ofLabelled.claims],
    manifests,
    customers,
  };
}

/**
 * Leaves out the pre-alerts of a number that is the house number of a package. Intake never matches them: the owner is that of the
 * package. Otherwise a courier that announces the house number of another courier's package would be shown as a claimant.
 */
function isAnnounced(numbers: ScanReading['numbers'], housed: queries.PackageRow[]) {
  const houseNumbers = new Set(housed.map(({ houseNumber }) => houseNumber));
  const labels = numbers.filter(({ folded }) => houseNumbers.has(folded));
  const keys = new Set(labels.flatMap((number) => number.keys));
  return ({ trackingKey }: { trackingKey: string }): boolean => !keys.has(trackingKey);
}

/**
 * Returns the pre-alerts of packages whose house number was scanned. A courier sees the number of a package without a customer
 * masked, and a pre-alert would tell it.
 */
async function claimsOf(
  ctx: UserContext,
  labelled: queries.PackageRow[],
): Promise<Pick<ScanMatches, 'prealerts' | 'claims'>> {
  const shown = labelled.filter(({ userCode }) => ctx.caller.courierId === null || userCode !== null);
  const [first] = shown;
  if (!first) return { prealerts: [], claims: [] };
  const keys = [...new Set(shown.flatMap(keysOfStored))];
  const [prealerts, claims] = await ctx.read([
    queries.prealertsByKey(ctx, keys),
    queries.claimsByKey(ctx, keys),
  ]);
  return { prealerts, claims };
}
