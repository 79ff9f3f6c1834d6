import { signal } from '@preact/signals';
import { settings } from '../device/settings.js';
import { messageOf, session } from '../session/session.js';
import { printOrQueue } from '../station/labels.js';
import { pounds, t, textOf } from '../texts/texts.js';
import { isBusyWithAnother, report } from '../station/report.js';
import { outcome, show, showEarlier } from '../ui/outcome.js';
import { adviceOf } from './advice.js';
import { settledBy } from './attention.js';
import type { Correction, QueuedScan, ScanResult } from './scans.js';
import { corrected, dismiss, onCorrected, onReviewed, onSettled, queue } from './store.js';
import { verdictOf } from './verdict.js';

export type Answered = { scan: QueuedScan; result: ScanResult };

const LONGEST = 30;

/** The answers to scans of the user since the page was loaded, the latest first. */
export const answered = signal<Answered[]>([]);

/** The scans of this tab, whose answers it shows. */
const expected = new Set<string>();

export const expectAnswer = (scanId: string) => expected.add(scanId);

/** Shows the answers to the scans of this tab from now on. */
export function listenForAnswers(): () => void {
  const stops = [onSettled(showSettled), onCorrected(showCorrected), onReviewed(showReviewed)];
  return () => stops.forEach((stop) => stop());
}

/** Says that the service has taken a correction, or why not. */
function showCorrected(correction: Correction): void {
  const { scan_id: id, correction_id: made, scan: text, measures, failure } = correction;
  if (failure === undefined)
    answered.value = answered.value.map((each) =>
      each.scan.scan_id === id ? corrected(each, correction) : each,
    );
  if (made === undefined || !expected.delete(made) || correction.owner !== session.value?.user.id) return;
  const subject = `${text} · ${pounds(measures.weight)}`;
  if (failure === undefined) report('good', t('word.corrected'), subject, text);
  else report('bad', t('word.notCorrected'), `${subject}: ${failure}`, text);
}

function showSettled({ scan, result }: Answered): void {
  if (scan.owner !== session.value?.user.id) return;
  const over = settledBy(queue.value, scan, result);
  if (over.length > 0) void dismiss(over);
  answered.value = [{ scan, result }, ...answered.value].slice(0, LONGEST);
  if (!expected.delete(scan.scan_id)) return;
  showAnswer(scan, result);
  const packageId = result.parcel?.package_id;
  const isReceived = scan.request.kind === 'receive' && result.outcome === 'done';
  if (isReceived && packageId && settings.value.labels !== 'off')
    void printOrSay(packageId, scan.request.scan);
}

/** Replaces answers that are no longer true, and says what is new. */
function showReviewed({ answers, news }: Parameters<Parameters<typeof onReviewed>[0]>[0]): void {
  const results = new Map(answers.map(({ scan, result }) => [scan.scan_id, result]));
  answered.value = answered.value.map(({ scan, result }) => ({
    scan,
    result: results.get(scan.scan_id) ?? result,
  }));
  for (const { scan, result } of news) if (scan.owner === session.value?.user.id) showAnswer(scan, result);
}

/** Prints a label, or says why that is not possible. The parcel is received in any case. */
export async function printOrSay(packageId: string, subject = ''): Promise<void> {
  try {
    await printOrQueue(packageId);
  } catch (error) {
    report('warn', t('word.noLabel'), messageOf(error), subject);
  }
}

/** Shows the answer as the big word, with the parcel. */
function showAnswer(scan: QueuedScan, result: ScanResult): void {
  const { request } = scan;
  const { tone, word } = verdictOf(scan, result);
  const { parcel } = result;
  const weight = weightText(scan, result);
  const owner = [weight, parcel?.house_number, parcel?.user_code, parcel?.courier_name]
    .filter(Boolean)
    .join(' · ');
  const advice = textOf('advice', word, '') || adviceOf(scan, result);
  const subject = [request.scan, weight, parcel?.house_number].filter(Boolean).join(' · ');
  const detail = tone === 'good' ? owner || request.scan : `${subject}: ${advice}`;
  // Good news of an earlier parcel does not cover what the person is doing with the next one.
  const shown = outcome.value?.subject ?? '';
  if (isBusyWithAnother(request.scan)) report(tone, t(`word.${word}`), detail, request.scan);
  else if (tone === 'good' && shown !== '' && shown !== request.scan)
    showEarlier(tone, t(`word.${word}`), [request.scan, owner].filter(Boolean).join(' · '), request.scan);
  else show(tone, t(`word.${word}`), detail, request.scan);
}

/** The weight that is stored. A parcel that was received before has another one than this scan. */
function weightText({ request }: QueuedScan, { outcome, parcel }: ScanResult): string {
  if (request.kind !== 'receive' && request.kind !== 'hold') return '';
  const own = request.kind === 'receive' && outcome === 'done' ? request.weight : undefined;
  const weight = parcel?.weight ?? own;
  return weight === undefined ? '' : pounds(weight);
}
