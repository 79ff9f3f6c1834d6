import { hasFedexCheckDigit } from './reader/fedex.js';
import { uspsNumberIn } from './reader/usps.js';

/** The barcodes below have only digits: 420 and a ZIP code with at least 20 more, or 32 or 34. */
const LABEL = /^\d{28,42}$/;

// FedEx barcode of 34 digits: routing and service data, then the tracking number in the last 14 digits,
// padded with zeros. Express labels begin with 0 to 8, ground labels with 96.
const FEDEX_34 = /^(?:[0-8]\d|96)\d{32}$/;

// Prefixes that identify a FedEx barcode even if the check digit is wrong, as in FedEx's own test numbers.
const FEDEX_34_KNOWN = /^(?:96|10|11)/;

// FedEx barcode of 32 digits (the older ASTRA label): it begins with 3, and the 12 digits from offset 16 are
// the tracking number.
const FEDEX_32 = /^3\d{15}(\d{12})\d{4}$/;

/**
 * Returns a key that is equal for the carrier's full barcode and the short number printed for the customer. Any other
 * number is returned unchanged. The SQL function tracking_key_of implements the same rule; a test compares the two.
 * parcelKey also removes what a scanner adds.
 */
export function trackingKey(trackingNumber: string): string {
  if (!LABEL.test(trackingNumber)) return trackingNumber;
  const usps = uspsNumberIn(trackingNumber);
  if (usps) return usps;
  if (FEDEX_34.test(trackingNumber)) return keyOfFedex34(trackingNumber);
  const astra = FEDEX_32.exec(trackingNumber)?.[1];
  return astra && hasFedexCheckDigit(astra) ? astra : trackingNumber;
}

function keyOfFedex34(label: string): string {
  const number = label.slice(-14);
  if (hasFedexCheckDigit(number)) return number.replace(/^00/, '');
  return FEDEX_34_KNOWN.test(label) ? number.slice(2) : label;
}
