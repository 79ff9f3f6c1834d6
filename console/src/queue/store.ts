import { signal } from '@preact/signals';
import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import { adviceOf } from './advice.js';
import { isExecuted, type Correction, type QueuedScan, type ScanResult } from './scans.js';

export type { Correction } from './scans.js';

/** A parcel that was received and whose label was not printed yet. */
export type UnprintedLabel = {
  package_id: string;
  owner: string;
  house_number: string;
  scan: string;
  at: string;
};

/** `sent`: the request as it was sent, without later corrections. The service compares it if the scan is sent again. */
export type Answered = Settled & { owner: string; at: string; sent?: QueuedScan['request'] };

type Schema = DBSchema & {
  scans: { key: string; value: QueuedScan };
  corrections: { key: string; value: Correction };
  labels: { key: string; value: UnprintedLabel };
  recent: { key: string; value: Answered };
};

export type Settled = { scan: QueuedScan; result: ScanResult };

type StoreName = 'scans' | 'corrections' | 'labels' | 'recent';
const NAMES: readonly StoreName[] = ['scans', 'corrections', 'labels', 'recent'];

/** Every scan that is stored on this device, of all users. */
export const queue = signal<QueuedScan[]>([]);
export const corrections = signal<Correction[]>([]);
export const unprinted = signal<UnprintedLabel[]>([]);
/** The latest answers, the newest first. */
export const recent = signal<Answered[]>([]);
/** Whether the disk was read. Before that, an empty queue says nothing. */
export const isQueueRead = signal(false);
/** Why scans cannot be stored, for example because the disk is full. */
export const storageError = signal<string | null>(null);

// A disk cache of the browser is not enough: a scan counts only when it survives the death of the process.
const STRICT = { durability: 'strict' } as const;

let opened: Promise<IDBPDatabase<Schema>> | undefined;
const channel = new BroadcastChannel('crossdock-queue');
const listeners = new Set<(settled: Settled) => void>();
const reviewListeners = new Set<(review: Review) => void>();
const correctionListeners = new Set<(correction: Correction) => void>();

type Message = Settled | { correction: Correction } | { reviewed: Review } | 'changed';

channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  refresh().catch(() => undefined);
  if (data === 'changed') return;
  if ('correction' in data) notifyCorrected(data.correction);
  else if ('reviewed' in data) notifyReviewed(data.reviewed);
  else notify(data);
});

function database(): Promise<IDBPDatabase<Schema>> {
  // Opened again after a failure, and after the browser has closed it, for example because site data were deleted.
  const close = () => (opened = undefined);
  opened ??= openDB<Schema>('crossdock-queue', 2, {
    upgrade(db, version) {
      if (version < 1) db.createObjectStore('scans', { keyPath: 'scan_id' });
      db.createObjectStore('corrections', { keyPath: 'scan_id' });
      db.createObjectStore('labels', { keyPath: 'package_id' });
      db.createObjectStore('recent', { keyPath: 'scan.scan_id' });
    },
    // A page of a later version needs the database. This one opens it again when it needs it.
    blocking: (_old, _new, event) => {
      (event.target as IDBDatabase).close();
      close();
    },
    terminated: close,
  }).catch((error: unknown) => {
    close();
    throw error;
  });
  return opened;
}

/** Reads the stores again. Returns the queue. */
export async function refresh(names: readonly StoreName[] = NAMES): Promise<QueuedScan[]> {
  try {
    const db = await database();
    await Promise.all(names.map((name) => READERS[name](db)));
  } catch (error) {
    storageError.value = textOfError(error);
    throw error;
  }
  isQueueRead.value = true;
  return queue.value;
}

const READERS: Record<StoreName, (db: IDBPDatabase<Schema>) => Promise<unknown>> = {
  scans: async (db) => (queue.value = await db.getAll('scans')),
  corrections: async (db) => (corrections.value = await db.getAll('corrections')),
  labels: async (db) => (unprinted.value = await db.getAll('labels')),
  recent: async (db) => (recent.value = (await db.getAll('recent')).sort((a, b) => (a.at < b.at ? 1 : -1))),
};

/** Resolves when the scans are on the disk: all of them, or none. */
export async function enqueue(...scans: QueuedScan[]): Promise<void> {
  await write(['scans'], (stores) => Promise.all(scans.map((scan) => stores.scans.put(scan))));
  channel.postMessage('changed');
}

type Remaining = Settled & { remains: QueuedScan | undefined };
type LabelOf = (settled: Settled) => UnprintedLabel | undefined;

/**
 * Stores what remains of sent scans, and tells all tabs. Executed scans are deleted first, because that also succeeds on a full disk.
 * @param labelOf the label that must be printed for the answer, if there is one
 */
