// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { notifyCourierOfClaim, claimPackage, type Claim } from './claim/claim.js';
export { recordMoves, recordPackageEvent } from './events/record.js';
export type { Move } from './events/record-queries.js';
export { MANIFEST_STATUS_EFFECTS, statusAfter, SUSPENDED, type PackageStatus } from './events/transitions.js';
export { isHouseNumber } from './intake/house-number.js';
export {
  chooseParcel,
  decideParcel,
  severalParcels,
  needsRecords,
  selectKnown,
  whyNoParcel,
  type KnownRow,
  type ScannedParcel,
} from './intake/identify-parcel.js';
export { isUnderReview } from './intake/ownership.js';
export { deleteParcelFlags } from './intake/prealert-queries.js';
export { selectNamesakes, type Namesake } from './intake/namesakes.js';
export { lockLooked } from './intake/lock-identified.js';
export {
  receivePackage,
  receiveParcel,
  rescanPackage,
  type IdentifiedIntake,
  type Intake,
} from './intake/intake.js';
export {
  findReferences,
  readReferences,
  unknownUserCode,
  type ReferencedRecords,
} from './intake/referenced-records.js';
export { assertAllExist, fieldsByPackageId, listErrors } from './shared/batch.js';
export { isOldInWarehouse } from './list/filters.js';
export { replaceReceipt } from './update/replace-receipt.js';
export { indexKnown, indexNamesakes } from './intake/known-rows.js';
export { updatePackage } from './update/update.js';
