import { addTextsOnUse } from '../../texts.js';
import { ratesEn } from './rates-en.js';

/** Loads the texts of the preview of rates. Called before it is shown. */
export const loadRatesTexts = (): Promise<void> =>
  addTextsOnUse(ratesEn, async () => (await import('./rates-es.js')).ratesEs);
