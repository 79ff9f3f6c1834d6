import { columns } from '../../../platform/db/columns.js';
import type { RowOf } from '../../../platform/db/statements.js';

/** The courier's name and contact details, of `couriers c`. */
export const CONTACT_COLUMNS = columns('Courier', 'c', [
  'id',
  'code',
  'name',
  'companyName',
  'email',
  'phoneNumber1',
  'phoneNumber2',
  'address1',
  'address2',
  'cityTown',
  'parishProvince',
  'houseColor',
]);

export type ContactRow = RowOf<typeof CONTACT_COLUMNS>;
