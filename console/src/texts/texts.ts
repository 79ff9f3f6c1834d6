import { effect, signal } from '@preact/signals';
import { settings, type Language } from '../device/settings.js';
import type { CourierKey } from '../courier/texts/en.js';
import type { OfficeKey } from '../office/texts/en.js';
import { en, type TextKey } from './en.js';
import type { AnnouncedKey } from './on-use/announced/announced-en.js';
import type { CallsKey } from '../integration/calls/texts-en.js';
import type { ManifestHistoryKey } from '../flights/history/texts.js';
import type { FeedsKey } from '../integration/feeds/texts-en.js';
import type { TrackingKey } from '../integration/tracking/texts.js';
import type { HooksKey } from './on-use/hooks-en.js';
import type { RatesKey } from './on-use/rates/rates-en.js';
import type { ReportsKey } from './on-use/reports-en.js';
import type { RunKey } from './on-use/run-en.js';
import type { TeamKey } from './on-use/team-en.js';
import type { UnsavedKey } from './on-use/unsaved.js';
import type { AccountKey } from '../session/account-texts.js';
import type { PinKey } from '../session/pin/texts.js';
import type { VoidKey } from '../find/void/texts.js';
import type { SandboxKey } from '../integration/sandbox/texts.js';
import type { EventsKey } from '../integration/events-texts.js';
import type { IntegrationKey } from '../integration/texts.js';
import type { PaymentKey } from '../office/pages/bills/payment-texts.js';
import type { WizardKey } from '../office/texts/wizard.js';
import type { OfficeManifestsKey } from '../office/pages/manifests/texts.js';
import type { PlacesKey } from '../office/pages/places/texts.js';
import type { PutawayKey } from '../putaway/texts.js';
import type { RegionKey } from '../office/pages/settings/region-texts.js';
import type { EventFeedKey } from '../courier/event-feed-texts.js';
import type { StationsKey } from '../office/pages/settings/stations-texts.js';
import { es } from './es.js';

export type AnyKey =
  | TextKey
  | OfficeKey
  | CourierKey
  | AnnouncedKey
  | CallsKey
  | FeedsKey
  | TrackingKey
  | HooksKey
  | ManifestHistoryKey
  | RatesKey
  | ReportsKey
  | RunKey
  | TeamKey
  | UnsavedKey
  | PinKey
  | AccountKey
  | VoidKey
  | EventsKey
  | SandboxKey
  | IntegrationKey
  | OfficeManifestsKey
  | PaymentKey
  | PlacesKey
  | PutawayKey
  | WizardKey
  | RegionKey
  | StationsKey
  | EventFeedKey;

const CATALOGUES: Record<Language, Record<string, string>> = { en: { ...en }, es: { ...es } };

/** Counts the additions, so that what is on the screen is written again. */
const added = signal(0);

function add(language: Language, texts: Record<string, string>): void {
  Object.assign(CATALOGUES[language], texts);
  added.value = added.peek() + 1;
}

/** Adds the texts of a part of the console, which loads with that part. */
export function addTexts(texts: Record<Language, Record<string, string>>): void {
  add('en', texts.en);
  add('es', texts.es);
}

/**
 * Adds the texts of a part whose Spanish texts load only on a device in Spanish, because they are many. Resolves when those of the device
 * are there. Later, another language of the device loads them; until then the texts are English.
 */
export async function addTextsOnUse(
  texts: Record<string, string>,
  loadSpanish: () => Promise<Record<string, string>>,
): Promise<void> {
  add('en', texts);
  let loading: Promise<void> | undefined;
  const load = async () => add('es', await loadSpanish());
  effect(() => {
    if (settings.value.language !== 'es') return;
    loading ??= load();
    // The next change of the language tries again.
    loading.catch(() => (loading = undefined));
  });
  await loading;
}

export type Values = Record<string, string | number>;

/** Returns the text in the language of this device, with its placeholders filled. `{zone}` and `{currency}` are those of the tenant. */
export function t(key: AnyKey, values: Values = {}): string {
  void added.value;
  const { language, timeZone: zone, currency } = settings.value;
  return fill(CATALOGUES[language][key] ?? CATALOGUES.en[key] ?? key, { zone, currency, ...values });
}

const fill = (text: string, values: Values) =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    return typeof value === 'number' ? number(value) : (value ?? '');
  });

/** Returns the text of a value that a later version of the service may extend, or `otherwise` if it is unknown. */
export function textOf(prefix: string, value: string, otherwise = value, values: Values = {}): string {
  const key = `${prefix}.${value}`;
  return key in CATALOGUES.en ? t(key as AnyKey, values) : otherwise;
}

export const number = (value: number, options?: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat(settings.value.language, options).format(value);

const HUNDREDTHS = { minimumFractionDigits: 2, maximumFractionDigits: 2 };

export const money = (value: number) => number(value, HUNDREDTHS);

export const pounds = (value: number) => `${number(value, HUNDREDTHS)} lb`;

/** Returns a date and time of the service, which are in UTC, as a moment. */
export const momentOf = (utc: string) => new Date(`${utc.replace(' ', 'T')}Z`);

/** In the time zone of the tenant. Without the year if it is the present one there, so that tables stay narrow. */
export function dateTime(utc: string, now = new Date()): string {
  const { language, timeZone } = settings.value;
  const moment = momentOf(utc);
  const year = new Intl.DateTimeFormat('en', { timeZone, year: 'numeric' });
  const isThisYear = year.format(moment) === year.format(now);
  const text = new Intl.DateTimeFormat(language, {
    timeZone,
    ...(isThisYear ? {} : { year: 'numeric' }),
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  }).format(moment);
  // A time does not break over lines.
  return text.replaceAll(' ', '\u00a0');
}

/** In the time zone of the tenant. */
export function time(moment: Date): string {
  const { language, timeZone } = settings.value;
  return new Intl.DateTimeFormat(language, { timeZone, timeStyle: 'medium' }).format(moment);
}

/** Returns a calendar date of the service, which has no time zone. */
export const date = (day: string) =>
  new Intl.DateTimeFormat(settings.value.language, { dateStyle: 'medium', timeZone: 'UTC' }).format(
    new Date(`${day}T00:00:00Z`),
  );
