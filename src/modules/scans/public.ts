// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { isGatedByWarehouse } from './loading/queries.js';
export { readAllLoaded, readOpenLoad } from './loading/read-loading.js';
