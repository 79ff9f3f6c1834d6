import type { Handlers } from '../../../generated/handlers.js';
import { changeSettings, readSettings } from './settings.js';
import type { components } from '../../../generated/contract.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { SettingsRow } from './queries.js';

export function securityHandlers() {
  return {
    async getSecuritySettings({ ctx }) {
      const data = viewSettings(await readSettings(ctx));
      return { statusCode: 200, message: 'Security settings found.', data };
    },

    async updateSecuritySettings({ ctx, body }) {
      const { settings, isChanged } = await changeSettings(ctx, body);
      const message = isChanged
        ? 'Security settings changed.'
        : 'The settings already have these values. Nothing was changed.';
      return { statusCode: 200, message, data: viewSettings(settings) };
    },
  } satisfies Partial<Handlers>;
}

const viewSettings = (row: SettingsRow): components['schemas']['SecuritySettings'] => ({
  require_two_factor: row.requireTwoFactor,
  idle_timeout_minutes: row.idleTimeoutMinutes,
  updated_at: row.updatedAt && formatDateTime(row.updatedAt),
});
