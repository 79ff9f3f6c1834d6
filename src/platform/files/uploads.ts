import { makeKeyedLimiter, type KeyedLimiter } from '../concurrency/keyed-limiter.js';
import { UUID } from '../contract/validator.js';
import { invalidFieldError } from '../errors/errors.js';
import type { UserCaller } from '../identity/callers.js';

/**
 * Returns the limiter that all uploads of rows in a process share. An upload uses a connection for seconds and holds a
 * file's rows in memory. A second one of the same courier would only wait with its connection.
 */
export const makeUploadLimiter = (): KeyedLimiter =>
  makeKeyedLimiter({ concurrency: 2, maxWaiting: 16, maxWaitMs: 10_000, retryAfterSeconds: 5 });

/**
 * Returns the courier that an upload is for: the caller's own, or the one that staff have given.
 * @throws ApiError validation_failed
 */
export function courierOfUpload(caller: UserCaller, target = ''): string {
  if (caller.courierId) return caller.courierId;
  if (target === '') throw invalidFieldError('target_courier_id', 'required_for_staff');
  if (!UUID.test(target)) throw invalidFieldError('target_courier_id', 'invalid_uuid');
  // The schema accepts any text, because it is ignored for couriers. It is therefore validated here.
  return target.toLowerCase();
}
