import type { UserContext } from '../../platform/context/request-context.js';
import { parcelKeys, readScan, type ScanReading } from '../tracking-numbers/public.js';
import { decideNextStep, type NextStep } from './next-step.js';
import * as queries from './queries.js';

export type MatchedPackage = queries.PackageRow & { matchedBy: 'tracking_number' | 'house_number' };

/** The records that a scan matches, of those that the caller may see. */
export type ScanMatches = {
  packages: MatchedPackage[];
  prealerts: queries.PrealertRow[];
  manifests: queries.ManifestRow[];
  customers: queries.CustomerRow[];
};

export type ScanResolution = ScanReading & { matches: ScanMatches; next: NextStep };

/** Returns what a scan says, the records that it matches, and the next step. Changes nothing. */
export async function resolveScan(ctx: UserContext, scan: string): Promise<ScanResolution> {
  const reading = readScan(scan);
  const matches = await findMatches(ctx, scan, reading);
  return { ...reading, matches, next: decideNextStep(reading.candidates, matches) };
}

/** Looks up the whole scan and, if no format describes it, its parts. All statements use indexes only. */
async function findMatches(
  ctx: UserContext,
  scan: string,
  { text, numbers }: ScanReading,
): Promise<ScanMatches> {
  const texts = [...new Set([text, ...numbers])];
  const keys = [...new Set([...parcelKeys(scan).keys, ...numbers])];
  const [numbered, housed, prealerts, manifests, customers] = await ctx.preparedRead([
    queries.packagesByKey(ctx, keys),
    queries.packagesByHouseNumber(ctx, texts),
    queries.prealertsByKey(ctx, keys),
    queries.manifestsByNumber(ctx, texts),
    queries.customersByCode(ctx, texts),
  ]);
  const isNumbered = new Set(numbered.map(({ id }) => id));
  const packages: MatchedPackage[] = [
    ...numbered.map((row) => ({ ...row, matchedBy: 'tracking_number' as const })),
    ...housed
      .filter(({ id }) => !isNumbered.has(id))
      .map((row) => ({ ...row, matchedBy: 'house_number' as const })),
  ];
  return { packages, prealerts, manifests, customers };
}
