// USPS: a label's barcode is the application identifier 420, the destination ZIP (5 or 9 digits), then the
// number the shipper was given, which begins with 9 and has 20, 22, 26 or 30 digits.
const USPS_WITH_ZIP = /^420(?:\d{9}|\d{5})(9\d{19}|9\d{21}|9\d{25}|9\d{29})$/;

// FedEx: the 34-digit label carries routing and service data before the 12-digit tracking number at its end.
const FEDEX_34_DIGITS = /^(?:96|10)\d{20}(\d{12})$/;

/**
 * What two spellings of one parcel share. A scanner reads the carrier's whole barcode while the customer was
 * sent the short number; both give the same key. Any other number is its own key, byte for byte.
 */
export function trackingKey(trackingNumber: string): string {
  const match = USPS_WITH_ZIP.exec(trackingNumber) ?? FEDEX_34_DIGITS.exec(trackingNumber);
  return match?.[1] ?? trackingNumber;
}
