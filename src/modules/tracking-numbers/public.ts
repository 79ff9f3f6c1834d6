// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { maskTrackingNumber, maskedTrackingNumber, shownTrackingNumber } from './masking.js';
export { trackingKey } from './tracking-key.js';
