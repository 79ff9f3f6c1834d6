// What is printed beside the number of a parcel, and is equal on many parcels.

import { findCandidates } from './candidates.js';
import type { Element } from './noise.js';

/** GS1's application identifier of the destination's ZIP code, alone in its symbol on labels of UPS and others, or as a person types it. */
const ZIP_CODE = /^420\W?\d{5}(?:\W?\d{4})?$/;

/**
 * Constants of matrix codes: the header of ISO/IEC 15434 (`[)>`, without its bracket) with its format, and the codes of UPS
 * (MaxiCode) and FedEx (PDF417).
 */
const CONSTANT = /^(?:\[>(?:\d\d)?|UPSN|FD(?:E[BG]?|XG?))$/;

const isSymbol = (folded: string): boolean => ZIP_CODE.test(folded) || CONSTANT.test(folded);

/** What a scanner, or a person, puts between symbols in one text. */
const BETWEEN_SYMBOLS = /[^0-9A-Z]+/;

/** Returns whether an element is no number of a parcel: such a symbol, or several of them. */
export const isIncidental = ({ text, folded }: Element): boolean =>
  isSymbol(folded) || text.toUpperCase().split(BETWEEN_SYMBOLS).every(isSymbol);

/**
 * The same for the only element of a scan. FedEx's 12 digits can begin with 420: then their check digit decides. Purolator's does
 * not, because every tenth ZIP code has it.
 */
export const isNoNumber = (element: Element): boolean =>
  isIncidental(element) && !findCandidates(element.folded).some(({ carrier }) => carrier === 'fedex');

const UPS_SERIAL = /^1Z(\d{8})$/;
const UPS_SHIPPER = /^[0-9A-Z]{6}$/;
const UPS_CLASS = /^\d?(\d{2})$/;

/**
 * Returns the number in UPS's MaxiCode, whose parts are separate elements: the class of service, 1Z with the last 8 digits, UPSN,
 * and the shipper. Its check digit must be right.
 */
export function upsNumberIn(elements: string[]): string | undefined {
  const at = elements.indexOf('UPSN');
  if (at < 2) return undefined;
  const [service] = UPS_CLASS.exec(elements[at - 2] ?? '')?.slice(1) ?? [];
  const [serial] = UPS_SERIAL.exec(elements[at - 1] ?? '')?.slice(1) ?? [];
  const shipper = elements[at + 1] ?? '';
  if (service === undefined || serial === undefined || !UPS_SHIPPER.test(shipper)) return undefined;
  const number = `1Z${shipper}${service}${serial}`;
  return findCandidates(number).some(({ check }) => check === 'valid') ? number : undefined;
}
