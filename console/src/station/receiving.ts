// What happens to the parcel on the scale: scanned, weighed, saved. One step at a time, in the order of the keys.
import type { ScanResolution } from '../../../sdk/typescript/src/index.js';
import { settings } from '../device/settings.js';
import { makeScan } from '../queue/add.js';
import { expectAnswer } from '../queue/answers.js';
import type { QueuedScan } from '../queue/scans.js';
import { enqueue } from '../queue/store.js';
import type { Scan } from '../scanner/scanner.js';
import { isUnsettled, isWeightText, readWeight } from '../scanner/scale.js';
import { api, isOffline, messageOf } from '../session/session.js';
import { ownerText } from '../staff/parcel-owner.js';
import { doubtOf, readMeasures, type Doubt, type MeasureName, type ReadMeasures } from '../staff/parcel.js';
import { number, pounds, t } from '../texts/texts.js';
import { show } from '../ui/outcome.js';
import { askWhich, keepFirst, list, showWhich, unlist } from '../which/second-scan.js';
import { isShown } from './report.js';
import {
  canBeReceived,
  changeWork,
  clearParcel,
  hasParcelInWork,
  isManifestNumber,
  work,
  type Parcel,
  type Work,
} from './work.js';

const RESOLVE_MS = 4_000;
/** With a parcel on the scale, its weight. No number of a carrier or of this warehouse is so short. */
const WHOLE_POUNDS = /^\d{1,4}$/;

/** Says whose parcel it is. */
type ShowOwner = (scan: string, resolution: ScanResolution) => void;

/** How a parcel is saved. `isConfirmed`: the person has answered the question about the weight. */
export type SaveOptions = { isConfirmed?: boolean; isHeld?: boolean };

const isWeight = (text: string): boolean => isWeightText(text) || WHOLE_POUNDS.test(text);

let last: Promise<unknown> = Promise.resolve();

/** Runs the tasks one after another, so that two keys in a row never save a parcel twice. */
function inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
  const result = last.then(task, task);
  last = result.catch(() => undefined);
  return result;
}

/**
 * Takes the next parcel, or the weight of the one on the scale. That one is saved first; without its weight, it stays. What it is, is
 * decided when it is its turn: until then the parcel before may still be on its way to the disk.
 * @param options.isNumber the person has said that it is a number, although it looks like a weight
 */
export const takeScan = (scan: Scan, showOwner: ShowOwner, { isNumber = false } = {}): Promise<void> =>
  inTurn(async () => {
    const { text } = scan;
    const { parcel, postponed, second } = work.value;
    if (second !== undefined && !scan.isAgain) {
      chooseByScan(text, showOwner);
      return;
    }
    // A scale may send the same weight for two parcels in a row.
    if (!isNumber && (hasParcelInWork.value ? isWeight(text) : isWeightText(text))) {
      takeWeight(text, 'weight', false);
      return;
    }
    if (text === parcel?.scan || (scan.isAgain && text !== postponed)) {
      show('wait', t('word.again'), text, text);
      return;
    }
    if (await saveNow()) openParcel(text, showOwner);
    else {
      changeWork({ postponed: text });
      askWhich(text);
    }
  });

/** The number that is scanned again is the parcel on the scale. */
function chooseByScan(text: string, showOwner: ShowOwner): void {
  const { parcel, second } = work.value;
  if (text === parcel?.scan) keepFirst();
  else if (text === second) openSecond(showOwner);
  else if (isWeight(text)) showWhich();
  else if (second === '') {
    // The person was asked to scan the parcel that is on the scale.
    changeWork({ second: text });
    openSecond(showOwner);
  } else askWhich(text);
}

/** The second parcel is on the scale, so the first one is not received. */
export function openSecond(showOwner: ShowOwner): void {
  const { parcel, second } = work.value;
  if (second === undefined) return;
  if (parcel) list(parcel.scan);
  openParcel(second, showOwner);
}

export const save = (options: SaveOptions = {}): Promise<boolean> => inTurn(() => saveNow(options));

/** Stores the parcel whose weight was asked about as the person wanted it before the question. */
export const confirm = (): Promise<boolean> => save({ isConfirmed: true });

/** Receives the parcel and holds it. Without a weight, it is held when the weight comes. */
export const hold = (): Promise<boolean> => save({ isHeld: true });

/** Puts the weight of a scale into its field, or into the field that the person has chosen. */
export function takeWeight(text: string, field: MeasureName, isSubmitted: boolean): void {
  const { parcel, measures, second } = work.value;
  if (second !== undefined) {
    showWhich();
    return;
  }
  if (!parcel || !canBeReceived(parcel)) {
    show('warn', t('word.scanFirst'), t('receive.scanFirst', { weight: text }));
    return;
  }
  if (isUnsettled(text)) {
    show('warn', t('word.weighAgain'), t('receive.unsettled', { weight: text }));
    return;
  }
  const name = readWeight(text)?.unit ? 'weight' : field;
  changeWork({ measures: { ...measures, [name]: text }, doubt: undefined, wrong: [] });
  if (isSubmitted) void save();
}

function openParcel(scan: string, showOwner: ShowOwner): void {
  clearParcel();
  unlist(scan);
  changeWork({ parcel: { scan } });
  void resolve(scan, showOwner);
}

/**
 * The second number is another label of the parcel on the scale. A parcel is stored under one number, so nobody else must get it under the
 * other one: it is held if the other label has another owner.
 */
