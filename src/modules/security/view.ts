import type { components } from '../../../generated/contract.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { SettingsRow } from './queries.js';

export const viewSettings = (row: SettingsRow): components['schemas']['SecuritySettings'] => ({
  require_two_factor: row.requireTwoFactor,
  idle_timeout_minutes: row.idleTimeoutMinutes,
  updated_at: row.updatedAt && formatDateTime(row.updatedAt),
});
