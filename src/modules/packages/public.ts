// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { announceChange, claimPackage, type Claim } from './claim/claim.js';
export { CARRIED, type PackageStatus } from './events/transitions.js';
export { fieldsOf, listErrors, notFound, type Refusal } from './shared/batch.js';
