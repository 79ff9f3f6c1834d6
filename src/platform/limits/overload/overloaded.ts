import { randomInt } from 'node:crypto';
import { ApiError } from '../../errors/errors.js';

/** At random, so that clients that were refused together do not come back together. */
const MIN_RETRY_SECONDS = 1;
const MAX_RETRY_SECONDS = 4;

export const overloaded = (): ApiError =>
  new ApiError('overloaded', { retryAfterSeconds: randomInt(MIN_RETRY_SECONDS, MAX_RETRY_SECONDS + 1) });
