// USPS: a label's barcode is the application identifier 420, the destination ZIP (5 or 9 digits), then the
// number the shipper was given, which begins with 9 and has 20, 22, 26 or 30 digits.
const USPS_WITH_ZIP = /^420(?:\d{9}|\d{5})(9\d{19}|9\d{21}|9\d{25}|9\d{29})$/;

// FedEx, 34 digits: routing and service data, then the tracking number in the last 14, filled up with zeros. Express
// labels begin with 0 to 8, ground labels with 96.
const FEDEX_34 = /^(?:[0-8]\d|96)\d{32}$/;

// Beginnings that are taken for FedEx's even where the check digit is wrong: FedEx's own test numbers have wrong ones.
const FEDEX_34_KNOWN = /^(?:96|10|11)/;

// FedEx, 32 digits, the older ASTRA label: it begins with 3, and 12 digits from offset 16 are the tracking number.
const FEDEX_32 = /^3\d{15}(\d{12})\d{4}$/;

/**
 * Returns what two spellings of one parcel share. A scanner reads the carrier's whole barcode while the customer was
 * sent the short number; both give the same key. Any other number is its own key, byte for byte. The SQL function
 * tracking_key_of has the same rule; a test compares the two.
 */
export function trackingKey(trackingNumber: string): string {
  const usps = USPS_WITH_ZIP.exec(trackingNumber)?.[1];
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

/** Weights 1, 3, 7 from the right, modulo 11, modulo 10: of 12 digits as of 14. */
function hasFedexCheckDigit(digits: string): boolean {
  const [check, ...others] = Array.from(digits, Number).reverse();
  const sum = others.reduce((total, digit, place) => total + digit * ([1, 3, 7][place % 3] ?? 0), 0);
  return (sum % 11) % 10 === check;
}
