import { ApiError } from '../errors/errors.js';
import { makeAmounts, type AmountLimits, type Holder } from './shared/amounts.js';

/** A part of a space that is limited for each holder, each tenant and the process. */
export type Space = {
  /** Takes bytes. @throws ApiError overloaded if this holder, its tenant, or all together have too much */
  take(bytes: number): void;
  /** Gives everything back that was taken. */
  free(): void;
};

export type SpaceLimits = AmountLimits & { retryAfterSeconds: number };

/** Limits the bytes that exist at the same time in this process. Without it, one caller could fill the memory for all. */
export function makeByteSpace({ retryAfterSeconds, ...limits }: SpaceLimits) {
  const amounts = makeAmounts(limits);

  return (holder: Holder): Space => {
    let taken = 0;
    return {
      take(bytes) {
        if (!amounts.take(holder, bytes)) throw new ApiError('overloaded', { retryAfterSeconds });
        taken += bytes;
      },
      free() {
        amounts.give(holder, taken);
        taken = 0;
      },
    };
  };
}
