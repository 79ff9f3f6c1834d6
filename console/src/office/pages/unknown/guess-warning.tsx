import type { ParcelClaimant } from '../../../../../sdk/typescript/src/index.js';
import { t } from '../../../texts/texts.js';

/** With fewer announcements, a courier whose parcels are on their way would look like one that guesses. */
const FEWEST = 100;

/** Of so many numbers that an honest courier announced, at least one has arrived. */
const NUMBERS_PER_ARRIVAL = 10;

const isGuessing = ({ submitted, arrived }: NonNullable<ParcelClaimant['announcements']>) =>
  submitted >= FEWEST && arrived * NUMBERS_PER_ARRIVAL < submitted;

/** Warns if few of the numbers that the courier of a claimant announces arrive. */
export function GuessWarning({ claimant: { announcements } }: { claimant: ParcelClaimant }) {
  if (!announcements || !isGuessing(announcements)) return null;
  return (
    <p class="notice" data-testid="guessing">
      {t(announcements.arrived === 0 ? 'unknown.noneArrived' : 'unknown.fewArrived', announcements)}
    </p>
  );
}
