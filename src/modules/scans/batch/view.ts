import type { components } from '../../../../generated/contract.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import { explainOutcome, explainRepetition } from './messages/explanations.js';
import type { ExecutedScan } from './execute-batch.js';
import type { OtherReceipt } from './other-receipts.js';
import type { RefusedScan } from './messages/read-scans.js';

type Data = DataOf<'sendScans'>;
type Result = Data['results'][number];

export function viewBatch(results: (RefusedScan | ExecutedScan)[]): Data {
  const viewed = results.map((each) => ('refusal' in each ? viewRefused(each) : viewExecuted(each)));
  const count = (wanted: Result['result']) => viewed.filter(({ result }) => result === wanted).length;
  return {
    done: count('done'),
    repeated: count('repeated'),
    conflict: count('conflict'),
    refused: count('refused'),
    results: viewed,
  };
}

export const describeBatch = ({ done, repeated, conflict, refused }: Data): string =>
  `Scans done: ${done}. Repeated: ${repeated}, conflict: ${conflict}, refused: ${refused}.`;

const viewRefused = ({ scanId, refusal: { reason, message, errors } }: RefusedScan): Result => ({
  scan_id: scanId,
  result: 'refused',
  outcome: null,
  reason,
  message,
  errors,
  parcel: null,
  other_receipt: null,
});

function viewExecuted({
  scan: { id, kind, number, isRepeated, storedReason },
  parcel,
}: ExecutedScan): Result {
  const reason = parcel.reasons.has(id) ? (parcel.reasons.get(id) ?? null) : storedReason;
  const outcome = reason === null ? 'done' : 'conflict';
  return {
    scan_id: id,
    result: isRepeated ? 'repeated' : outcome,
    outcome,
    reason,
    message: isRepeated ? explainRepetition(reason) : explainOutcome(kind, reason),
    errors: [],
    parcel: viewParcel(parcel, number),
    other_receipt: viewReceipt(parcel.otherReceipts.get(id)),
  };
}

const viewReceipt = (receipt: OtherReceipt | undefined): Result['other_receipt'] =>
  receipt
    ? {
        weight: receipt.weightLb,
        scanned_at: formatDateTime(new Date(receipt.scannedAt)),
        station: receipt.station,
        user_name: receipt.userName,
      }
    : null;

function viewParcel(
  { state, position }: ExecutedScan['parcel'],
  number: string,
): NonNullable<components['schemas']['ParcelState']> {
  return {
    package_id: state?.id ?? null,
    tracking_number: state?.trackingNumber ?? number,
    house_number: state?.houseNumber ?? null,
    status: state?.status ?? null,
    weight: state ? Number(state.weightLb) : null,
    courier_id: state?.courierId ?? null,
    courier_name: state?.courierName ?? null,
    user_code: state?.userCode ?? null,
    flagged: state?.isFlagged ?? false,
    manifest_id: state?.manifestId ?? null,
    manifest_number: state?.manifestNumber ?? null,
    loaded_manifest_id: position?.manifestId ?? null,
    location: position?.location ?? null,
  };
}