export const joinLabels = (): Promise<void> =>
  // In turn, so that the parcel is not stored before the owner of the other label is known.
  inTurn(async () => {
    const { parcel, second } = work.value;
    keepFirst({ isOneParcel: true });
    if (!parcel || second === undefined) return;
    const options = { timeoutMs: RESOLVE_MS, maxRetries: 0 };
    // Without an answer the parcel is received under its first number, as before.
    const answer = await api()
      .packages.resolveScan({ scan: second }, options)
      .catch(() => undefined);
    if (!answer || work.value.parcel?.scan !== parcel.scan || !hasOtherOwner(parcel, answer.data)) return;
    changeWork({ isHeld: true });
    const owner = ownerText({ scan: second, resolution: answer.data });
    show('bad', t('word.checkOwner'), t('which.otherOwner', { scan: second, owner }), parcel.scan);
  });

function hasOtherOwner({ resolution, customer }: Parcel, { owner, matches }: ScanResolution): boolean {
  if (matches.prealerts.length === 0 && matches.packages.length === 0) return false;
  const own = customer ?? resolution?.owner;
  return own?.user_code !== owner?.user_code || own?.courier_id !== owner?.courier_id;
}

/** The parcel on the scale has another number than the damaged label said. What was measured stays. */
export const openInstead = (scan: string, showOwner: ShowOwner): Promise<void> =>
  inTurn(() => {
    const { measures } = work.value;
    openParcel(scan, showOwner);
    changeWork({ measures });
    return Promise.resolve();
  });

/** Asks the service whose parcel it is. The person may have gone on before it answers. */
export async function resolve(scan: string, showOwner: ShowOwner): Promise<void> {
  const isOpen = () => work.value.parcel?.scan === scan;
  const isManifest = isManifestNumber(scan);
  if (isManifest) showManifest(scan);
  else show('wait', t('word.reading'), scan, scan);
  try {
    const { data } = await api().packages.resolveScan({ scan }, { timeoutMs: RESOLVE_MS, maxRetries: 0 });
    if (!isOpen()) return;
    changeWork({ parcel: { ...work.value.parcel, scan, resolution: data } });
    if (isShown()) showOwner(scan, data);
  } catch (error) {
    if (!isOpen() || !isShown()) return;
    if (isOffline(error) && isManifest) showManifest(scan);
    else if (isOffline(error)) show('wait', t('word.weigh'), t('receive.offline'), scan);
    else show('bad', t('word.refused'), messageOf(error));
  }
}

const showManifest = (scan: string) =>
  show('bad', t('word.noParcel'), t('receive.isManifest', { manifest: scan }), scan);

/** Returns whether nothing is on the scale any more. */
async function saveNow(options: SaveOptions = {}): Promise<boolean> {
  const before = work.value;
  const { parcel, measures } = before;
  const { isConfirmed = false, isHeld = before.isHeld ?? false } = options;
  if (!parcel) return true;
  if (!canBeReceived(parcel)) {
    clearParcel();
    return true;
  }
  if (before.second !== undefined) {
    showWhich();
    return false;
  }
  const read = readMeasures(measures);
  if ('wrong' in read) {
    changeWork({ wrong: read.wrong, isHeld });
    show('warn', t('word.weighFirst'), t('receive.weighFirst', { scan: parcel.scan }));
    return false;
  }
  const doubt = doubtOf(measures, read.measures, settings.value.weightQuestionLb);
  if (doubt && !isConfirmed) {
    changeWork({ doubt, isHeld });
    show('warn', t('word.checkWeight'), doubtText(doubt, read.measures.weight));
    return false;
  }
  return store(before, scansOf(parcel, read.measures, isHeld));
}

export const doubtText = (doubt: Doubt, weight: number): string =>
  t(`doubt.${doubt}`, { weight: pounds(weight), limit: number(settings.value.weightQuestionLb) });

function scansOf({ scan, customer }: Parcel, measures: ReadMeasures, isHeld: boolean): QueuedScan[] {
  const owner = customer ? { user_code: customer.user_code, courier_id: customer.courier_id } : {};
  const now = new Date();
  const received = makeScan({ kind: 'receive', scan, ...measures, ...owner }, now);
  if (!isHeld) return [received];
  // Later, because the service executes the scans of a parcel in the order of their times.
  return [received, makeScan({ kind: 'hold', scan }, new Date(now.getTime() + 1))];
}

/** Clears the scale at once, so that no later key changes the parcel. If the disk fails, the parcel comes back. */
async function store(before: Work, scans: QueuedScan[]): Promise<boolean> {
  const { parcel, measures } = before;
  clearParcel();
  changeWork({ saving: [...before.saving, ...scans] });
  for (const { scan_id } of scans) expectAnswer(scan_id);
  try {
    await enqueue(...scans);
  } catch (error) {
    changeWork({ parcel, measures, isHeld: before.isHeld ?? false, saving: before.saving });
    show('bad', t('word.notSaved'), messageOf(error));
    return false;
  }
  changeWork({ saving: work.value.saving.filter((each) => !scans.includes(each)) });
  const scan = parcel?.scan ?? '';
  const [{ request }] = scans as [QueuedScan];
  const weight = 'weight' in request ? pounds(request.weight) : '';
  show('wait', t('word.saved'), [scan, weight].filter(Boolean).join(' · '), scan);
  return true;
}

/** Writes the scans that a reload interrupted. The service executes each of them once. */
export async function saveInterrupted(): Promise<void> {
  const { saving } = work.value;
  if (saving.length === 0) return;
  for (const { scan_id } of saving) expectAnswer(scan_id);
  await enqueue(...saving);
  changeWork({ saving: [] });
}
