import type { PackageDetail, PackageUpdate } from '../../../../../sdk/typescript/src/index.js';
import { t } from '../../../texts/texts.js';

const TEXTS = [
  'tracking_number',
  'user_code',
  'first_name',
  'last_name',
  'package_type',
  'shipper',
  'description',
] as const;
const MEASURES = ['weight', 'length', 'width', 'height'] as const;
const NAMES = [...TEXTS, ...MEASURES];

type Name = (typeof NAMES)[number];
type Values = Record<Name, string>;

/** A changed field, as the person has typed it. */
export type Difference = { name: Name; before: string; after: string };

/** Returns the fields of a parcel as a form shows them. Unknown ones are empty. */
export const valuesOf = (parcel: PackageDetail): Values =>
  // Each name has a value.
  Object.fromEntries(NAMES.map((name) => [name, String(parcel[name] ?? '')])) as Values;

const isMeasure = (name: Name): boolean => (MEASURES as readonly string[]).includes(name);

/** Both the point and the comma separate decimals. */
const numberOf = (text: string): number => Number(text.trim().replace(',', '.'));

/** Returns what the person has changed. A measure that is written in another way is the same. */
export const differencesOf = (before: Values, after: Values): Difference[] =>
  NAMES.map((name) => ({ name, before: before[name], after: after[name].trim() })).filter((field) =>
    isMeasure(field.name) && field.before !== '' && field.after !== ''
      ? numberOf(field.before) !== numberOf(field.after)
      : field.before !== field.after,
  );

type Fields = Omit<PackageUpdate, 'package_id'>;

/** Returns the request of the changes. @throws Error with a text for people, if a measure is no number */
export function requestOf(differences: Difference[]): Fields {
  for (const { name, before, after } of differences) {
    if (!isMeasure(name)) continue;
    if (after === '' && before !== '') throw new Error(t('parcel.measureKept'));
    if (!(numberOf(after) > 0)) throw new Error(t('parcel.measureWrong'));
  }
  return Object.fromEntries(
    differences.map(({ name, after }) => [name, isMeasure(name) ? numberOf(after) : after]),
  );
}

/**
 * Returns the request that leads back, or undefined if none does: a number and an owner also change announcements, and a measure cannot
 * be removed.
 */
export function undoOf(differences: Difference[]): Fields | undefined {
  const isFinal = differences.some(
    ({ name, before }) =>
      name === 'tracking_number' || name === 'user_code' || (isMeasure(name) && before === ''),
  );
  if (isFinal) return undefined;
  return requestOf(differences.map(({ name, before, after }) => ({ name, before: after, after: before })));
}

/** Returns what follows from the changes, in words. */
export function effectsOf(differences: Difference[], { courier_id, bill }: PackageDetail): string[] {
  const names = new Set(differences.map(({ name }) => name));
  const owner = differences.find(({ name }) => name === 'user_code');
  return [
    ...(names.has('tracking_number') ? [t('parcelEditEffect.number')] : []),
    ...(owner ? [t(owner.after === '' ? 'parcelEditEffect.noOwner' : 'parcelEditEffect.owner')] : []),
    ...(names.has('weight')
      ? [bill ? t('parcelEditEffect.billed', { bill: bill.invoice_number }) : t('parcelEditEffect.weight')]
      : []),
    ...(courier_id || owner ? [t('parcelEditEffect.courier')] : []),
    t(undoOf(differences) ? 'parcelEditEffect.undo' : 'parcelEditEffect.final'),
  ];
}
