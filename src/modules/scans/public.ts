// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { isGatedByWarehouse } from './loading/queries.js';
export { readAllLoaded, readOpenLoad } from './loading/read-loading.js';
export { executeBatch } from './batch/execute-batch.js';
export { executeWaitingScans } from './batch/execute-parcels.js';
