import type { FunctionComponent } from 'preact';
import { part } from '../ui/part.js';
import type { OfficePageId } from './pages.js';

const ON_USE = { isOnUse: true };

/** The pages. Each loads with its first use. */
export const VIEWS: Record<OfficePageId, FunctionComponent> = {
  home: part(async () => (await import('./pages/home/home.js')).HomePage, ON_USE),
  parcels: part(async () => (await import('./pages/parcels/parcels.js')).ParcelsPage, ON_USE),
  places: part(async () => (await import('./pages/places/places.js')).PlacesPage, ON_USE),
  manifests: part(async () => (await import('./pages/manifests/manifests.js')).ManifestsPage, ON_USE),
  unknown: part(async () => (await import('./pages/unknown/unknown.js')).loadUnknownPage(), ON_USE),
  customers: part(async () => (await import('./pages/customers/customers.js')).CustomersPage, ON_USE),
  couriers: part(async () => (await import('./pages/couriers/couriers.js')).CouriersPage, ON_USE),
  announcements: part(
    async () => (await import('./pages/announcements/announcements.js')).loadAnnouncementsPage(),
    ON_USE,
  ),
  bills: part(async () => (await import('./pages/bills/bills.js')).loadBillsPage(), ON_USE),
  rates: part(async () => (await import('./pages/rates/rates.js')).RatesPage, ON_USE),
  webhooks: part(async () => (await import('./pages/webhooks/webhooks.js')).loadWebhooksPage(), ON_USE),
  reports: part(async () => (await import('./pages/reports/reports.js')).loadReportsPage(), ON_USE),
  team: part(async () => (await import('./pages/team/team.js')).loadTeamPage(), ON_USE),
  settings: part(async () => (await import('./pages/settings/settings.js')).SettingsPage, ON_USE),
  audit: part(async () => (await import('./pages/audit.js')).AuditPage, ON_USE),
  me: part(async () => (await import('./pages/me.js')).MePage, ON_USE),
};
