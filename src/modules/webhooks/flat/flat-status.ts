import type { components } from '../../../../generated/contract.js';

type PackageStatus = components['schemas']['PackageStatus'];

/** `PackageStatus` of a flat package. Source: the contract's flatPackageCreated, which has the same table. */
export const STATUS_NUMBERS = {
  received: 0,
  shipped: 1,
  in_transit: 2,
  delivered: 4,
} satisfies Partial<Record<PackageStatus, number>>;

export type NumberedStatus = keyof typeof STATUS_NUMBERS;

const PROBLEMS = {
  on_hold: 'The package is on hold.',
  customs_hold: 'The package is held by customs.',
  returned: 'The package was returned.',
  lost: 'The package is lost.',
} satisfies Record<Exclude<PackageStatus, NumberedStatus>, string>;

const isNumbered = (status: PackageStatus): status is NumberedStatus => status in STATUS_NUMBERS;

/** Returns the problem of a status that has no number, or undefined for one that has. */
export const problemOfStatus = (status: PackageStatus): string | undefined =>
  isNumbered(status) ? undefined : PROBLEMS[status];
