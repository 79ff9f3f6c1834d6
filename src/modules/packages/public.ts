// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { notifyCourierOfClaim as announceChange, claimPackage, type Claim } from './claim/claim.js';
export { MANIFEST_STATUS_EFFECTS as CARRIED, type PackageStatus } from './events/transitions.js';
export { fieldsByPackageId as fieldsOf, listErrors, packageNotFound as notFound, type Refusal } from './shared/batch.js';
