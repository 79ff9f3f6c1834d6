import { addTextsOnUse } from '../texts.js';
import { runEn } from './run-en.js';

/** Loads the texts of the billing run. Called before the bills are shown. */
export const loadRunTexts = (): Promise<void> =>
  addTextsOnUse(runEn, async () => (await import('./run-es.js')).runEs);
