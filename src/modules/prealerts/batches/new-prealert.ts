import type { Prealert } from '../../../platform/db/models/types.js';
import { raw } from '../../../platform/db/statements.js';

export type PrealertFields = Pick<
  Prealert,
  'userCode' | 'trackingNumber' | 'trackingKey' | 'vendor' | 'description'
> & {
  /** All keys that rows of the parcel can have, `trackingKey` first. */
  keys: string[];
};

export type NewPrealert = PrealertFields &
  Pick<Prealert, 'id' | 'reference'> & {
    /** The tracking number as it was sent, for the warning about it. */
    sentNumber: string;
    /** The warning about fields of the request that are other spellings of names that we know, and are not stored. */
    ignored?: { code: 'ignored_field'; message: string } | undefined;
  };

/** The columns of a pre-alert that the audit trail records. */
export const COLUMNS = raw(
  'id, courier_id, user_code, tracking_number, vendor, description, reference, status',
);
