import { callsEn } from '../../../console/src/integration/calls/texts-en.js';
import { callsEs } from '../../../console/src/integration/calls/texts-es.js';
import { eventsEn, eventsEs } from '../../../console/src/integration/events-texts.js';
import { feedsEn } from '../../../console/src/integration/feeds/texts-en.js';
import { feedsEs } from '../../../console/src/integration/feeds/texts-es.js';
import { manifestHistoryTexts } from '../../../console/src/flights/history/texts.js';
import { sandboxTexts } from '../../../console/src/integration/sandbox/texts.js';
import { trackingTexts } from '../../../console/src/integration/tracking/texts.js';
import { integrationEn, integrationEs } from '../../../console/src/integration/texts.js';
import { paymentTexts } from '../../../console/src/office/pages/bills/payment-texts.js';
import { officeManifestsTexts } from '../../../console/src/office/pages/manifests/texts.js';
import { placesTexts } from '../../../console/src/office/pages/places/texts.js';
import { putawayTexts } from '../../../console/src/putaway/texts.js';
import { regionTexts } from '../../../console/src/office/pages/settings/region-texts.js';
import { stationsTexts } from '../../../console/src/office/pages/settings/stations-texts.js';
import { eventFeedTexts } from '../../../console/src/courier/event-feed-texts.js';
import { wizardTexts } from '../../../console/src/office/texts/wizard.js';
import { voidEn, voidEs } from '../../../console/src/find/void/texts.js';
import { en as courierEn } from '../../../console/src/courier/texts/en.js';
import { es as courierEs } from '../../../console/src/courier/texts/es.js';
import { en as officeEn } from '../../../console/src/office/texts/en.js';
import { es as officeEs } from '../../../console/src/office/texts/es.js';
import { accountEn, accountEs } from '../../../console/src/session/account-texts.js';
import { pinEn, pinEs } from '../../../console/src/session/pin/texts.js';
import { en as stationEn } from '../../../console/src/texts/en.js';
import { es as stationEs } from '../../../console/src/texts/es.js';
import { announcedEn } from '../../../console/src/texts/on-use/announced/announced-en.js';
import { hooksEn } from '../../../console/src/texts/on-use/hooks-en.js';
import { announcedEs } from '../../../console/src/texts/on-use/announced/announced-es.js';
import { hooksEs } from '../../../console/src/texts/on-use/hooks-es.js';
import { ratesEn } from '../../../console/src/texts/on-use/rates/rates-en.js';
import { ratesEs } from '../../../console/src/texts/on-use/rates/rates-es.js';
import { reportsEn } from '../../../console/src/texts/on-use/reports-en.js';
import { reportsEs } from '../../../console/src/texts/on-use/reports-es.js';
import { runEn } from '../../../console/src/texts/on-use/run-en.js';
import { runEs } from '../../../console/src/texts/on-use/run-es.js';
import { teamEn } from '../../../console/src/texts/on-use/team-en.js';
import { teamEs } from '../../../console/src/texts/on-use/team-es.js';
import { unsavedEn, unsavedEs } from '../../../console/src/texts/on-use/unsaved.js';

export const LANGUAGES = ['en', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Every text of the console, by its key. */
const TEXTS: Record<Language, Record<string, string>> = {
  en: {
    ...stationEn,
    ...officeEn,
    ...courierEn,
    ...announcedEn,
    ...hooksEn,
    ...pinEn,
    ...accountEn,
    ...ratesEn,
    ...reportsEn,
    ...runEn,
    ...teamEn,
    ...unsavedEn,
    ...voidEn,
    ...integrationEn,
    ...eventsEn,
    ...callsEn,
    ...feedsEn,
    ...sandboxTexts.en,
    ...trackingTexts.en,
    ...manifestHistoryTexts.en,
    ...paymentTexts.en,
    ...officeManifestsTexts.en,
    ...placesTexts.en,
    ...putawayTexts.en,
    ...regionTexts.en,
    ...stationsTexts.en,
    ...eventFeedTexts.en,
    ...wizardTexts.en,
  },
  es: {
    ...stationEs,
    ...officeEs,
    ...courierEs,
    ...announcedEs,
    ...hooksEs,
    ...pinEs,
    ...accountEs,
    ...ratesEs,
    ...reportsEs,
    ...runEs,
    ...teamEs,
    ...unsavedEs,
    ...voidEs,
    ...integrationEs,
    ...eventsEs,
    ...callsEs,
    ...feedsEs,
    ...sandboxTexts.es,
    ...trackingTexts.es,
    ...manifestHistoryTexts.es,
    ...paymentTexts.es,
    ...officeManifestsTexts.es,
    ...placesTexts.es,
    ...putawayTexts.es,
    ...regionTexts.es,
    ...stationsTexts.es,
    ...eventFeedTexts.es,
    ...wizardTexts.es,
  },
};

/** How the guide quotes a text, with the currency of the demo data: `Publish {amount} USD` is **Publish … USD**. */
const asQuoted = (text: string) => text.replaceAll('{currency}', 'USD').replaceAll(/\{\w+\}/g, '…');

/** Returns the keys of the texts that a quotation can be. The same word is often several texts, such as Customers. */
export const keysOf = (language: Language, quotation: string): string[] =>
  Object.entries(TEXTS[language])
    .filter(([, text]) => asQuoted(text) === quotation)
    .map(([key]) => key);
