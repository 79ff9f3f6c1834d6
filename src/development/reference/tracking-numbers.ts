import type { Carrier } from './companies.js';
import type { SeededRandom } from '../demo/values/seeded-random.js';

const MIAMI_ZIP = '33166';

/** Returns a number in the carrier's format with its check digit, as printed for the customer. */
export function shortNumber(carrier: Carrier, random: SeededRandom): string {
  switch (carrier) {
    case 'USPS':
      return withUspsCheck(random.pick(['9400111899', '9205590164', '9361289676']) + random.digits(11));
    case 'UPS':
      return `1Z${withUpsCheck(random.pick(['A17R92', '9V54E0', 'W8F331']) + random.pick(['01', '03', 'YW']) + random.digits(7))}`;
    case 'FedEx':
      return withFedexCheck(random.pick(['2', '4', '7']) + random.digits(10));
    case 'DHL Express':
      return withDhlCheck(random.pick(['1', '3', '5']) + random.digits(8));
    case 'Amazon Logistics':
      return `TBA${random.digits(12)}`;
    case 'OnTrac':
      return withUpsCheck(`C1${random.digits(12)}`);
  }
}

/** Returns the number as scanned from the label. Some barcodes of USPS and FedEx contain additional digits. */
export function scannedNumber(carrier: Carrier, short: string, random: SeededRandom): string {
  const isLong = random.whole(1, 3) === 1;
  if (isLong && carrier === 'USPS') return `420${MIAMI_ZIP}${short}`;
  if (isLong && carrier === 'FedEx') return `9622001${random.digits(13)}00${short}`;
  return short;
}

// Every second character counts twice.
export const withUpsCheck = (body: string) => body + toTen(weigh(body, (index) => (index % 2 === 0 ? 1 : 2)));

// 21 digits; from the right, every other digit counts three times.
export const withUspsCheck = (body: string) =>
  body + toTen(weigh(body, (index) => (index % 2 === 0 ? 3 : 1)));

// From the right, weights 1, 3 and 7, repeated. The remainder modulo 11, with 10 written as 0.
export const withFedexCheck = (body: string) =>
  body + ((weigh(body, (index) => [1, 3, 7][(body.length - 1 - index) % 3] ?? 0) % 11) % 10);

export const withDhlCheck = (body: string) => body + (Number(body) % 7);

function weigh(body: string, weight: (index: number) => number): number {
  return [...body].reduce((sum, character, index) => sum + digitValue(character) * weight(index), 0);
}

// UPS and OnTrac: the value of a letter is the last digit of its ASCII code minus 63.
const digitValue = (character: string) =>
  /\d/.test(character) ? Number(character) : (character.charCodeAt(0) - 63) % 10;

const toTen = (sum: number) => (10 - (sum % 10)) % 10;
