// What other modules may use of this one. test/contract/architecture.test.ts refuses any other import.
export { announceChange, claimPackage, type Claim } from './claim/claim.js';
export { CARRIED, type PackageStatus } from './events/transitions.js';
export { fieldsOf, listErrors, notFound } from './shared/batch.js';
