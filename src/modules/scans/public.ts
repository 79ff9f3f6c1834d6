// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export type { ScanMatches } from './find-matches.js';
export { resolveScan, type ScanResolution } from './resolve-scan.js';
export { isGatedByWarehouse } from './loading/queries.js';
export { readOpenLoad } from './loading/read-loading.js';
