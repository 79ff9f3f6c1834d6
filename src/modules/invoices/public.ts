// What other modules may use of this one. test/contract/architecture.test.ts refuses any other import.
export {
  GAPS,
  airFreightUsd,
  bandIn,
  bandsAndCuts,
  heapsOf,
  received,
  sumsOfHeaps,
  tierLabel,
  type Gaps,
  type Period,
} from './period.js';
