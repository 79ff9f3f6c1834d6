export type { Batch, BatchOptions, BatchResult, Prealerts } from './batch.js';
export type { CallOptions } from './call.js';
export {
  CrossdockClient,
  CrossdockKeyClient,
  type BatchMethods,
  type ClientOptions,
  type KeyClientOptions,
  type TokenClientOptions,
} from './client.js';
export type { Download } from './download.js';
export * from './errors.js';
export { VERSION } from './generated/methods.js';
export type * from './generated/core/types.gen.js';
export type { AttemptReport, OnAttempt } from './hook.js';
export type { Listing } from './listing.js';
export { formatTime, parseTime } from './times.js';
export type { FileSource, Upload, Uploadable } from './upload.js';
export { verifyWebhook, type VerifyOptions, type WebhookEvent, type WebhookHeaders } from './webhooks.js';
