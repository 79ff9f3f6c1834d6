import type { FunctionComponent } from 'preact';
import { en as officeEn } from '../office/texts/en.js';
import { es as officeEs } from '../office/texts/es.js';
import { officeFailuresEs } from '../office/texts/failures-es.js';
import { PasswordQuestion } from '../office/ui/own-password.js';
import { Toasts } from '../office/ui/toasts.js';
import type { CourierPageId } from '../pages.js';
import { addFailures } from '../texts/failures.js';
import { addTexts } from '../texts/texts.js';
import { part } from '../ui/part.js';
import { en } from './texts/en.js';
import { es } from './texts/es.js';

// The lists, forms and toasts are those of the office, with its texts.
addTexts({ en: { ...officeEn, ...en }, es: { ...officeEs, ...es } });
addFailures(officeFailuresEs);

const ON_USE = { isOnUse: true };

/** The pages of a courier. Each loads with its first use. */
const VIEWS: Record<CourierPageId, FunctionComponent> = {
  home: part(async () => (await import('./home/home.js')).HomePage, ON_USE),
  parcels: part(async () => (await import('./parcels/parcels.js')).ParcelsPage, ON_USE),
  unknown: part(async () => (await import('./unknown/unknown.js')).UnknownPage, ON_USE),
  claims: part(async () => (await import('./unknown/claims.js')).ClaimsPage, ON_USE),
  announce: part(async () => (await import('./announce/announce.js')).AnnouncePage, ON_USE),
  customers: part(async () => (await import('./customers/customers.js')).CustomersPage, ON_USE),
  syncs: part(async () => (await import('./customers/syncs.js')).SyncsPage, ON_USE),
  bills: part(async () => (await import('./bills/bills.js')).BillsPage, ON_USE),
  month: part(async () => (await import('./bills/month.js')).MonthPage, ON_USE),
  statement: part(async () => (await import('./bills/statement.js')).StatementPage, ON_USE),
  developers: part(async () => (await import('./developers/developers.js')).DevelopersPage, ON_USE),
  webhooks: part(async () => (await import('./webhooks.js')).loadWebhooksPage(), ON_USE),
  tokens: part(async () => (await import('../integration/tokens/courier-page.js')).TokensPage, ON_USE),
  calls: part(async () => (await import('../integration/calls/courier-page.js')).loadCallsPage(), ON_USE),
  feeds: part(async () => (await import('../integration/feeds/courier-page.js')).loadFeedsPage(), ON_USE),
  events: part(async () => (await import('./events.js')).EventsPage, ON_USE),
  team: part(async () => (await import('./team/team.js')).loadCourierTeamPage(), ON_USE),
  profile: part(async () => (await import('./profile.js')).ProfilePage, ON_USE),
};

/** A page of a courier, with what it says after a change. */
export function CourierPage({ id }: { id: CourierPageId }) {
  const View = VIEWS[id];
  return (
    <>
      <View key={id} />
      <PasswordQuestion />
      <Toasts />
    </>
  );
}
