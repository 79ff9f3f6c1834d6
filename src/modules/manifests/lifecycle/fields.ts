import { textOr } from '../../../platform/values/contact.js';
import type { components } from '../../../../generated/contract.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import type { ColumnsOf, Manifest } from '../../../platform/db/models/types.js';
import { airlinePrefixOf } from './awb.js';

export type LoadingGate = components['schemas']['LoadingGate'];

/** The fields of a manifest that a caller may set, named as in the contract. */
export type ManifestFields = ColumnsOf<
  Pick<Manifest, 'awbNumber' | 'airlinePrefix' | 'flightNumber' | 'notes'>
> & {
  /** `YYYY-MM-DD` */
  flight_date: string | null;
  loading_gate: LoadingGate;
};

export type SentFields = Partial<
  Pick<Extract<BodyOf<'manageManifest'>, { action: 'update_meta' }>, keyof ManifestFields>
>;

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
