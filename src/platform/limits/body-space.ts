import { makeByteSpace } from './byte-space.js';
import { TENANT_SHARE } from './shared/amounts.js';

const MIB = 1024 * 1024;
/** A parsed body takes up to four times as much, which is half of the memory that the files of deploy/ give to a process. */
const MAX_BYTES = 128 * MIB;
/** Four of the largest bodies of lines, or sixteen of the largest others. */
const MAX_BYTES_OF_CALLER = 16 * MIB;

/** Limits the large bodies in memory: those that arrive slowly, those that wait for their turn and those of requests in progress. */
export const openBodySpace = makeByteSpace({
  total: MAX_BYTES,
  perTenant: MAX_BYTES * TENANT_SHARE,
  perHolder: MAX_BYTES_OF_CALLER,
  retryAfterSeconds: 2,
});

/**
 * For callers without a credential, who could otherwise announce bodies in the name of any tenant, and hold the space of its couriers.
 * No request of theirs needs a large body.
 */
export const openStrangersBodySpace = makeByteSpace({
  total: 8 * MIB,
  perHolder: MIB / 4,
  retryAfterSeconds: 2,
});
