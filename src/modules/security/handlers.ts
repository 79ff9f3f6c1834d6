import type { Handlers } from '../../../generated/handlers.js';
import type { components } from '../../../generated/contract.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import { confirming } from '../auth/public.js';
import type { Deps } from '../dependencies.js';
import { changeSettings, readSettings } from './settings.js';
import type { SettingsRow } from './queries.js';

export function securityHandlers(deps: Deps) {
  return {
    getSecuritySettings: async ({ ctx }) =>
      reply('Security settings found.', viewSettings(await readSettings(ctx))),

    async updateSecuritySettings({ ctx, body: { current_password, ...body }, address, userAgent }) {
      const { confirmedIfSent } = confirming({ ctx, deps, address, userAgent });
      const { settings, isChanged } = await confirmedIfSent({ current_password }, (settle) =>
        changeSettings(ctx, body, settle),
      );
      const already = nothingToChange('updateSecuritySettings', body, {
        selectors: [],
        already: 'The settings already have these values.',
      });
      return reply(outcomeOf(isChanged, 'Security settings changed.', already), viewSettings(settings));
    },
  } satisfies Partial<Handlers>;
}

const viewSettings = (row: SettingsRow): components['schemas']['SecuritySettings'] => recordOf(row);
