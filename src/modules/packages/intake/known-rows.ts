import { groupBy } from '../../../platform/values/group-by.js';
import type { ScanReading } from '../../tracking-numbers/public.js';
import type { KnownRow } from './identify-parcel.js';
import { namesakeTexts, type Namesake } from './namesakes.js';

/** The records of one scan among those of a batch. */
type RecordsOf<Row> = (reading: ScanReading) => Row[];

/**
 * Finds the packages and pre-alerts of one scan among those of a batch. A batch of 500 scans with four numbers each knows thousands:
 * looking through all of them for each number held the event loop for a second.
 */
export function indexKnown(rows: readonly KnownRow[]): RecordsOf<KnownRow> {
  const byKey = groupBy(rows, ({ trackingKey }) => trackingKey);
  const byHouseNumber = groupBy(rows, ({ houseNumber }) => houseNumber);
  return ({ numbers }) => [
    ...new Set(
      numbers.flatMap(({ keys, folded }) => [
        ...keys.flatMap((key) => byKey.get(key) ?? []),
        ...(byHouseNumber.get(folded) ?? []),
      ]),
    ),
  ];
}

/** Finds the manifests and customers of one scan among those of a batch. */
export function indexNamesakes(namesakes: readonly Namesake[]): RecordsOf<Namesake> {
  const byText = groupBy(namesakes, ({ text }) => text);
  return (reading) => namesakeTexts(reading).flatMap((text) => byText.get(text) ?? []);
}