export async function storeSettled(answers: Remaining[], labelOf: LabelOf): Promise<void> {
  const executed = answers.filter(({ result }) => isExecuted(result));
  if (executed.length > 0) await storeExecuted(executed, labelOf);
  announce(executed);
  const others = answers.filter(({ result }) => !isExecuted(result));
  const kept = others.flatMap(({ remains }) => remains ?? []);
  if (kept.length > 0)
    await write(['scans', 'corrections'], (stores) =>
      Promise.all([...kept.map((scan) => stores.scans.put(scan)), ...correct(stores, others)]),
    );
  announce(others);
  await keepRecent(answers).catch(() => undefined);
}

/** In one transaction, so that a browser that is killed forgets no label and no correction. */
async function storeExecuted(executed: Remaining[], labelOf: LabelOf): Promise<void> {
  const labels = executed.flatMap((answer) => labelOf(answer) ?? []);
  const remove = (stores: Stores) => executed.map(({ scan }) => stores.scans.delete(scan.scan_id));
  const isPlain = labels.length === 0 && corrections.value.length === 0;
  try {
    await write(isPlain ? ['scans'] : ['scans', 'labels', 'corrections'], (stores) =>
      Promise.all([
        ...remove(stores),
        ...executed.flatMap(({ remains }) => (remains ? [stores.scans.put(remains)] : [])),
        ...labels.map((label) => stores.labels.put(label)),
        ...correct(stores, executed),
      ]),
    );
  } catch (error) {
    if (isPlain) throw error;
    // The disk is full. The scans were executed in any case.
    await write(['scans'], (stores) => Promise.all(remove(stores)));
  }
}

/** Notes in the corrections of these scans what the service answered. */
function correct(stores: Stores, answers: Settled[]): Promise<unknown>[] {
  return answers.flatMap((answer) =>
    corrections.value
      .filter(({ scan_id }) => scan_id === answer.scan.scan_id)
      .map((each) => stores.corrections.put(withAnswer(each, answer))),
  );
}

const LONGEST_RECENT = 60;
/** After a shift, and some, nobody corrects from the list, and who comes then need not find it on the device. */
const RECENT_MS = 24 * 60 * 60_000;

const isOld = ({ at }: Answered) => Date.parse(at) < Date.now() - RECENT_MS;

/** Reads the stores for a page that begins, and deletes answers of an earlier day from the device. */
export async function openQueue(): Promise<void> {
  await refresh();
  const old = recent.value.filter(isOld);
  if (old.length === 0) return;
  await write(['recent'], (stores) => Promise.all(old.map(({ scan }) => stores.recent.delete(scan.scan_id))));
  channel.postMessage('changed');
}

async function keepRecent(answers: Settled[]): Promise<void> {
  const at = new Date().toISOString();
  const old = recent.value.filter((answer, n) => n >= LONGEST_RECENT || isOld(answer));
  await write(['recent'], (stores) =>
    Promise.all([
      ...answers.map(({ scan, result }) =>
        stores.recent.put({ scan, result, owner: scan.owner, at, sent: scan.request }),
      ),
      ...old.map(({ scan }) => stores.recent.delete(scan.scan_id)),
    ]),
  );
}

function withAnswer(correction: Correction, { scan, result }: Settled): Correction {
  const packageId = result.outcome === 'done' ? (result.parcel?.package_id ?? null) : null;
  return packageId
    ? { ...correction, package_id: packageId }
    : { ...correction, failure: adviceOf(scan, result) };
}

/** Stores a correction until the service has it, or what became of it. */
export async function putCorrection(correction: Correction): Promise<void> {
  await write(['corrections'], (stores) => stores.corrections.put(correction));
  channel.postMessage('changed');
}

export async function removeCorrection({ scan_id }: Correction): Promise<void> {
  await write(['corrections'], (stores) => stores.corrections.delete(scan_id));
  channel.postMessage('changed');
}

/** Stores what the service answered to a correction, and tells all tabs. A later correction of the same scan, made meanwhile, stays. */
export async function settleCorrection(correction: Correction): Promise<void> {
  const { scan_id: id, correction_id: made } = correction;
  const answer = recent.value.find(({ scan }) => scan.scan_id === id);
  await write(['corrections', 'recent', 'scans'], async (stores) => {
    const stored = await stores.corrections.get(id);
    const isLatest = stored?.correction_id === made;
    if (isLatest && correction.failure !== undefined) await stores.corrections.put(correction);
    else if (isLatest) await stores.corrections.delete(id);
    if (correction.failure !== undefined) return;
    if (answer) await stores.recent.put(corrected(answer, correction));
    const listed = await stores.scans.get(id);
    // The list still names the weights of both scans, and what is stored now.
    if (listed?.result) await stores.scans.put({ ...listed, result: withStored(listed.result, correction) });
  });
  notifyCorrected(correction);
  channel.postMessage({ correction } satisfies Message);
}

