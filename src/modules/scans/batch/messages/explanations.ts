import type { ConflictReason, ScanKind } from '../../fold/fold.js';

const DONE: Record<ScanKind, string> = {
  receive: 'The parcel is received.',
  load: 'The parcel is loaded.',
  unload: 'The parcel is taken off.',
  locate: 'The place is stored.',
  hold: 'The parcel is on hold.',
  deliver: 'The parcel is delivered.',
};

const CONFLICTS: Record<ConflictReason, string> = {
  not_received: 'The parcel is not received yet. Receive it; this scan is then executed.',
  already_received:
    'The parcel was already received. To change its weight or size, change the package. If it is another parcel, put it aside.',
  invalid_transition:
    'The status of the package does not allow this. Put the parcel aside and ask a manager.',
  not_loaded: 'The parcel is not loaded for this manifest. Check which manifest it was loaded for.',
  manifest_not_ready:
    'The manifest is not ready for loading, or has left. Set it to ready, or load for another one, and scan again.',
  other_manifest: 'The package is on another manifest. Take the parcel off.',
  on_hold: 'The package is on hold, returned or lost. Take the parcel off and put it aside.',
  other_courier:
    'The package is on no manifest, and its courier has no package on this one. Take the parcel off.',
  not_assigned: 'The package is on no manifest. Add it to this manifest, or take the parcel off.',
};

/** Returns what a person at the station should know and do. */
export const explainOutcome = (kind: ScanKind, reason: ConflictReason | null): string =>
  reason === null ? DONE[kind] : CONFLICTS[reason];

/** The same for a scan that was sent again. */
export const explainRepetition = (reason: ConflictReason | null): string =>
  reason === null ? 'This scan was already stored. It is done.' : CONFLICTS[reason];
