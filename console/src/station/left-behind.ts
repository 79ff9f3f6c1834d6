// A browser that is killed or closed takes the storage of its tabs with it. So the numbers that a tab has scanned and not received are
// kept on the device too, and the next page shows them to whoever works there.
import { effect } from '@preact/signals';
import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import { v4 } from 'uuid';
import { handOverScan, lockedScans } from '../session/locked-scans.js';
import { unreceivedNumbers } from './work.js';

type Left = { tab: string; numbers: string[] };
type Schema = DBSchema & { left: { key: string; value: Left } };

/** Of this tab, also after a reload. */
const NAME = 'crossdock-tab';
/** A tab holds the lock with its name for as long as it lives. */
const lockOf = (tab: string) => `${NAME}-${tab}`;

let isKeeping = false;

/** Keeps the numbers of this tab, and takes those of tabs that are gone. Browsers have no locks for pages without HTTPS, so these do not. */
export async function keepLeftBehind(): Promise<void> {
  if (isKeeping || !('locks' in navigator)) return;
  isKeeping = true;
  const db = await openDB<Schema>('crossdock-left', 1, {
    upgrade: (created) => void created.createObjectStore('left', { keyPath: 'tab' }),
  }).catch((error: unknown) => {
    // The next login tries again.
    isKeeping = false;
    throw error;
  });
  const tab = await holdTab();
  await navigator.locks.request('crossdock-left', () => takeOver(db, tab));
  effect(() => {
    const numbers = [...new Set([...unreceivedNumbers.value, ...lockedScans.value.map(({ text }) => text)])];
    // A disk that is full stores no scans either, and the page says so then.
    const written = numbers.length > 0 ? db.put('left', { tab, numbers }) : db.delete('left', tab);
    written.catch(() => undefined);
  });
}

/** Returns the name of this tab. The copy of a tab that lives gets a name of its own. */
async function holdTab(): Promise<string> {
  const known = sessionStorage.getItem(NAME);
  const tab = known !== null && (await hold(known)) ? known : v4();
  if (tab !== known) await hold(tab);
  sessionStorage.setItem(NAME, tab);
  return tab;
}

/** Holds the lock until the tab is gone. Returns whether it was free. */
const hold = (tab: string): Promise<boolean> =>
  new Promise((resolve) => {
    void navigator.locks.request(lockOf(tab), { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise(() => undefined);
    });
  });

async function takeOver(db: IDBPDatabase<Schema>, own: string): Promise<void> {
  const { held = [] } = await navigator.locks.query();
  const alive = new Set(held.map(({ name }) => name));
  for (const { tab, numbers } of await db.getAll('left')) {
    // The storage of this tab has what it had before a reload.
    if (tab === own || alive.has(lockOf(tab))) continue;
    for (const number of numbers) handOverScan(number);
    await db.delete('left', tab);
  }
}