/** Returns the answer to a receive scan with the measures that the service has now. */
export function corrected<Answer extends Settled>(answer: Answer, correction: Correction): Answer {
  const { scan, result } = answer;
  const { measures } = correction;
  const request = result.outcome === 'done' ? { ...scan.request, ...measures } : scan.request;
  return { ...answer, scan: { ...scan, request }, result: withStored(result, correction) };
}

const withStored = (result: ScanResult, { measures: { weight } }: Correction): ScanResult => ({
  ...result,
  parcel: result.parcel && { ...result.parcel, weight },
});

/** `answers` replace earlier ones. Of `news` the person does not know yet. `keep` and `remove` change the list of what needs a person. */
type Reviewed = { remove: QueuedScan[]; keep: QueuedScan[]; answers: Answered[]; news: Settled[] };
type Review = { answers: Settled[]; news: Settled[] };

/** Stores what the service answers now to scans that it has had before, and tells all tabs. */
export async function storeReviewed(changes: Reviewed): Promise<void> {
  const { remove, keep, answers, news } = changes;
  await write(['scans', 'recent'], (stores) =>
    Promise.all([
      ...remove.map(({ scan_id }) => stores.scans.delete(scan_id)),
      ...keep.map((scan) => stores.scans.put(scan)),
      ...answers.map((answer) => stores.recent.put(answer)),
    ]),
  );
  const reviewed = { answers: answers.map(({ scan, result }) => ({ scan, result })), news };
  notifyReviewed(reviewed);
  channel.postMessage({ reviewed } satisfies Message);
}

export async function removeLabels(labels: Pick<UnprintedLabel, 'package_id'>[]): Promise<void> {
  await write(['labels'], (stores) =>
    Promise.all(labels.map(({ package_id }) => stores.labels.delete(package_id))),
  );
  channel.postMessage('changed');
}

function announce(answers: Settled[]): void {
  for (const { scan, result } of answers) {
    notify({ scan, result });
    channel.postMessage({ scan, result } satisfies Settled);
  }
}

/** Removes scans that a person has seen. */
export async function dismiss(scans: QueuedScan[]): Promise<void> {
  await write(['scans'], (stores) => Promise.all(scans.map(({ scan_id }) => stores.scans.delete(scan_id))));
  channel.postMessage('changed');
}

/** Puts a refused scan back among those that wait, for example after the user got the permission. */
export async function sendAgain({ result: _, ...scan }: QueuedScan): Promise<void> {
  await write(['scans'], (stores) => stores.scans.put({ ...scan, state: 'waiting' }));
  channel.postMessage('changed');
}

/** Calls back for every scan that the service answers, in whichever tab it was sent. */
export function onSettled(listener: (settled: Settled) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls back for every correction that the service has answered, in whichever tab it was sent. */
export function onCorrected(listener: (correction: Correction) => void): () => void {
  correctionListeners.add(listener);
  return () => correctionListeners.delete(listener);
}

function notifyCorrected(correction: Correction): void {
  for (const listener of correctionListeners) listener(correction);
}

/** Calls back when the service has changed its answers to earlier scans. */
export function onReviewed(listener: (review: Review) => void): () => void {
  reviewListeners.add(listener);
  return () => reviewListeners.delete(listener);
}

function notifyReviewed(review: Review): void {
  for (const listener of reviewListeners) listener(review);
}

function notify(settled: Settled): void {
  for (const listener of listeners) listener(settled);
}

type Store<Value> = {
  get(key: string): Promise<Value | undefined>;
  put(value: Value): Promise<unknown>;
  delete(key: string): Promise<void>;
};

type Stores = {
  scans: Store<QueuedScan>;
  corrections: Store<Correction>;
  labels: Store<UnprintedLabel>;
  recent: Store<Answered>;
};

/** A change may use only the stores that it names. */
async function write(
  names: readonly StoreName[],
  change: (stores: Stores) => Promise<unknown>,
): Promise<void> {
  try {
    const transaction = (await database()).transaction(names, 'readwrite', STRICT);
    const stores: Stores = {
      get scans() {
        return transaction.objectStore('scans');
      },
      get corrections() {
        return transaction.objectStore('corrections');
      },
      get labels() {
        return transaction.objectStore('labels');
      },
      get recent() {
        return transaction.objectStore('recent');
      },
    };
    await Promise.all([change(stores), transaction.done]);
    storageError.value = null;
  } catch (error) {
    storageError.value = textOfError(error);
    throw error;
  }
  await refresh(names);
}

const textOfError = (error: unknown) => (error instanceof Error ? error.message : String(error));
