import { addTextsOnUse } from '../../texts.js';
import { announcedEn } from './announced-en.js';

/** Loads the texts of announcements and of unknown parcels. Called before one of these pages is shown. */
export const loadAnnouncedTexts = (): Promise<void> =>
  addTextsOnUse(announcedEn, async () => (await import('./announced-es.js')).announcedEs);
