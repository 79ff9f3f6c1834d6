import { settings } from '../device/settings.js';
import { dateTime, pounds, t, textOf } from '../texts/texts.js';
import { doubtOf } from './verdict.js';
import { twoWeights, type QueuedScan, type ScanResult, type TwoWeights } from './scans.js';

/** Returns the text that says what to do. */
export function adviceOf(scan: QueuedScan, result: ScanResult): string {
  const { reason, message, errors, parcel } = result;
  const weights = twoWeights(scan, result);
  const doubt = doubtOf(result);
  if (weights) return weightsText(weights, result);
  if (doubt) return t(`advice.${doubt}`);
  // In English, the service explains what is wrong with each field.
  if (reason === 'invalid' && settings.value.language === 'en') return message;
  const fields = errors.map(({ field }) => field).join(', ') || '–';
  return textOf('reason', reason ?? '', message, { manifest: parcel?.manifest_number ?? '', fields });
}

/** Names both weights, who has weighed the other one, and what is stored. */
function weightsText({ own, other, stored }: TwoWeights, { other_receipt: receipt }: ScanResult): string {
  return t('two.weights', {
    own: pounds(own),
    other: pounds(other),
    stored: pounds(stored),
    who: receipt
      ? `${receipt.user_name ?? '–'}, ${receipt.station}, ${dateTime(receipt.scanned_at)}`
      : t('two.somebody'),
  });
}
