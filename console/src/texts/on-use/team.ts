import { addTextsOnUse } from '../texts.js';
import { teamEn } from './team-en.js';

/** Loads the texts of Team. Called before one of its pages is shown. */
export const loadTeamTexts = (): Promise<void> =>
  addTextsOnUse(teamEn, async () => (await import('./team-es.js')).teamEs);
