// What was measured of a parcel, and whether that is plausible. Without the DOM.
import { isScaleText, readWeight } from '../scanner/scale.js';

export type Measures = { weight: string; length: string; width: string; height: string };
export type MeasureName = keyof Measures;

export const NO_MEASURES: Measures = { weight: '', length: '', width: '', height: '' };
export const MEASURE_NAMES = ['weight', 'length', 'width', 'height'] as const;

export type ReadMeasures = { weight: number; length?: number; width?: number; height?: number };

const MAX_WEIGHT_LB = 99_999.999;
const WEIGHT_DECIMALS = 3;
const MAX_LENGTH_IN = 9_999.99;

/** Returns the numbers, or the names of the fields that are not acceptable. A decimal comma is accepted, and a weight in kg or oz. */
export function readMeasures(typed: Measures): { measures: ReadMeasures } | { wrong: MeasureName[] } {
  const read = MEASURE_NAMES.map((name) => [name, readMeasure(name, typed[name])] as const);
  const wrong = read
    .filter(([name, value]) => (typed[name].trim() === '' ? name === 'weight' : value === undefined))
    .map(([name]) => name);
  if (wrong.length > 0) return { wrong };
  // The weight is one of them, because an empty weight is wrong.
  const entries = read.filter(([, value]) => value !== undefined);
  return { measures: Object.fromEntries(entries) as ReadMeasures };
}

function readMeasure(name: MeasureName, text: string): number | undefined {
  return name === 'weight' ? readPounds(text) : readInches(text);
}

function readPounds(text: string): number | undefined {
  const read = readWeight(text);
  if (!read || (!read.unit && read.decimals > WEIGHT_DECIMALS)) return undefined;
  return read.pounds > 0 && read.pounds <= MAX_WEIGHT_LB ? read.pounds : undefined;
}

function readInches(text: string): number | undefined {
  if (!/^\d+([.,]\d{1,2})?$/.test(text.trim())) return undefined;
  const value = Number(text.trim().replace(',', '.'));
  return value > 0 && value <= MAX_LENGTH_IN ? value : undefined;
}

/** Returns the weight in lb if the text has another unit, so that the page can show it. */
export function convertedPounds(text: string): number | undefined {
  const read = readWeight(text);
  return read?.unit && !['lb', 'lbs', '#'].includes(read.unit) ? read.pounds : undefined;
}

/** Why a person must confirm a weight. */
export type Doubt =
  /** It has as many digits as a barcode, and neither decimals nor a unit. */
  | 'barcode'
  /** It is above the limit of the warehouse. */
  | 'heavy'
  /** The parcel would be heavier than one of solid aluminium. */
  | 'dense'
  /** The parcel would be lighter than the air in it. */
  | 'light';

const BARCODE_DIGITS = 4;
const DENSEST_LB_PER_CUBIC_INCH = 0.1;
const LIGHTEST_LB_PER_CUBIC_INCH = 0.000_043;

/** Returns why the weight is not plausible, or undefined. */
export function doubtOf(typed: Measures, measures: ReadMeasures, limitLb: number): Doubt | undefined {
  const { weight, length, width, height } = measures;
  const digits = typed.weight.trim();
  if (!isScaleText(digits) && new RegExp(`^\\d{${BARCODE_DIGITS},}$`).test(digits)) return 'barcode';
  if (weight > limitLb) return 'heavy';
  if (!length || !width || !height) return undefined;
  const density = weight / (length * width * height);
  if (density > DENSEST_LB_PER_CUBIC_INCH) return 'dense';
  return density < LIGHTEST_LB_PER_CUBIC_INCH ? 'light' : undefined;
}

/** Returns whether a text in the field of the weight can only be a code. It has letters, and the length of one. */
export const isCodeText = (text: string): boolean =>
  /^(?=.*[A-Z])[A-Z0-9-]{6,}$/i.test(text.trim()) && /\d/.test(text) && !readWeight(text);

/** Returns whether a code is behind the weight that a person has typed: the scanner was too slow to be noticed. */
export const holdsCode = (text: string): boolean =>
  !readWeight(text) && /[A-Z0-9-]{8,}$/i.test(text.trim()) && /\d/.test(text);
