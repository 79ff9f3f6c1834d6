import type { components } from '../../../generated/contract.js';
import type { Handlers } from '../../../generated/handlers.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import { countOf } from '../../platform/values/count-of.js';
import { formatDateTime } from '../../platform/values/time.js';
import { changePreferences, readPreferences, type PreferencesRow } from './preferences.js';

export function preferencesHandlers() {
  return {
    async getPreferences({ ctx }) {
      const preferences = await readPreferences(ctx);
      return reply(`${countOf(preferences.views.length, 'saved view')}.`, viewPreferences(preferences));
    },

    async updatePreferences({ ctx, body }) {
      const { preferences, isChanged } = await changePreferences(ctx, body);
      const already = nothingToChange('updatePreferences', body, {
        selectors: [],
        already: 'The preferences already have these values.',
      });
      return reply(outcomeOf(isChanged, 'Preferences changed.', already), viewPreferences(preferences));
    },
  } satisfies Partial<Handlers>;
}

const viewPreferences = ({
  updatedAt,
  ...choices
}: PreferencesRow): components['schemas']['Preferences'] => ({
  ...choices,
  updated_at: updatedAt && formatDateTime(updatedAt),
});
