// What a person at a station sees and hears for the answer to a scan.
import type { Tone } from '../ui/tone.js';
import { twoWeights, type QueuedScan, type ScanResult, type StationScan } from './scans.js';

type Word =
  | 'received'
  | 'checkOwner'
  | 'noOwner'
  | 'alreadyReceived'
  | 'loaded'
  | 'unloaded'
  | 'wrongFlight'
  | 'hold'
  | 'wrongCourier'
  | 'notOnFlight'
  | 'notReceived'
  | 'flightClosed'
  | 'notLoaded'
  | 'stored'
  | 'held'
  | 'delivered'
  | 'notPossible'
  | 'refused'
  | 'clockWrong'
  | 'noParcel'
  /** Loaded, although nobody knows whose it is. */
  | 'disputed'
  | 'ownerless'
  | 'twoWeights'
  | 'voided';

export type Verdict = { tone: Tone; word: Word };

const DONE: Record<Exclude<StationScan['kind'], 'receive'>, Word> = {
  load: 'loaded',
  unload: 'unloaded',
  locate: 'stored',
  hold: 'held',
  deliver: 'delivered',
};

const CONFLICTS: Record<string, Verdict> = {
  already_received: { tone: 'warn', word: 'alreadyReceived' },
  not_received: { tone: 'warn', word: 'notReceived' },
  other_manifest: { tone: 'bad', word: 'wrongFlight' },
  on_hold: { tone: 'bad', word: 'hold' },
  other_courier: { tone: 'bad', word: 'wrongCourier' },
  not_assigned: { tone: 'bad', word: 'notOnFlight' },
  manifest_not_ready: { tone: 'bad', word: 'flightClosed' },
  not_loaded: { tone: 'warn', word: 'notLoaded' },
  clock_ahead: { tone: 'bad', word: 'clockWrong' },
  not_a_parcel: { tone: 'bad', word: 'noParcel' },
  receipt_voided: { tone: 'warn', word: 'voided' },
};

/** The service answers `other_courier` also for a parcel that belongs to no courier: nobody knows whose it is. */
export function doubtOf({ reason, parcel }: ScanResult): 'disputed' | 'ownerless' | undefined {
  if (reason !== 'other_courier' || !parcel || parcel.courier_id !== null) return undefined;
  return parcel.flagged ? 'disputed' : 'ownerless';
}

/** A held parcel is laid aside like one without an owner, so it is as amber. */
export function verdictOf(scan: QueuedScan, answer: ScanResult): Verdict {
  if (twoWeights(scan, answer)) return { tone: 'warn', word: 'twoWeights' };
  const { kind } = scan.request;
  const { result, outcome, reason, parcel } = answer;
  if (outcome !== 'done') {
    const doubt = doubtOf(answer);
    if (doubt) return { tone: 'bad', word: doubt };
    const known = CONFLICTS[reason ?? ''];
    if (known) return known;
    return { tone: 'bad', word: result === 'refused' ? 'refused' : 'notPossible' };
  }
  if (kind === 'load' && parcel?.flagged) return { tone: 'warn', word: 'disputed' };
  if (kind === 'load' && parcel && !parcel.user_code) return { tone: 'warn', word: 'ownerless' };
  if (kind === 'hold') return { tone: 'warn', word: DONE[kind] };
  if (kind !== 'receive') return { tone: 'good', word: DONE[kind] };
  if (parcel?.flagged) return { tone: 'warn', word: 'checkOwner' };
  return parcel?.user_code ? { tone: 'good', word: 'received' } : { tone: 'warn', word: 'noOwner' };
}
