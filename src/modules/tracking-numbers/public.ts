// What other modules may use of this one. test/contract/architecture.test.ts refuses any other import.
export { maskTrackingNumber, maskedTrackingNumber, shownTrackingNumber } from './masking.js';
export { trackingKey } from './tracking-key.js';
