// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { notifyCourierOfClaim, claimPackage, type Claim } from './claim/claim.js';
export { MANIFEST_STATUS_EFFECTS, type PackageStatus } from './events/transitions.js';
export { fieldsByPackageId, listErrors, packageNotFound } from './shared/batch.js';
