import { ApiError } from '../errors/errors.js';
import { TENANT_SHARE, type Holder } from './shared/amounts.js';
import type { Allotment, SharedLimits } from './shared/shared-limits.js';

const MIB = 1024 * 1024;
/** Half of the /tmp that the files of deploy/ give to a server. */
const MAX_BYTES = 256 * MIB;
/** Three of the largest files. */
const MAX_BYTES_OF_HOLDER = 32 * MIB;
/** An upload that stalls ends within fifteen seconds. */
const RETRY_AFTER_SECONDS = 5;

/** The disk space of the uploaded files of a request. */
export type SpoolSpace = {
  /**
   * Takes bytes, first those that were declared. Resolves when all that was asked for so far is taken. Rejects with ApiError overloaded
   * if the files of this holder, of its tenant or of all holders take too much.
   */
  take(bytes: number): Promise<void>;
  /** To be called when the files are deleted. */
  free(): void;
};

/**
 * Limits the bytes of uploaded files that are on disk at the same time in this server, for the files that stall and those that wait
 * for their turn. Otherwise one courier could fill the disk for all.
 */
export const openDisk = (limits: SharedLimits): Allotment =>
  limits.allotment('disk', {
    perHolder: MAX_BYTES_OF_HOLDER,
    perTenant: MAX_BYTES * TENANT_SHARE,
    total: MAX_BYTES,
  });

/** Takes the bytes that are declared at once: files that begin together would otherwise all be refused, each after some of its bytes. */
export function openSpoolSpace(disk: Allotment, holder: Holder, declaredBytes: number): SpoolSpace {
  let asked = declaredBytes;
  let held = 0;
  let used = 0;
  let isFree = false;

  async function reserve(bytes: number): Promise<void> {
    if (!(await disk.take(holder, bytes)))
      throw new ApiError('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    // The files may have been deleted meanwhile.
    if (isFree) disk.give(holder, bytes);
    else held += bytes;
  }

  let reserved = declaredBytes > 0 ? reserve(declaredBytes) : Promise.resolve();
  return {
    async take(bytes) {
      used += bytes;
      const missing = used - asked;
      if (missing > 0) {
        asked += missing;
        reserved = Promise.all([reserved, reserve(missing)]).then(() => undefined);
      }
      await reserved;
    },
    free() {
      isFree = true;
      if (held > 0) disk.give(holder, held);
      held = 0;
    },
  };
}
