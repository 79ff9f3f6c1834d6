import { settings } from '../device/settings.js';
import { dateTime, pounds, t, textOf } from '../texts/texts.js';
import { doubtOf } from './verdict.js';
import { twoWeights, type QueuedScan, type ScanResult, type TwoWeights } from './scans.js';

/** Returns the text that says what to do. */
export function adviceOf(scan: QueuedScan, result: ScanResult): string {
  const { reason, message, errors, parcel } = result;
  const weights = twoWeights(scan, result);
  const doubt = doubtOf(result);
  if (weights) return weightsText(scan, weights, result);
  if (doubt) return t(`advice.${doubt}`);
  // In English, the service explains what is wrong with each field.
  if (reason === 'invalid' && settings.value.language === 'en') return message;
  const fields = errors.map(({ field }) => field).join(', ') || '–';
  return textOf('reason', reason ?? '', message, { manifest: parcel?.manifest_number ?? '', fields });
}

/**
 * Names both weights, the earlier one first: who weighed, where and when, and what is stored. It reads the same from both scans, which
 * can be of one person. The earliest scan makes the receipt, so a scan that is done came before the other one; times of answers have no
 * milliseconds.
 */
function weightsText(
  scan: QueuedScan,
  weights: TwoWeights,
  { outcome, other_receipt: receipt }: ScanResult,
): string {
  const own = weightText(weights.own, {
    user_name: scan.ownerName,
    station: scan.station,
    scanned_at: scan.request.scanned_at,
  });
  const other = weightText(weights.other, receipt);
  const [first, second] = outcome === 'done' ? [own, other] : [other, own];
  return t('two.weights', { first, second, stored: pounds(weights.stored) });
}

type Weighing = Omit<NonNullable<ScanResult['other_receipt']>, 'weight'>;

const weightText = (weight: number, by: Weighing | null): string =>
  t('two.weight', {
    weight: pounds(weight),
    who: by ? `${by.user_name ?? '–'}, ${by.station}, ${dateTime(by.scanned_at)}` : t('two.somebody'),
  });
