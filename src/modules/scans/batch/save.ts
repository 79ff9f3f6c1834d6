import { audit } from '../../../platform/audit/audit.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { readScan } from '../../tracking-numbers/public.js';
import { compareScans, type FoldedParcel } from '../fold/fold.js';
import * as queries from './stored/queries.js';
import type { NewScan, PositionRow } from './stored/queries.js';
import type { ReceivedParcel } from './receive.js';
import type { PlannedMove } from './status-moves.js';

export type FoldedWork = {
  parcel: ReceivedParcel;
  folded: FoldedParcel;
  moves: PlannedMove[];
  position: PositionRow | undefined;
};

/** Stores the new scans, the outcomes that have changed, and the positions. */
export async function saveScans(tx: UserTx, station: string, work: FoldedWork[]): Promise<void> {
  const scans = work.flatMap(scansToSave);
  const fresh = scans.filter(({ before }) => before.outcome === null).map(({ after }) => after);
  const changed = scans.filter(({ before, after }) => before.outcome !== null && isChanged(before, after));
  if (fresh.length > 0) tx.later(queries.insertScans(tx, fresh));
  if (changed.length > 0)
    tx.later(
      queries.changeScans(
        tx,
        changed.map(({ after }) => after),
      ),
    );
  const obsolete = work.flatMap(({ parcel }) =>
    parcel.positions.map(({ parcelKey }) => parcelKey).filter((key) => key !== parcel.key),
  );
  if (obsolete.length > 0) tx.later(queries.removePositions(tx, obsolete));
  const positions = work.flatMap(({ position }) => position ?? []);
  if (positions.length > 0) tx.later(queries.savePositions(tx, positions));
  const [first] = fresh;
  if (first)
    tx.later(
      audit(tx, {
        action: 'scans.recorded',
        entity: 'scan',
        entityId: first.id,
        after: { station, scans: fresh.length },
      }),
    );
}

function scansToSave({ parcel, folded, moves }: FoldedWork) {
  const events = new Map(moves.map(({ scanId, move }) => [scanId, move.eventId]));
  return parcel.scans.map((before) => {
    const { location: _, parcel: __, keys: ___, references: ____, ...stored } = before;
    const reason = folded.reasons.get(before.id) ?? null;
    const outcome = reason === null ? ('done' as const) : ('conflict' as const);
    const eventId = events.get(before.id) ?? before.eventId;
    const after: NewScan = { ...stored, parcelKey: parcel.key, eventId, outcome, reason };
    return { before, after };
  });
}

type Saved = Pick<NewScan, 'parcelKey' | 'eventId' | 'reason'>;

const isChanged = (before: Saved, after: Saved): boolean =>
  before.parcelKey !== after.parcelKey || before.eventId !== after.eventId || before.reason !== after.reason;

/** The position of a parcel. Without scans of a kind, for example after their retention, what is stored stays. */
export function positionOf(
  { key, scans, positions, isTruncated }: ReceivedParcel,
  folded: FoldedParcel,
): PositionRow | undefined {
  const stored = mergePositions(key, positions);
  if (isTruncated) return stored && { ...stored, parcelKey: key };
  const hasLoads = scans.some(({ manifestId }) => manifestId !== null);
  const load = hasLoads
    ? {
        manifestId: folded.load?.manifestId ?? null,
        loadedAt: folded.load?.scannedAt ?? null,
        station: folded.load?.station ?? null,
      }
    : {
        manifestId: stored?.manifestId ?? null,
        loadedAt: stored?.loadedAt ?? null,
        station: stored?.station ?? null,
      };
  const location = folded.location ?? stored?.location ?? null;
  if (location === null && load.manifestId === null && !stored) return undefined;
  const [first] = [...scans].sort(compareScans);
  return {
    parcelKey: key,
    scan: first ? shownNumber(first.scan, key) : (stored?.scan ?? ''),
    location,
    ...load,
  };
}

/** What is stored of a parcel whose rows had several keys. The latest load counts. */
function mergePositions(key: string, positions: PositionRow[]): PositionRow | undefined {
  const own = positions.find(({ parcelKey }) => parcelKey === key) ?? positions[0];
  if (!own) return undefined;
  const loads = positions.filter(({ manifestId }) => manifestId !== null);
  const load = loads.reduce((a, b) => ((b.loadedAt ?? '') > (a.loadedAt ?? '') ? b : a), own);
  const { manifestId, loadedAt, station } = load;
  const location = own.location ?? positions.find((row) => row.location !== null)?.location ?? null;
  return { ...own, location, manifestId, loadedAt, station };
}

/** Returns the number of a scan that has the key. Without it, for example because the package was renumbered, the whole text. */
function shownNumber(scan: string, key: string): string {
  const { numbers, text } = readScan(scan);
  return numbers.find(({ keys }) => keys.includes(key))?.text ?? text;
}
