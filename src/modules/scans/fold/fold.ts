import type { PackageStatus } from '../../packages/public.js';
import { isHeld, whyExtra, type Assignment, type ExtraReason } from './extra-reason.js';

// The state of a parcel is a pure function of its scans, in the order of `scannedAt` and then `id`, and of the facts: the
// changes of its status that did not come from scans. See decision 0061.

export type ScanKind = 'receive' | 'load' | 'unload' | 'locate' | 'hold' | 'deliver';

/** Times are ISO 8601, in UTC with milliseconds, which sorts chronologically. */
export type ParcelScan = {
  id: string;
  kind: ScanKind;
  scannedAt: string;
  arrivedAt: string;
  station: string;
  manifestId: string | null;
  /** Of a load or unload: whether the manifest was ready when the scan arrived. */
  isAdmitted: boolean;
  location: string | null;
  /** The stored outcome; null for a new scan. */
  outcome: 'done' | 'conflict' | null;
};

/** A change of the status by a manifest or by RecordPackageEvent, in the order of the package's history. */
export type StatusFact = { status: PackageStatus; occurredAt: string; recordedAt: string };

export type ConflictReason =
  | 'not_received'
  | 'already_received'
  | 'invalid_transition'
  | 'not_loaded'
  | 'manifest_not_ready'
  | Exclude<ExtraReason, 'unknown'>;

export type ParcelHistory = {
  scans: ParcelScan[];
  facts: StatusFact[];
  /** Who received the parcel. A package that ReceivePackage has stored keeps its receipt. */
  receivedBy: 'nobody' | 'scan' | 'intake';
  assignment: Assignment;
  /** Whether the manifest has been shipped. Its loads keep their outcome. */
  hasLeft: (manifestId: string) => boolean;
  /** The status that a hold or a delivery leads to, or undefined if it is not allowed. */
  statusAfter: (status: PackageStatus, kind: 'hold' | 'deliver') => PackageStatus | undefined;
};

/** A scan that changes the status. */
type Step = { scanId: string; status: PackageStatus };
type Load = { manifestId: string; scannedAt: string; station: string };

export type FoldedParcel = {
  /** The scan that makes the receipt. */
  receiptId: string | null;
  /** The status; null if the parcel is not received. */
  status: PackageStatus | null;
  /** The scans that change the status after the last fact. */
  steps: Step[];
  location: string | null;
  load: Load | null;
  /** The reason of the conflict of each scan; null if it is done. */
  reasons: Map<string, ConflictReason | null>;
};

export function foldParcel(history: ParcelHistory): FoldedParcel {
  const slots = new Map(history.scans.map((scan) => [scan.id, factsBefore(scan, history.facts)]));
  const slotOf = ({ id }: ParcelScan) => slots.get(id) ?? 0;
  const scans = [...history.scans].sort((a, b) => slotOf(a) - slotOf(b) || compareScans(a, b));
  const receipts = foldReceipts(history, [...history.scans].sort(compareScans));
  const statuses = foldStatuses(history, scans, slotOf);
  const movements = foldMovements(history, scans, statuses.status);
  return {
    receiptId: receipts.receiptId,
    status: statuses.status,
    steps: statuses.steps,
    location: movements.location,
    load: movements.load,
    reasons: new Map([...receipts.reasons, ...statuses.reasons, ...movements.reasons]),
  };
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

type Timed = Pick<ParcelScan, 'scannedAt' | 'id'>;

export const compareScans = (a: Timed, b: Timed): number =>
  compareText(a.scannedAt, b.scannedAt) || compareText(a.id, b.id);

/**
 * The number of facts that come before a scan. A fact that was recorded after the scan had arrived comes after it: the clock of
 * a station may be ahead, and a scan must not undo what staff did later.
 */
function factsBefore({ scannedAt, arrivedAt }: ParcelScan, facts: StatusFact[]): number {
  const isAfter = (fact: StatusFact) => scannedAt > fact.occurredAt && arrivedAt > fact.recordedAt;
  const next = facts.findIndex((fact) => !isAfter(fact));
  return next === -1 ? facts.length : next;
}

type Reasons = [string, ConflictReason | null][];

/** The earliest receive scan makes the receipt. */
function foldReceipts({ receivedBy }: ParcelHistory, scans: ParcelScan[]) {
  const receives = scans.filter(({ kind }) => kind === 'receive');
  const receiptId = receivedBy === 'scan' ? (receives[0]?.id ?? null) : null;
  const reasons: Reasons = receives.map(({ id }) => [id, id === receiptId ? null : 'already_received']);
  return { receiptId, reasons };
}

/** A parcel that is received was received before everything else, whatever the clocks of the stations say. */
function foldStatuses(
  { facts, receivedBy, statusAfter }: ParcelHistory,
  scans: ParcelScan[],
  slotOf: (scan: ParcelScan) => number,
) {
  const reasons: Reasons = [];
  const steps: Step[] = [];
  let status: PackageStatus = 'received';
  let slot = 0;
  const passFacts = (until: number) => {
    for (; slot < until; slot += 1) {
      status = facts[slot]?.status ?? status;
      steps.length = 0;
    }
  };
  for (const scan of scans) {
    if (scan.kind !== 'hold' && scan.kind !== 'deliver') continue;
    passFacts(slotOf(scan));
    const next: PackageStatus | undefined =
      receivedBy === 'nobody' ? undefined : statusAfter(status, scan.kind);
    if (next !== undefined && next !== status) steps.push({ scanId: scan.id, status: next });
    status = next ?? status;
    const reason = receivedBy === 'nobody' ? 'not_received' : 'invalid_transition';
    reasons.push([scan.id, next === undefined ? reason : null]);
  }
  passFacts(facts.length);
  return { status: receivedBy === 'nobody' ? null : status, steps, reasons };
}

/** The last movement counts. A load of a parcel that must not be loaded is a movement too: the parcel must be taken off. */
function foldMovements(history: ParcelHistory, scans: ParcelScan[], status: PackageStatus | null) {
  const reasons: Reasons = [];
  let location: string | null = null;
  let load: Load | null = null;
  for (const scan of [...scans].sort(compareScans)) {
    const { id, kind, manifestId, scannedAt, station } = scan;
    if (kind === 'locate') {
      location = scan.location;
      reasons.push([id, status === null ? 'not_received' : null]);
    }
    if (manifestId === null) continue;
    const isLoaded: boolean = load?.manifestId === manifestId;
    if (scan.isAdmitted && kind === 'load') load = { manifestId, scannedAt, station };
    if (scan.isAdmitted && kind === 'unload' && isLoaded) load = null;
    reasons.push([id, whyNotMoved(history, scan, status, isLoaded)]);
  }
  return { location, load, reasons };
}

function whyNotMoved(
  { assignment, hasLeft }: ParcelHistory,
  { kind, isAdmitted, outcome, manifestId }: ParcelScan,
  status: PackageStatus | null,
  isLoaded: boolean,
): ConflictReason | null {
  if (!isAdmitted) return 'manifest_not_ready';
  // A parcel that was scanned on board without a receipt is an extra, and is taken off like any other.
  if (kind === 'unload' && isLoaded) return null;
  if (status === null) return 'not_received';
  if (kind === 'unload') return 'not_loaded';
  if (manifestId === null || (outcome === 'done' && hasLeft(manifestId))) return null;
  return whyExtra(assignment, manifestId, isHeld(status));
}
