// What other modules may use of this one. test/contract/architecture.test.ts refuses any other import.
export {
  bandOf,
  bandsOf,
  cutsOf,
  gapsBetween,
  tiersOfCourier,
  tiersOfEachCourier,
  wordGap,
  type Gap,
} from './tiers.js';
