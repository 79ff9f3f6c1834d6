import type { UserCaller } from '../../../platform/identity/callers.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { ApiError, fieldError, type FieldError } from '../../../platform/errors/errors.js';
import { shownTrackingNumber } from '../../tracking-numbers/public.js';
import { toInches, toPounds } from '../shared/measures.js';
import type { Editable } from './queries.js';

export type PackageUpdate = BodyOf<'updatePackage'>;

export type RequestedFields = ReturnType<typeof readFields>;

/** Returns the given columns: texts as sent (possibly empty), numbers as exact decimal texts. */
export function readFields(body: PackageUpdate) {
  const { user_code, first_name, last_name, shipper, description, package_type } = body;
  const { weight, length, width, height, tracking_number } = body;
  return {
    ...{ user_code, first_name, last_name, shipper, description, package_type },
    tracking_number: tracking_number?.trim(),
    weight_lb: weight === undefined ? undefined : toPounds(weight),
    length_in: length === undefined ? undefined : toInches(length),
    width_in: width === undefined ? undefined : toInches(width),
    height_in: height === undefined ? undefined : toInches(height),
  };
}

/**
 * Returns the fields that differ from what the caller sees, one entry per field of the body. A number that is
 * masked for a courier differs from everything but its mask, so that no response depends on the hidden part.
 */
export function findChanges(caller: UserCaller, before: Editable, input: RequestedFields): Partial<Editable> {
  const { tracking_number: trackingNumber, user_code: userCode } = before;
  const shown = { ...before, tracking_number: shownTrackingNumber(caller, { trackingNumber, userCode }) };
  const differing = Object.entries(input).filter(
    // `input` has only columns of Editable. A missing value counts as an empty text.
    ([column, value]) => value !== undefined && value !== (shown[column as keyof Editable] ?? ''),
  );
  return Object.fromEntries(differing.map(([column, value]) => [column, value === '' ? null : value]));
}

/** The fields that the warehouse scans and measures: the column, and the field of the body. */
const MEASURED = [
  ['tracking_number', 'tracking_number'],
  ['weight_lb', 'weight'],
  ['length_in', 'length'],
  ['width_in', 'width'],
  ['height_in', 'height'],
] as const satisfies [keyof Editable, keyof PackageUpdate][];

/**
 * Couriers may not change what the warehouse scans and measures, and may not remove a customer that they have
 * named themselves (decision 0026).
 * @throws ApiError permission_denied
 */
export function assertPermitted(caller: UserCaller, before: Editable, changes: Partial<Editable>): void {
  if (caller.courierId === null) return;
  const errors: FieldError[] = MEASURED.filter(([column]) => column in changes).map(([, field]) =>
    fieldError(field, 'staff_only'),
  );
  if (changes.user_code === null && before.claimed_by !== null)
    errors.push(fieldError('user_code', 'own_claim'));
  if (errors.length === 0) return;
  throw new ApiError('permission_denied', { variant: 'fields', errors });
}
