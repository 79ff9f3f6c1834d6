import type { DataOf, BodyOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { CourierRow, RunBillRow } from './list-queries.js';

type Result = DataOf<'manageBillingRun'>['results'][number];

export type RunInput<Name> = Omit<Extract<BodyOf<'manageBillingRun'>, { action: Name }>, 'action'>;

/** What happened to one courier of a run. */
export type RunResult = Pick<Result, 'outcome' | 'code' | 'message'> & {
  courierId: string;
  /** Undefined if there is no such courier. */
  courier: CourierRow | undefined;
  bills: RunBillRow[];
  warnings: string[];
};

/** The results by courier, and the courier after which the next request goes on; null if all are done. */
export type RunOutcome = { results: RunResult[]; nextAfter: string | null };

export const COURIER_NOT_FOUND = {
  outcome: 'refused',
  code: 'courier_not_found',
  message: new ApiError('courier_not_found').message,
} as const;

/** The chosen couriers after an id, in the order of ids, each once. UUIDs in lower case sort as PostgreSQL sorts them. */
export const chosenAfter = (courierIds: readonly string[], after: string | undefined): string[] =>
  [...new Set(courierIds.map((id) => id.toLowerCase()))]
    .filter((id) => after === undefined || id > after.toLowerCase())
    .sort();
