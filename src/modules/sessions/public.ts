// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { beginSession, recordLoginNetwork, type Client } from './session.js';
export { removePinOf } from './pin.js';
export type { StartedBy } from './queries.js';
