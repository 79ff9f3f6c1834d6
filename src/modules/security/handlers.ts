import type { Handlers } from '../../../generated/handlers.js';
import type { components } from '../../../generated/contract.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import { confirming, type Settle } from '../auth/public.js';
import type { Deps } from '../dependencies.js';
import { changeSettings, loosens, readSettings } from './settings.js';
import type { SettingsRow } from './queries.js';

export function securityHandlers(deps: Deps) {
  return {
    getSecuritySettings: async ({ ctx }) =>
      reply('Security settings found.', viewSettings(await readSettings(ctx))),

    async updateSecuritySettings({ ctx, body: { current_password, ...body }, address, userAgent }) {
      const { confirmed } = confirming({ ctx, deps, address, userAgent });
      const change = (settle?: Settle) => changeSettings(ctx, body, settle);
      const { settings, isChanged } = (await loosens(ctx, body))
        ? await confirmed({ current_password }, change)
        : await change();
      const already = nothingToChange('updateSecuritySettings', body, {
        selectors: [],
        already: 'The settings already have these values.',
      });
      return reply(outcomeOf(isChanged, 'Security settings changed.', already), viewSettings(settings));
    },
  } satisfies Partial<Handlers>;
}

const viewSettings = (row: SettingsRow): components['schemas']['SecuritySettings'] => recordOf(row);
