// What other modules may use of this one. test/contract/architecture.test.ts refuses any other import.
export { makeLogoPrinter, type KeptLogo, type LogoPrinter } from './logo/logo.js';
export { ensureWebhookSecret, signingSecrets } from './settings/webhook-secret.js';
export { placeOf } from './shared/context.js';
