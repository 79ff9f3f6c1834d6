import { textOr } from '../../../platform/values/contact.js';
import type { components } from '../../../../generated/contract.js';
import { airlinePrefixOf } from './awb.js';

/** The fields of a manifest that a caller may set, named as in the contract. */
export type ManifestFields = {
  awb_number: string | null;
  airline_prefix: string | null;
  /** `YYYY-MM-DD` */
  flight_date: string | null;
  flight_number: string | null;
  notes: string | null;
  loading_gate: LoadingGate;
};

export type LoadingGate = components['schemas']['LoadingGate'];

export type SentFields = { [Name in Exclude<keyof ManifestFields, 'loading_gate'>]?: string } & {
  loading_gate?: LoadingGate;
};

export const NO_FIELDS: ManifestFields = {
  awb_number: null,
  airline_prefix: null,
  flight_date: null,
  flight_number: null,
  notes: null,
  loading_gate: 'warehouse',
};

/** Returns the stored fields, overwritten by the given ones. */
export function mergeFields(stored: ManifestFields, sent: SentFields): ManifestFields {
  return {
    ...mergeAirWaybill(stored, sent),
    flight_date: sent.flight_date ?? stored.flight_date,
    flight_number: textOr(stored.flight_number, sent.flight_number),
    notes: textOr(stored.notes, sent.notes),
    loading_gate: sent.loading_gate ?? stored.loading_gate,
  };
}

/** A given number determines the prefix. A prefix sent with it is ignored. */
function mergeAirWaybill(stored: ManifestFields, sent: SentFields) {
  const awb_number = textOr(stored.awb_number, sent.awb_number);
  if (sent.awb_number === undefined)
    return { awb_number, airline_prefix: sent.airline_prefix ?? stored.airline_prefix };
  return { awb_number, airline_prefix: airlinePrefixOf(awb_number) };
}

// The literal has exactly this type's keys.
export const FIELD_NAMES = Object.keys(NO_FIELDS) as (keyof ManifestFields)[];
