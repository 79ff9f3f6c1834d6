import type { BodyOf } from '../../../platform/contract/types.js';
import { isDateTime } from '../../../platform/contract/validator.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import { fieldsByPackageId } from '../shared/batch.js';
import type { EventDetails } from './record-queries.js';

export type RecordEventRequest = BodyOf<'recordPackageEvent'>;

/** Returns the package ids of the body, each with the field that contains it. */
export function readPackages({ package_id, package_ids }: RecordEventRequest): Map<string, string> {
  if (package_ids) {
    if (package_id === undefined) return fieldsByPackageId(package_ids);
    throw invalidFieldError('package_ids', 'conflict', { other: 'package_id' });
  }
  if (package_id === undefined) throw invalidFieldError('package_id', 'package_required');
  return new Map([[package_id, 'package_id']]);
}

export function readEventDetails({ occurred_at, location, remarks }: RecordEventRequest): EventDetails {
  if (occurred_at !== undefined && !isDateTime(occurred_at))
    throw invalidFieldError('occurred_at', 'invalid_date_time');
  return { occurredAt: occurred_at ?? null, location: location ?? null, remarks: remarks ?? null };
}
