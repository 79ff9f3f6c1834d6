import { addTextsOnUse } from '../texts.js';
import { reportsEn } from './reports-en.js';

/** Loads the texts of Reports. Called before its page is shown. */
export const loadReportsTexts = (): Promise<void> =>
  addTextsOnUse(reportsEn, async () => (await import('./reports-es.js')).reportsEs);
