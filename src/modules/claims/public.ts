// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { giveParcel } from './review.js';
export { submitClaim } from './submit-claim.js';
