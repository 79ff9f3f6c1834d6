// Our own: proper-lockfile considers a lock stale by its age. This one checks whether the owning process is alive.
import { randomUUID } from 'node:crypto';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { orIf } from './location.js';
import { identify, isAlive, POLL_MS, readIfPresent } from './process.js';

const LOCK_LIMIT_MS = 60_000;

/** Runs `work` with the lock of the cluster in `home`. The lock of a process that has ended is ignored. */
export async function withLock<T>(home: string, work: () => Promise<T>): Promise<T> {
  const lock = join(home, 'start.lock');
  const mine = `${lock}.${randomUUID()}`;
  await writeFile(mine, await identify());
  try {
    await acquire(lock, mine);
  } finally {
    await rm(mine);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** Creates the lock as a hard link, which appears with its content. A file created with `wx` is empty at first. */
async function acquire(lock: string, mine: string): Promise<void> {
  const deadlineMs = performance.now() + LOCK_LIMIT_MS;
  while (!(await linkIfFree(mine, lock))) {
    const holder = await readIfPresent(lock);
    if (holder !== '' && !(await isAlive(holder))) await discardStale(lock, holder, `${mine}.stale`);
    else if (performance.now() > deadlineMs)
      throw new Error(`Process ${holder} holds ${lock} for too long. End it.`);
    else await sleep(POLL_MS);
  }
}

const linkIfFree = (from: string, to: string): Promise<boolean> =>
  link(from, to).then(() => true, orIf(false, 'EEXIST'));

/** Moves the lock aside and reads it again, because another process may have replaced it since we read it. */
async function discardStale(lock: string, holder: string, aside: string): Promise<void> {
  const isMoved = await rename(lock, aside).then(() => true, orIf(false, 'ENOENT'));
  if (!isMoved) return;
  if ((await readIfPresent(aside)) !== holder) await linkIfFree(aside, lock);
  await rm(aside);
}
