// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { countOpenTokensOf } from './queries.js';
export { DEFAULT_DAYS, SCOPES_OF_COURIERS, storedToken } from './stored-token.js';
