import type { components } from '../../../generated/contract.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { SettingsRow } from './queries.js';

export const viewSettings = (row: SettingsRow): components['schemas']['SecuritySettings'] => ({
  require_two_factor: row.require_two_factor,
  idle_timeout_minutes: row.idle_timeout_minutes,
  updated_at: row.updated_at && formatDateTime(row.updated_at),
});
