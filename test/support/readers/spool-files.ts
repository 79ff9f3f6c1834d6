import { readdirSync, statSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Of this process only, because other tests run in parallel. */
const isOurs = (name: string): boolean => name.startsWith(`crossdock-${process.pid}-`);

/** Returns the names of the files of uploads that are on disk. */
export const spoolFiles = (): string[] => readdirSync(tmpdir()).filter(isOurs);

/** Returns the sizes of these files. */
export const spooledSizes = (): number[] =>
  spoolFiles().map((name) => statSync(join(tmpdir(), name), { throwIfNoEntry: false })?.size ?? 0);

/** Collects the names of the files of uploads that are created or deleted from now on. */
export function watchSpoolFiles(): { names: string[]; stop(): void } {
  const names: string[] = [];
  const watcher = watch(tmpdir(), (_event, name) => {
    if (name !== null && isOurs(name)) names.push(name);
  });
  return { names, stop: () => watcher.close() };
}
