// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
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
