import type { ColumnsOf, Package } from '../../../platform/db/models/types.js';

/** The weight and dimensions of a package, as exact decimal texts. */
export type Measures = {
  weight_lb: string;
  length_in: string | null;
  width_in: string | null;
  height_in: string | null;
};

/** The columns that intake stores and an update may change, as the audit trail records them. */
export type StoredColumns = Measures &
  ColumnsOf<
    Pick<
      Package,
      | 'courierId'
      | 'userCode'
      | 'firstName'
      | 'lastName'
      | 'trackingNumber'
      | 'trackingKey'
      | 'packageType'
      | 'shipper'
      | 'description'
      | 'carrierId'
      | 'warehouseId'
      | 'prealertId'
    >
  >;

/** Pounds with 3 decimals, as exact decimal text. The contract rejects values with more decimals. */
export const toPounds = (value: number): string => value.toFixed(3);

/** Inches with 2 decimals, as exact decimal text. */
export const toInches = (value: number): string => value.toFixed(2);
