import { airlinePrefixOf } from './awb.js';

/** What a caller may set of a manifest. */
export type ManifestFields = {
  awb_number: string | null;
  airline_prefix: string | null;
  /** `YYYY-MM-DD` */
  flight_date: string | null;
  flight_number: string | null;
  notes: string | null;
};

export type SentFields = { [Name in keyof ManifestFields]?: string };

export const NO_FIELDS: ManifestFields = {
  awb_number: null,
  airline_prefix: null,
  flight_date: null,
  flight_number: null,
  notes: null,
};

/** The stored fields with what was sent in their place. */
export function mergeFields(stored: ManifestFields, sent: SentFields): ManifestFields {
  return {
    ...mergeAirWaybill(stored, sent),
    flight_date: sent.flight_date ?? stored.flight_date,
    flight_number: textOr(stored.flight_number, sent.flight_number),
    notes: textOr(stored.notes, sent.notes),
  };
}

/** A number that is sent decides the prefix alone, whatever prefix is sent beside it. */
function mergeAirWaybill(stored: ManifestFields, sent: SentFields) {
  const awb_number = textOr(stored.awb_number, sent.awb_number);
  if (sent.awb_number === undefined)
    return { awb_number, airline_prefix: sent.airline_prefix ?? stored.airline_prefix };
  return { awb_number, airline_prefix: airlinePrefixOf(awb_number) };
}

/** The fields in which two manifests differ, as they are in the first and in the second. */
export function differenceOf(before: ManifestFields, after: ManifestFields) {
  const changed = FIELD_NAMES.filter((name) => before[name] !== after[name]);
  const pick = (fields: ManifestFields) => Object.fromEntries(changed.map((name) => [name, fields[name]]));
  return changed.length > 0 ? { before: pick(before), after: pick(after) } : undefined;
}

// as: the keys of a literal of this very type
const FIELD_NAMES = Object.keys(NO_FIELDS) as (keyof ManifestFields)[];

/** Blank text empties a field: the contract has no null to send. */
function textOr(stored: string | null, sent: string | undefined): string | null {
  if (sent === undefined) return stored;
  return sent.trim() === '' ? null : sent;
}
