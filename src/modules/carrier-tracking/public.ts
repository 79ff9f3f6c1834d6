// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export type { CarrierEvent, CarrierStatus, CarrierTracking } from './carrier-event.js';
export { hearOfParcel, parcelOf } from './hear.js';
export {
  HEARD,
  isBetween,
  joinHeard,
  missingPrealerts,
  settleDelivered,
  START,
  storeCarrier,
  unsettle,
  type MissingRow,
  type Place,
} from './queries.js';
