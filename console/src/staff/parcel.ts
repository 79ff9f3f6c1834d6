// A parcel on the scale: what was scanned, whose it is, and what was measured. Without the DOM.

export type Measures = { weight: string; length: string; width: string; height: string };

export const NO_MEASURES: Measures = { weight: '', length: '', width: '', height: '' };

export type ReadMeasures = { weight: number; length?: number; width?: number; height?: number };

const LIMITS: Record<keyof Measures, { max: number; decimals: number }> = {
  weight: { max: 99_999.999, decimals: 3 },
  length: { max: 9_999.99, decimals: 2 },
  width: { max: 9_999.99, decimals: 2 },
  height: { max: 9_999.99, decimals: 2 },
};

/** Returns the numbers, or the names of the fields that are not acceptable. A decimal comma is accepted. */
export function readMeasures(typed: Measures): { measures: ReadMeasures } | { wrong: (keyof Measures)[] } {
  const names = ['weight', 'length', 'width', 'height'] as const;
  const wrong = names.filter((name) =>
    typed[name].trim() === '' ? name === 'weight' : !isMeasure(name, typed[name]),
  );
  if (wrong.length > 0) return { wrong };
  const entries = names
    .filter((name) => typed[name].trim() !== '')
    .map((name) => [name, toNumber(typed[name])]);
  // The weight is one of them, because an empty weight is wrong.
  return { measures: Object.fromEntries(entries) as ReadMeasures };
}

function isMeasure(name: keyof Measures, text: string): boolean {
  const { max, decimals } = LIMITS[name];
  if (!new RegExp(`^\\d+([.,]\\d{1,${decimals}})?$`).test(text.trim())) return false;
  const value = toNumber(text);
  return value > 0 && value <= max;
}

const toNumber = (text: string) => Number(text.trim().replace(',', '.'));
