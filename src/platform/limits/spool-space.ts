import { ApiError } from '../errors/errors.js';

const MIB = 1024 * 1024;
/** Half of the /tmp that the files of deploy/ give to a process. */
const MAX_BYTES = 256 * MIB;
/** Three of the largest files. */
const MAX_BYTES_OF_HOLDER = 32 * MIB;
/** An upload that stalls ends within fifteen seconds. */
const RETRY_AFTER_SECONDS = 5;

/** The disk space of one uploaded file. */
export type Space = {
  /** @throws ApiError overloaded if this caller's files, or those of all callers, take too much */
  take(bytes: number): void;
  /** To be called when the file is deleted. */
  free(): void;
};

let used = 0;
const usedBy = new Map<string, number>();

/**
 * Limits the bytes of uploaded files that are on disk at the same time in this process, for the files that stall and those that wait
 * for their turn. Otherwise one courier could fill the disk for all.
 */
export function openSpace(holder: string): Space {
  let taken = 0;
  const add = (bytes: number) => {
    const ofHolder = (usedBy.get(holder) ?? 0) + bytes;
    if (ofHolder > 0) usedBy.set(holder, ofHolder);
    else usedBy.delete(holder);
    used += bytes;
    taken += bytes;
  };
  return {
    take(bytes) {
      if (used + bytes > MAX_BYTES || (usedBy.get(holder) ?? 0) + bytes > MAX_BYTES_OF_HOLDER)
        throw new ApiError('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS });
      add(bytes);
    },
    free: () => add(-taken),
  };
}
