import type { Secrets } from '../../platform/access/secrets.js';
import { daysBefore } from './values/calendar.js';
import { type CourierCode, DEMO } from './demo.js';
import type { TenantSlug } from './values/ids.js';
import type { Row } from './values/rows.js';

/** The age of the demo tenants in days. */
export const DAYS_IN_BUSINESS = 420;

// No URLs, because a fresh installation must not send requests to other hosts.
const PROFILES = {
  IEX: {
    name: 'Island Express',
    company_name: 'Island Express Limited',
    email: 'accounts@island-express.example',
    phone_number1: '+1 876 555 0142',
    phone_number2: '+1 876 555 0143',
    address1: '12 Harbour Street',
    address2: null,
    city_town: 'Kingston',
    parish_province: 'Kingston',
    house_color: '#0A7D5C',
    air_freight_rate: '1.75',
  },
  HRB: {
    name: 'Harbour Couriers',
    company_name: 'Harbour Couriers (Barbados) Inc.',
    email: 'billing@harbour-couriers.example',
    phone_number1: '+1 246 555 0117',
    phone_number2: null,
    address1: '4 Wharf Road',
    address2: 'The Careenage',
    city_town: 'Bridgetown',
    parish_province: 'Saint Michael',
    house_color: '#1F4E9E',
    air_freight_rate: '0',
  },
  TWO: {
    name: 'Two Rivers Couriers',
    company_name: 'Two Rivers Couriers Inc.',
    email: 'office@two-rivers.example',
    phone_number1: '+592 555 0161',
    phone_number2: null,
    address1: '88 Water Street',
    address2: null,
    city_town: 'Georgetown',
    parish_province: 'Demerara-Mahaica',
    house_color: '#B4531A',
    air_freight_rate: '0',
  },
} satisfies Record<CourierCode, Row>;

export function courierRow(tenant: TenantSlug, code: CourierCode, secrets: Secrets, now: Date): Row {
  const place = { tenantId: DEMO.tenants[tenant], rowId: DEMO.couriers[code], field: 'api_key' } as const;
  return {
    tenant_id: place.tenantId,
    id: place.rowId,
    code,
    ...PROFILES[code],
    is_active: true,
    api_key_hash: secrets.lookupHash(DEMO.apiKeys[code], 'api_key'),
    api_key_cipher: secrets.encrypt(DEMO.apiKeys[code], place),
    created_at: daysBefore(now, DAYS_IN_BUSINESS),
    updated_at: daysBefore(now, DAYS_IN_BUSINESS),
  };
}
