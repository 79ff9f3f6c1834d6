// Where the servers of test runs have their data: in memory if there is plenty, because each test file clones a database of 600
// files. On a disk a clone takes half a second, in memory a tenth of that.
import { createHash } from 'node:crypto';
import { mkdirSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../../dist/src/config/project-root.js';

const ON_DISK = join(projectRoot, '.data', 'test');
/** A file system in memory that Linux mounts for POSIX shared memory. Containers often have only 64 MiB of it. */
const SHARED_MEMORY = '/dev/shm';
/** The data of a whole run is below 2 GiB. */
const NEEDED_BYTES = 4 * 1024 ** 3;
/** For the test processes as well. */
const NEEDED_MEMORY_BYTES = 8 * 1024 ** 3;

// One folder per project folder, so that a run finds what dead runs left behind.
const IN_MEMORY = join(
  SHARED_MEMORY,
  `crossdock-test-${createHash('sha256').update(projectRoot).digest('hex').slice(0, 12)}`,
);

/** The folder for the servers of new runs. */
export const chooseFolder = () => (hasMemory() ? IN_MEMORY : ON_DISK);

/** Creates both folders if possible, and returns them: either may contain servers of dead runs. */
export function openFolders() {
  mkdirSync(ON_DISK, { recursive: true });
  if (!hasMemory()) return [ON_DISK];
  mkdirSync(IN_MEMORY, { recursive: true });
  return [IN_MEMORY, ON_DISK];
}

function hasMemory() {
  if (Math.min(freemem(), process.constrainedMemory() || Infinity) < NEEDED_MEMORY_BYTES) return false;
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize >= NEEDED_BYTES;
  } catch {
    // There is none, as on macOS.
    return false;
  }
}
