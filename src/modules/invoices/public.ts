// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export {
  airFreightUsd,
  courierTiers,
  gapsAsJson,
  groupPackages,
  receivedInPeriod,
  sumGroups,
  tierLabel,
  weightBand,
  type GapsRow,
  type Period,
} from './fee-calculation.js';
