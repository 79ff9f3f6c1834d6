import type { UserContext } from '../../platform/context/request-context.js';
import { chooseParcel, type ScannedParcel } from '../packages/public.js';
import { notOneNumber, ownOrAll, readScan, type ScanReading } from '../tracking-numbers/public.js';
import { findMatches, type ScanMatches } from './find-matches.js';
import { decideNextStep, type NextStep } from './next-step.js';
import { describeScan, type ScanMeaning } from './scan-meaning.js';

export type ScanResolution = ScanReading & ScanMeaning & { matches: ScanMatches; next: NextStep };

/**
 * Returns what a scan says, the records that it matches, and the next step. Changes nothing.
 * @throws ApiError validation_failed for a control character inside a number
 */
export async function resolveScan(ctx: UserContext, scan: string): Promise<ScanResolution> {
  const reading = readScan(scan);
  if (reading.problem === 'control_characters') throw notOneNumber(reading, 'scan');
  const found = await findMatches(ctx, reading);
  const parcel = chooseParcel(reading, knownOf(found));
  const matches = parcel ? ofParcel(found, parcel) : found;
  const isOpen = !parcel && reading.numbers.length > 1;
  const next = decideNextStep(reading.candidates, matches, isOpen);
  return { ...reading, ...describeScan(reading, matches, isOpen), matches, next };
}

const knownOf = ({ packages, claims }: ScanMatches) => [
  ...packages.map(({ id, ...row }) => ({ ...row, packageId: id })),
  ...claims.map(({ trackingKey }) => ({
    trackingKey,
    trackingNumber: null,
    packageId: null,
    houseNumber: null,
  })),
];

/** Leaves out the records of the other numbers of the scan. */
function ofParcel(
  { packages, prealerts, claims, ...others }: ScanMatches,
  { keys, labelled }: ScannedParcel,
) {
  const isOfParcel = ({ trackingKey }: { trackingKey: string }) => keys.includes(trackingKey);
  // As at intake.
  const own = ownOrAll(packages.filter(isOfParcel), keys);
  return {
    packages: packages.filter(
      (row) => row.id === labelled || row.matchedBy === 'house_number' || own.includes(row),
    ),
    prealerts: labelled === null ? prealerts.filter(isOfParcel) : prealerts,
    claims: labelled === null ? claims.filter(isOfParcel) : claims,
    ...others,
  };
}
