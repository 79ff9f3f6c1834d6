// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { maskTrackingNumber, maskedTrackingNumber, shownTrackingNumber } from './masking.js';
export { hasDroppedPart } from './dropped-parts.js';
export { warnOfLikeNumber } from './like-number.js';
export { notOneNumber, readNumber, whyNotOneNumber } from './read-scan.js';
export type { Candidate } from './reader/candidates.js';
export { readScan, type ScanReading } from './read-scan.js';
export type { ScannedNumber } from './scanned-number.js';
export { warnOfUnlikelyNumber, type UnlikelyNumber } from './unlikely-number.js';
export {
  keyIn,
  keyInColumn,
  keyOfStored,
  keysOfStored,
  orderedByKey,
  ownOrAll,
  type StoredNumber,
} from './stored-keys.js';
