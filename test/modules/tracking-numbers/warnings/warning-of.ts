import {
  readNumber,
  warnOfUnlikelyNumber,
  type UnlikelyNumber,
} from '../../../../src/modules/tracking-numbers/public.js';

/** Returns the warning about a tracking number of a pre-alert, as it is sent. */
export function warningOf(sentNumber: string): UnlikelyNumber | undefined {
  const { text: trackingNumber, keys } = readNumber(sentNumber, 'TrackingNumber');
  return warnOfUnlikelyNumber({ sentNumber, trackingNumber, keys, userCode: 'IEX-1001' });
}
