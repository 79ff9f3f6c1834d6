import type { CourierLogin, CourierRecord, CourierSettings } from '../../../../sdk/typescript/src/index.js';

/** What each part of a courier's page gets. */
export type TabProps = { courier: CourierRecord; onChanged: () => void };

/** The fields of a courier that a person may change. Unknown ones are empty. */
export const detailsOf = (courier?: CourierRecord | CourierSettings) => ({
  courier_name: courier?.courier_name ?? '',
  company_name: courier?.company_name ?? '',
  email: courier?.email ?? '',
  phone_number1: courier?.phone_number1 ?? '',
  phone_number2: courier?.phone_number2 ?? '',
  address1: courier?.address1 ?? '',
  address2: courier?.address2 ?? '',
  city_town: courier?.city_town ?? '',
  parish_province: courier?.parish_province ?? '',
  house_color: courier?.house_color ?? '#0a6e53',
});

export type Details = ReturnType<typeof detailsOf>;

/** What the service tells only once, right after it has created a courier. */
export type Created = { courierId: string; code: string; name: string; apiKey: string; login: CourierLogin };
