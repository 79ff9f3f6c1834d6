import { addTextsOnUse } from '../texts.js';
import { hooksEn } from './hooks-en.js';

/** Loads the texts of Webhooks. Called before one of its pages is shown. */
export const loadHooksTexts = (): Promise<void> =>
  addTextsOnUse(hooksEn, async () => (await import('./hooks-es.js')).hooksEs);
