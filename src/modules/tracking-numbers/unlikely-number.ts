export type UnlikelyNumber = { code: 'unlikely_number'; message: string };

/**
 * Returns the warning about a text that is stored as a tracking number and is most likely none: `N/A`, `TBD`, or the customer's code.
 * Undefined for others. It is not refused, because carriers without a known format may have any number (decision 0115).
 */
export function warnOfUnlikelyNumber({
  trackingNumber,
  userCode,
}: {
  trackingNumber: string;
  userCode: string;
}): UnlikelyNumber | undefined {
  const hasDigit = /\p{Nd}/u.test(trackingNumber);
  if (hasDigit && folded(trackingNumber) !== folded(userCode)) return undefined;
  const reason = hasDigit ? "is the customer's code" : 'has no digit';
  const message = `The tracking number ${trackingNumber} ${reason}, so no parcel is likely to have it. If it stands for a number that you do not know yet, delete the pre-alert, and announce the parcel with its number.`;
  return { code: 'unlikely_number', message };
}

/** As two spellings of one number are compared. */
const folded = (text: string): string => text.toUpperCase().replace(/[\s-]/g, '');
