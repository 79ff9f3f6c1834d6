// Weights as people type them and scales send them. Without the DOM.

const LB_PER_KG = 2.204_622_621_848_776;
const UNITS: Record<string, number> = {
  lb: 1,
  lbs: 1,
  '#': 1,
  kg: LB_PER_KG,
  kgs: LB_PER_KG,
  g: LB_PER_KG / 1000,
  oz: 1 / 16,
};

/** Stable, net or gross: what scales write before the weight, for example `ST,GS,+  12.35kg` or `N 12.35 lb`. */
const MARKS = String.raw`(?:(?:ST|GS|NT|G|N|W|S S|S)[\s,:]+)*`;
const WEIGHT = new RegExp(
  String.raw`^${MARKS}[+]?\s*(\d{1,8})(?:([.,])(\d{1,4}))?\s*(lbs?|kgs?|oz|g|#)?$`,
  'i',
);
/** Unstable, dynamic or overloaded, or a weight below zero: what a scale writes that still moves, or whose zero is wrong. */
const UNSETTLED = new RegExp(
  String.raw`^(?:(?:US|S D|OL)[\s,:]+${MARKS}[-+]?|${MARKS}-)\s*\d{1,8}(?:[.,]\d{1,4})?\s*(?:lbs?|kgs?|oz|g|#)$`,
  'i',
);

export type ReadWeight = {
  /** In lb, at most 3 decimals. */
  pounds: number;
  /** The number as it was typed, and its unit if it has one. */
  value: number;
  unit: string | undefined;
  decimals: number;
};

/** Returns the weight that the text is, or undefined. */
export function readWeight(text: string): ReadWeight | undefined {
  const [matched, whole = '', , decimals = '', named] = WEIGHT.exec(text.trim()) ?? [];
  if (matched === undefined) return undefined;
  const unit = named?.toLowerCase();
  const value = Number(`${whole}.${decimals || '0'}`);
  const pounds = Math.round(value * (UNITS[unit ?? 'lb'] ?? 1) * 1000) / 1000;
  return { pounds, value, unit, decimals: decimals.length };
}

/**
 * Returns whether a burst of keys is a weight. A barcode has neither a decimal point nor a unit behind its digits, and more than three
 * digits: a plain number of up to three digits is a weight, a longer one is a barcode.
 */
export function isScaleText(text: string): boolean {
  if (isUnsettled(text)) return true;
  const read = readWeight(text);
  if (!read) return false;
  return read.decimals > 0 || read.unit !== undefined || /^\d{1,3}$/.test(text.trim());
}

/** Whether a scale says that its weight is none yet. */
export const isUnsettled = (text: string): boolean => UNSETTLED.test(text.trim());

/** Whether a text comes from a scale: no number of a parcel has a unit or decimals. */
export function isWeightText(text: string): boolean {
  if (isUnsettled(text)) return true;
  const read = readWeight(text);
  return read !== undefined && (read.decimals > 0 || read.unit !== undefined);
}
