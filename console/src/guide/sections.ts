import type { OfficePageId } from '../office/pages.js';
import type { PageId } from '../pages.js';

/** Where the user guide explains each page of the station and of couriers: a path below the start of the guide, and a section. */
export const GUIDE = {
  receive: '/receiving#receive',
  putaway: '/receiving#put-away',
  load: '/loading#load',
  find: '/receiving#find',
  manifests: '/loading#manifests',
  flagged: '/disputes#flagged',
  today: '/receiving#today',
  home: '/couriers#home',
  parcels: '/couriers#parcels',
  unknown: '/couriers#unknown',
  claims: '/couriers#claims',
  announce: '/couriers#announce',
  customers: '/couriers#customers',
  syncs: '/couriers#syncs',
  bills: '/couriers#bills',
  month: '/couriers#month',
  statement: '/couriers#statement',
  developers: '/couriers#developers',
  webhooks: '/couriers#webhooks',
  tokens: '/couriers#tokens',
  calls: '/couriers#tokens',
  feeds: '/couriers#feeds',
  events: '/couriers#webhooks',
  team: '/couriers#team',
  profile: '/couriers#profile',
} as const satisfies Record<PageId, string>;

/** The same for the pages of the office. */
export const OFFICE_GUIDE = {
  home: '/managers#home',
  parcels: '/managers#parcels',
  places: '/managers#places',
  manifests: '/managers#manifests',
  unknown: '/disputes#unknown',
  customers: '/managers#customers',
  couriers: '/managers#couriers',
  announcements: '/managers#announcements',
  bills: '/billing#bills',
  webhooks: '/managers#webhooks',
  reports: '/managers#reports',
  rates: '/billing#rates',
  team: '/managers#team',
  settings: '/managers#settings',
  audit: '/managers#audit',
  me: '/managers#me',
} as const satisfies Record<OfficePageId, string>;

/** Where the guide explains the login, the account and the settings of a device. */
export const LOGIN_GUIDE = '#log-in';

/** Returns the address of a section of the guide. Sections have the same ids in every language. */
export const guideAddress = (section: string, language: 'en' | 'es'): string =>
  `/docs/${language === 'es' ? 'es/' : ''}guide${section}`;
