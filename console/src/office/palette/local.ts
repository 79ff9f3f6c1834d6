// The pages and actions that the palette finds without the service. Data only, so that a test compares them with the pages.
import { officePagesOf, type OfficePageId } from '../pages.js';
import { pagesOf, type CourierPageId, type StaffPageId } from '../../pages.js';
import type { CourierKey } from '../../courier/texts/en.js';
import type { TextKey } from '../../texts/en.js';
import type { OfficeKey } from '../texts/en.js';

type Key = TextKey | OfficeKey | CourierKey;

/** Where an entry leads: to a page of the office, or to one of the station and the couriers, which has its address behind the hash. */
type Place = { query?: Record<string, string> } & (
  | { office: OfficePageId; part?: string }
  | { hash: StaffPageId | CourierPageId }
);

export type LocalEntry = Place & {
  kind: 'page' | 'action';
  /** Its name. What it is a part of stands before it: `Settings: Carriers`. */
  title: Key;
  of?: Key;
  /** Other words by which people look for it. They are not shown. */
  words?: OfficeKey;
  /** The roles that see this part of the page. Without it, all roles of the page. */
  roles?: readonly string[];
};

/** The parts of pages, and what can be done, in the order of the list without a text. */
const STAFF: LocalEntry[] = [
  { kind: 'action', title: 'palette.onHold', office: 'parcels', query: { status: 'on_hold,customs_hold' } },
  { kind: 'action', title: 'palette.old', office: 'parcels', query: { age: '30' } },
  { kind: 'page', title: 'claims.title', office: 'unknown', part: 'claims' },
  { kind: 'action', title: 'palette.claims', office: 'unknown', part: 'claims', query: { status: 'open' } },
  { kind: 'action', title: 'customers.new', office: 'customers', query: { new: 'customer' } },
  {
    kind: 'action',
    title: 'customers.import',
    words: 'palette.wordsUpload',
    office: 'customers',
    query: { new: 'import' },
  },
  { kind: 'action', title: 'couriers.new', office: 'couriers', part: 'new' },
  {
    kind: 'action',
    title: 'announcements.new',
    office: 'announcements',
    query: { new: 'announcement' },
  },
  {
    kind: 'action',
    title: 'announcements.upload',
    words: 'palette.wordsUpload',
    office: 'announcements',
    query: { new: 'upload' },
  },
  { kind: 'page', title: 'run.title', office: 'bills', part: 'run' },
  { kind: 'page', title: 'accounts.title', office: 'bills', part: 'accounts' },
  {
    kind: 'action',
    title: 'palette.overdue',
    office: 'bills',
    part: 'accounts',
    query: { overdue: 'true' },
  },
  { kind: 'action', title: 'month.new', office: 'bills', part: 'month' },
  { kind: 'page', title: 'putaway.title', hash: 'putaway' },
  { kind: 'action', title: 'manifests.create', hash: 'manifests', query: { new: 'manifest' } },
  { kind: 'action', title: 'palette.voidReceipt', words: 'palette.wordsVoid', hash: 'find' },
  { kind: 'action', title: 'team.new', words: 'palette.wordsUser', office: 'team', query: { new: 'user' } },
  {
    kind: 'page',
    of: 'settings.title',
    title: 'settingsTab.warehouses',
    office: 'settings',
    part: 'warehouses',
  },
  {
    kind: 'action',
    title: 'warehouse.new',
    office: 'settings',
    part: 'warehouses',
    query: { new: 'warehouse' },
  },
  { kind: 'page', of: 'settings.title', title: 'settingsTab.carriers', office: 'settings', part: 'carriers' },
  { kind: 'action', title: 'carrier.new', office: 'settings', part: 'carriers', query: { new: 'carrier' } },
  { kind: 'page', of: 'settings.title', title: 'settingsTab.stations', office: 'settings', part: 'stations' },
  {
    kind: 'page',
    of: 'settings.title',
    title: 'settingsTab.billing',
    words: 'terms.title',
    office: 'settings',
    part: 'billing',
  },
  {
    kind: 'page',
    of: 'settings.title',
    title: 'settingsTab.region',
    office: 'settings',
    part: 'region',
    roles: ['admin'],
  },
  {
    kind: 'page',
    of: 'settings.title',
    title: 'settingsTab.security',
    office: 'settings',
    part: 'security',
    roles: ['admin'],
  },
  {
    kind: 'page',
    of: 'settings.title',
    title: 'settingsTab.tokens',
    office: 'settings',
    part: 'tokens',
    roles: ['admin'],
  },
  { kind: 'action', title: 'menu.password', words: 'palette.wordsAccount', office: 'me' },
];

const COURIER: LocalEntry[] = [
  { kind: 'action', title: 'myClaim.new', hash: 'claims', query: { new: 'claim' } },
  { kind: 'action', title: 'myAnnounce.lines', hash: 'announce', query: { new: 'lines' } },
  {
    kind: 'action',
    title: 'myAnnounce.file',
    words: 'palette.wordsUpload',
    hash: 'announce',
    query: { new: 'file' },
  },
  { kind: 'action', title: 'customers.new', hash: 'customers', query: { new: 'customer' } },
  {
    kind: 'action',
    title: 'customers.import',
    words: 'palette.wordsUpload',
    hash: 'customers',
    query: { new: 'import' },
  },
  { kind: 'action', title: 'tokens.new', hash: 'tokens', query: { new: 'token' } },
];

/** Returns what a user of the role may open: every page, the parts of pages, and the actions. */
export function localEntriesOf(role: string): LocalEntry[] {
  const office = officePagesOf(role);
  const pages = pagesOf(role);
  const isCourier = role === 'courier';
  const has = (entry: LocalEntry) =>
    'office' in entry
      ? office.some(({ id }) => id === entry.office)
      : pages.some(({ id }) => id === entry.hash);
  return [
    ...office.map(({ id, title }): LocalEntry => ({ kind: 'page', title, office: id })),
    ...pages.map(({ id, title }): LocalEntry => ({
      kind: 'page',
      title,
      hash: id,
      ...(isCourier ? {} : { of: 'office.station' }),
    })),
    ...(isCourier ? COURIER : STAFF).filter((entry) => has(entry) && (entry.roles?.includes(role) ?? true)),
  ];
}
