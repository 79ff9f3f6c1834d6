import type { components } from '../../../../generated/contract.js';
import { formatDateTime } from '../../../platform/values/time.js';
import { viewContact } from '../shared/view.js';
import type { Credentials } from './new-courier.js';
import type { RecordRow } from './queries.js';

type Schemas = components['schemas'];

export function viewRecord(row: RecordRow): Schemas['CourierRecord'] {
  return {
    ...viewContact(row),
    house_color: row.houseColor,
    is_active: row.isActive,
    has_api_key: row.hasApiKey,
    uses_global_rates: row.usesGlobalRates,
    user_count: row.userCount,
    customer_count: row.customerCount,
    created_at: formatDateTime(row.createdAt),
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
