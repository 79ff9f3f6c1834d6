import type { FailureCode } from './errors.js';

const CODES: readonly FailureCode[] = [
  'key_invalid',
  'service_token_invalid',
  'service_token_expired',
  'service_token_replaced',
  'service_token_revoked',
];

/** Whether a code says that an API key or a service token is wrong or has ended. Whoever sends it may not be its owner. */
export const isRefusedKey = (code: FailureCode): boolean => CODES.includes(code);
