// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export { makeLogoPrinter, pathOf, type LogoPrinter, type StoredLogo } from './logo/logo.js';
export type { MediaType } from './logo/picture.js';
export { PictureError } from './logo/picture-error.js';
export { readRaster } from './logo/picture.js';
export { newApiKey } from './settings/api-key.js';
export { ensureWebhookSecret, signingSecrets } from './settings/webhook-secret.js';
export { encryptionContext } from './shared/encryption.js';
export { endSandbox } from './shared/end-sandbox.js';
export { readableTypes } from './shared/event-types.js';
export { courierExists } from './shared/queries.js';
export { courierOfUpload, targetCourierId } from './shared/target-courier.js';
