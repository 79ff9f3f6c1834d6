// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export {
  GAPS,
  airFreightUsd,
  bandIn,
  bandsAndCuts,
  groupPackages as heapsOf,
  received,
  sumGroups as sumsOfHeaps,
  tierLabel,
  type Gaps,
  type Period,
} from './period.js';
