import type { components } from '../../../generated/contract.js';
import type { Handlers } from '../../../generated/handlers.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import { changeSettings, readSettings, type SettingsRow } from './settings.js';

export function tenantSettingsHandlers() {
  return {
    async getTenantSettings({ ctx }) {
      const settings = await readSettings(ctx);
      return reply(
        `The console, labels and mails show times in ${settings.timeZone}. Times of this interface are in UTC. Amounts are in ${settings.currency}.`,
        viewSettings(settings),
      );
    },

    async updateTenantSettings({ ctx, body }) {
      const { settings, isChanged } = await changeSettings(ctx, body);
      const already = nothingToChange('updateTenantSettings', body, {
        selectors: [],
        already: 'The settings already have these values.',
      });
      return reply(outcomeOf(isChanged, 'Settings changed.', already), viewSettings(settings));
    },
  } satisfies Partial<Handlers>;
}

const viewSettings = (row: SettingsRow): components['schemas']['TenantSettings'] => recordOf(row);
