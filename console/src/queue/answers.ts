import { signal } from '@preact/signals';
import { settings } from '../device/settings.js';
import { messageOf, session } from '../session/session.js';
import { printOrQueue } from '../station/labels.js';
import { pounds, t, textOf } from '../texts/texts.js';
import { outcome, show, showEarlier } from '../ui/outcome.js';
import type { QueuedScan, ScanResult } from './scans.js';
import { dismiss, onSettled, queue } from './store.js';
import { verdictOf } from './verdict.js';

export type Answered = { scan: QueuedScan; result: ScanResult };

const LONGEST = 30;

/** The answers to scans of the user since the page was loaded, the latest first. */
export const answered = signal<Answered[]>([]);

/** The scans of this tab, whose answers it shows. */
const expected = new Set<string>();

export const expectAnswer = (scanId: string) => expected.add(scanId);

/** Shows the answers to the scans of this tab from now on. */
export const listenForAnswers = (): (() => void) => onSettled(showSettled);

function showSettled({ scan, result }: Answered): void {
  if (scan.owner !== session.value?.user.id) return;
  if (scan.request.kind === 'unload' && result.outcome === 'done') void dismiss(loadsOf(scan, result));
  answered.value = [{ scan, result }, ...answered.value].slice(0, LONGEST);
  if (!expected.delete(scan.scan_id)) return;
  showAnswer(scan, result);
  const packageId = result.parcel?.package_id;
  const isReceived = scan.request.kind === 'receive' && result.outcome === 'done';
  if (isReceived && packageId && settings.value.labels !== 'off') void printOrSay(packageId);
}

/** The loads of a parcel that a person had to look after, until it was taken off again. */
function loadsOf({ request }: QueuedScan, { parcel }: ScanResult): QueuedScan[] {
  const manifestId = 'manifest_id' in request ? request.manifest_id : undefined;
  return queue.value.filter(
    ({ state, request: loaded, result }) =>
      state === 'attention' &&
      loaded.kind === 'load' &&
      loaded.manifest_id === manifestId &&
      (loaded.scan === request.scan || result?.parcel?.tracking_number === parcel?.tracking_number),
  );
}

/** Prints a label, or says why that is not possible. The parcel is received in any case. */
export async function printOrSay(packageId: string): Promise<void> {
  try {
    await printOrQueue(packageId);
  } catch (error) {
    show('warn', t('word.noLabel'), messageOf(error));
  }
}

/** Returns the text that says what to do. */
export function adviceOf({ reason, message, errors, parcel }: ScanResult): string {
  // In English, the service explains what is wrong with each field.
  if (reason === 'invalid' && settings.value.language === 'en') return message;
  const fields = errors.map(({ field }) => field).join(', ') || '–';
  return textOf('reason', reason ?? '', message, { manifest: parcel?.manifest_number ?? '', fields });
}

/** Shows the answer as the big word, with the parcel. */
function showAnswer({ request }: QueuedScan, result: ScanResult): void {
  const { tone, word } = verdictOf(request.kind, result);
  const { parcel } = result;
  const weight = request.kind === 'receive' && result.outcome === 'done' ? pounds(request.weight) : '';
  const owner = [weight, parcel?.house_number, parcel?.user_code, parcel?.courier_name]
    .filter(Boolean)
    .join(' · ');
  const advice = textOf('advice', word, '') || adviceOf(result);
  const subject = [request.scan, weight].filter(Boolean).join(' · ');
  const detail = tone === 'good' ? owner || request.scan : `${subject}: ${advice}`;
  // Good news of an earlier parcel does not cover what the person is doing with the next one.
  const shown = outcome.value?.subject ?? '';
  if (tone === 'good' && shown !== '' && shown !== request.scan)
    showEarlier(tone, t(`word.${word}`), [request.scan, owner].filter(Boolean).join(' · '), request.scan);
  else show(tone, t(`word.${word}`), detail, request.scan);
}
