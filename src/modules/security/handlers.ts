import type { Handlers } from '../../../generated/handlers.js';
import type { components } from '../../../generated/contract.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import { changeSettings, readSettings } from './settings.js';
import type { SettingsRow } from './queries.js';

export function securityHandlers() {
  return {
    getSecuritySettings: async ({ ctx }) =>
      reply('Security settings found.', viewSettings(await readSettings(ctx))),

    async updateSecuritySettings({ ctx, body }) {
      const { settings, isChanged } = await changeSettings(ctx, body);
      const already = nothingToChange('updateSecuritySettings', body, {
        selectors: [],
        already: 'The settings already have these values.',
      });
      return reply(outcomeOf(isChanged, 'Security settings changed.', already), viewSettings(settings));
    },
  } satisfies Partial<Handlers>;
}

const viewSettings = (row: SettingsRow): components['schemas']['SecuritySettings'] => recordOf(row);
