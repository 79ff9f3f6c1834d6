// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { customerRequests, isOtherMethod } from './sync/fetch-customers.js';
export { makeResponseReader, type ResponseReader } from './sync/sync-reader.js';
export type { ReadableResponse } from './sync/sync-response.js';
