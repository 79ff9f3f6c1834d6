import { signal } from '@preact/signals';
import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import type { QueuedScan, ScanResult } from './scans.js';

type Schema = DBSchema & { scans: { key: string; value: QueuedScan } };

export type Settled = { scan: QueuedScan; result: ScanResult };

/** Every scan that is stored on this device, of all users. */
export const queue = signal<QueuedScan[]>([]);
/** Whether the disk was read. Before that, an empty queue says nothing. */
export const isQueueRead = signal(false);
/** Why scans cannot be stored, for example because the disk is full. */
export const storageError = signal<string | null>(null);

// A disk cache of the browser is not enough: a scan counts only when it survives the death of the process.
const STRICT = { durability: 'strict' } as const;

let opened: Promise<IDBPDatabase<Schema>> | undefined;
const channel = new BroadcastChannel('crossdock-queue');
const listeners = new Set<(settled: Settled) => void>();

channel.addEventListener('message', ({ data }: MessageEvent<Settled | 'changed'>) => {
  refresh().catch(() => undefined);
  if (data !== 'changed') notify(data);
});

function database(): Promise<IDBPDatabase<Schema>> {
  // Opened again after a failure, and after the browser has closed it, for example because site data were deleted.
  const close = () => (opened = undefined);
  opened ??= openDB<Schema>('crossdock-queue', 1, {
    upgrade: (db) => void db.createObjectStore('scans', { keyPath: 'scan_id' }),
    terminated: close,
  }).catch((error: unknown) => {
    close();
    throw error;
  });
  return opened;
}

/** Reads the queue again. Returns it. */
export async function refresh(): Promise<QueuedScan[]> {
  try {
    queue.value = await (await database()).getAll('scans');
  } catch (error) {
    storageError.value = textOfError(error);
    throw error;
  }
  isQueueRead.value = true;
  return queue.value;
}

/** Resolves when the scan is on the disk. */
export async function enqueue(scan: QueuedScan): Promise<void> {
  await write((store) => store.put(scan));
  channel.postMessage('changed');
}

/**
 * Stores what remains of sent scans, and tells all tabs. Executed scans are deleted first and on their own, because that also
 * succeeds on a full disk.
 */
export async function storeSettled(
  answers: (Settled & { remains: QueuedScan | undefined })[],
): Promise<void> {
  const executed = answers.filter(({ remains }) => !remains);
  if (executed.length > 0)
    await write((store) => Promise.all(executed.map(({ scan }) => store.delete(scan.scan_id))));
  announce(executed);
  const others = answers.filter(({ remains }) => remains);
  const kept = others.flatMap(({ remains }) => remains ?? []);
  if (kept.length > 0) await write((store) => Promise.all(kept.map((scan) => store.put(scan))));
  announce(others);
}

function announce(answers: Settled[]): void {
  for (const { scan, result } of answers) {
    notify({ scan, result });
    channel.postMessage({ scan, result } satisfies Settled);
  }
}

/** Removes scans that a person has seen. */
export async function dismiss(scans: QueuedScan[]): Promise<void> {
  await write((store) => Promise.all(scans.map(({ scan_id }) => store.delete(scan_id))));
  channel.postMessage('changed');
}

/** Puts a refused scan back among those that wait, for example after the user got the permission. */
export async function sendAgain({ result: _, ...scan }: QueuedScan): Promise<void> {
  await write((store) => store.put({ ...scan, state: 'waiting' }));
  channel.postMessage('changed');
}

/** Calls back for every scan that the service answers, in whichever tab it was sent. */
export function onSettled(listener: (settled: Settled) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(settled: Settled): void {
  for (const listener of listeners) listener(settled);
}

type Store = {
  put(scan: QueuedScan): Promise<unknown>;
  delete(scanId: string): Promise<void>;
};

async function write(change: (store: Store) => Promise<unknown>): Promise<void> {
  try {
    const transaction = (await database()).transaction('scans', 'readwrite', STRICT);
    await Promise.all([change(transaction.store), transaction.done]);
    storageError.value = null;
  } catch (error) {
    storageError.value = textOfError(error);
    throw error;
  }
  await refresh();
}

const textOfError = (error: unknown) => (error instanceof Error ? error.message : String(error));
