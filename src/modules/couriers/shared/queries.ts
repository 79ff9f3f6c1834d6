import { tenantRows } from '../../../platform/db/filters.js';
import type { Courier } from '../../../platform/db/models/types.js';
import { raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

/** The courier's name and contact details. */
export type ContactRow = Pick<
  Courier,
  | 'id'
  | 'code'
  | 'name'
  | 'companyName'
  | 'email'
  | 'phoneNumber1'
  | 'phoneNumber2'
  | 'address1'
  | 'address2'
  | 'cityTown'
  | 'parishProvince'
  | 'houseColor'
>;

/** The columns of ContactRow, of `couriers c`. */
export const CONTACT_COLUMNS = raw(`c.id, c.code, c.name, c.company_name as "companyName", c.email,
  c.phone_number1 as "phoneNumber1", c.phone_number2 as "phoneNumber2", c.address1, c.address2,
  c.city_town as "cityTown", c.parish_province as "parishProvince", c.house_color as "houseColor"`);

export const lockedCourier = (ctx: UserScope, courierId: string): Sql<Pick<Courier, 'id'>> =>
  sql`select c.id from couriers c where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid for update`;
