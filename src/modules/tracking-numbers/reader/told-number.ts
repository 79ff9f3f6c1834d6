import type { Groups } from './formats.js';

type Barcode = { groups: Groups; number: string };

const serialAndCheck = ({ groups }: Barcode): string =>
  `${groups['SerialNumber'] ?? ''}${groups['CheckDigit'] ?? ''}`;

/** FedEx pads its 12 digits to 14 with zeros. */
const withoutPadding = (barcode: Barcode): string => serialAndCheck(barcode).replace(/^00/, '');

/** The barcodes that contain more than the tracking number. */
const EMBEDDED: Record<string, (barcode: Barcode) => string> = {
  fedex_34: withoutPadding,
  fedex_ground_gsn: withoutPadding,
  fedex_astra_32: serialAndCheck,
  // The destination's ZIP code has 7 digits; service, country and check character follow the number.
  dpd: ({ number }) => number.slice(7, 21),
};

/** Returns the number that the customer was told. Most barcodes contain nothing else. */
export function toldNumber(format: string, barcode: Barcode): string {
  const embedded = EMBEDDED[format];
  if (embedded) return embedded(barcode);
  // USPS puts 420 and the destination's ZIP code in front of the number.
  return barcode.groups['RoutingApplicationId'] === undefined ? barcode.number : serialAndCheck(barcode);
}

/** Returns the shorter numbers that a label may contain as well, each with the format that verifies it. */
export function innerNumbers(format: string, number: string): { format: string; text: string }[] {
  switch (format) {
    case 'fedex_34':
    case 'fedex_ground_gsn':
      return [{ format: 'fedex_12', text: number.slice(-12) }];
    case 'fedex_ground_96':
      return [{ format: 'fedex_ground', text: number.slice(-15) }];
    default:
      return [];
  }
}
