// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export {
  bandOf,
  bandsOf,
  cutsOf,
  gapsBetween,
  tiersOfCourier,
  tiersOfEachCourier,
  gapWarning as wordGap,
  type Gap,
} from './tiers.js';
