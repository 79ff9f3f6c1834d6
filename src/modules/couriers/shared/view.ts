import type { components } from '../../../../generated/contract.js';
import type { ContactRow } from './queries.js';

type CourierRecord = components['schemas']['CourierRecord'];

/** The fields that the courier's settings and its record in the administration share. */
export type Contact = Pick<
  CourierRecord,
  | 'courier_id'
  | 'courier_code'
  | 'courier_name'
  | 'company_name'
  | 'email'
  | 'phone_number1'
  | 'phone_number2'
  | 'address1'
  | 'address2'
  | 'city_town'
  | 'parish_province'
>;

export const viewContact = (row: ContactRow): Contact => ({
  courier_id: row.id,
  courier_code: row.code,
  courier_name: row.name,
  company_name: row.companyName,
  email: row.email,
  phone_number1: row.phoneNumber1,
  phone_number2: row.phoneNumber2,
  address1: row.address1,
  address2: row.address2,
  city_town: row.cityTown,
  parish_province: row.parishProvince,
});
