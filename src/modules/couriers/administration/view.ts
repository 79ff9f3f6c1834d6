import type { components } from '../../../../generated/contract.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { Credentials } from './new-courier.js';
import type { RecordRow } from '../shared/administration-queries.js';

type Schemas = components['schemas'];

export function viewRecord(row: RecordRow): Schemas['CourierRecord'] {
  return {
    courier_id: row.id,
    courier_code: row.code,
    courier_name: row.name,
    company_name: row.company_name,
    email: row.email,
    phone_number1: row.phone_number1,
    phone_number2: row.phone_number2,
    address1: row.address1,
    address2: row.address2,
    city_town: row.city_town,
    parish_province: row.parish_province,
    house_color: row.house_color,
    is_active: row.is_active,
    has_api_key: row.has_api_key,
    uses_global_rates: row.uses_global_rates,
    user_count: row.user_count,
    customer_count: row.customer_count,
    created_at: formatDateTime(row.created_at),
  };
}

export function viewCredentials({ apiKey, user, oneTimePassword, passwordExpiresAt }: Credentials): {
  api_key: string;
  login: Schemas['CourierLogin'];
} {
  return {
    api_key: apiKey,
    login: {
      user_id: user.id,
      username: user.username,
      full_name: user.full_name,
      one_time_password: oneTimePassword,
      password_expires_at: formatDateTime(passwordExpiresAt),
    },
  };
}
