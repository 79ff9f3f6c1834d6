import { readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../values/ids.js';

/** The name of an uploaded file: its process, and an id. */
const NAME = /^crossdock-(\d+)-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Longer than any request. A container that shares the folder has processes that this one does not see. */
const MAX_AGE_MS = 15 * 60_000;

export const newUploadPath = (): string => join(tmpdir(), `crossdock-${process.pid}-${newId()}`);

/** Deletes what a process has left that was killed, because it could not do so itself. Never rejects. */
export const removeUploadsOf = (pid: number): Promise<void> => removeUploads(async (owner) => owner === pid);

/**
 * Deletes the files of processes that no longer exist. To be called before this process takes uploads: files with its own number are of a
 * predecessor, as in a container, whose processes have the same numbers again. Never rejects.
 */
export const removeAbandonedUploads = (): Promise<void> =>
  removeUploads(async (owner, path) => owner === process.pid || (!isRunning(owner) && (await isOld(path))));

async function removeUploads(mayRemove: (owner: number, path: string) => Promise<boolean>): Promise<void> {
  // A folder that cannot be read is reported when the service starts.
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const [, owner] = NAME.exec(name) ?? [];
    if (owner === undefined) continue;
    const path = join(tmpdir(), name);
    // Another process may have deleted it, and a file of another user stays.
    if (await mayRemove(Number(owner), path)) await rm(path, { force: true }).catch(() => undefined);
  }
}

const isOld = (path: string): Promise<boolean> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > MAX_AGE_MS,
    () => false,
  );

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user may not be signalled.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
