import uFuzzy from '@leeoniya/ufuzzy';
import { api } from '../../session/session.js';
import { t, textOf } from '../../texts/texts.js';
import { linkTo, officeLink } from '../../ui/router.js';
import type { OfficePage } from '../pages.js';

export type Entry = { kind: string; title: string; detail?: string; link: string };

const fuzzy = new uFuzzy({ intraMode: 1 });

/** Returns the pages and actions whose titles are like the text. All of them without a text. */
export function localEntries(text: string, pages: OfficePage[]): Entry[] {
  const ids = new Set<string>(pages.map(({ id }) => id));
  const page = (title: string, link: string): Entry => ({ kind: t('palette.page'), title, link });
  const action = (title: string, link: string): Entry => ({ kind: t('palette.action'), title, link });
  const entries = [
    ...pages.map(({ id, title }) => page(t(title), officeLink(id))),
    ...(['receive', 'load', 'find', 'manifests', 'flagged', 'today'] as const).map((id) =>
      page(`${t('office.station')}: ${t(`${id}.title`)}`, `/console${linkTo(id)}`),
    ),
    ...(ids.has('parcels')
      ? [
          action(t('palette.onHold'), officeLink('parcels', { status: 'on_hold,customs_hold' })),
          action(t('palette.old'), officeLink('parcels', { age: '30' })),
        ]
      : []),
    action(t('palette.claims'), officeLink(['unknown', 'claims'], { status: 'open' })),
    ...(ids.has('customers')
      ? [
          action(t('customers.new'), officeLink('customers', { new: 'customer' })),
          action(t('customers.import'), officeLink('customers', { new: 'import' })),
        ]
      : []),
    ...(ids.has('couriers') ? [action(t('couriers.new'), officeLink(['couriers', 'new']))] : []),
    ...(ids.has('bills')
      ? [
          action(t('announcements.new'), officeLink('announcements', { new: 'announcement' })),
          action(t('announcements.upload'), officeLink('announcements', { new: 'upload' })),
          page(t('run.title'), officeLink(['bills', 'run'])),
          page(t('accounts.title'), officeLink(['bills', 'accounts'])),
          action(t('palette.overdue'), officeLink(['bills', 'accounts'], { overdue: 'true' })),
          action(t('month.new'), officeLink(['bills', 'month'])),
          action(t('warehouse.new'), officeLink(['settings', 'warehouses'], { new: 'warehouse' })),
          action(t('carrier.new'), officeLink(['settings', 'carriers'], { new: 'carrier' })),
          page(`${t('settings.title')}: ${t('settingsTab.carriers')}`, officeLink(['settings', 'carriers'])),
          page(`${t('settings.title')}: ${t('terms.title')}`, officeLink(['settings', 'billing'])),
        ]
      : []),
    // Administrators have it, as the audit log.
    ...(ids.has('audit')
      ? [page(`${t('settings.title')}: ${t('settingsTab.security')}`, officeLink(['settings', 'security']))]
      : []),
    ...(ids.has('team') ? [action(t('team.new'), officeLink('team', { new: 'user' }))] : []),
  ];
  if (text === '') return entries;
  const titles = uFuzzy.latinize(entries.map(({ title }) => title));
  const [found, , order] = fuzzy.search(titles, uFuzzy.latinize([text])[0] ?? '', 1);
  const indices = order ? order.map((index) => found[index] ?? -1) : (found ?? []);
  return indices.map((index) => entries[index]).filter((entry) => entry !== undefined);
}

const SHOWN = 5;

/** Asks the service for customers, couriers, parcels and manifests. A role that has none of their pages gets the manifests only. */
export async function remoteEntries(
  text: string,
  pages: OfficePage[],
  signal: AbortSignal,
): Promise<Entry[]> {
  if (text.length < 2) return [];
  const client = api();
  const has = (id: OfficePage['id']) => pages.some((page) => page.id === id);
  const [customers, couriers, scan] = await Promise.all([
    has('customers')
      ? client.customers.search({ q: text, advanced: !/\d/.test(text), limit: SHOWN }, { signal })
      : { data: [] },
    has('couriers') ? client.couriers.list({ search: text, limit: SHOWN }, { signal }) : { data: [] },
    client.packages.resolveScan({ scan: text }, { signal }),
  ]);
  const { manifests } = scan.data.matches;
  const packages = has('parcels') ? scan.data.matches.packages : [];
  return [
    ...packages.slice(0, SHOWN).map(({ tracking_number, house_number, status }): Entry => ({
      kind: t('palette.parcel'),
      title: `${house_number} · ${tracking_number}`,
      detail: textOf('status', status),
      link: officeLink(['parcels', house_number]),
    })),
    ...manifests.slice(0, SHOWN).map(({ manifest_id, manifest_number, status }): Entry => ({
      kind: t('common.manifest'),
      title: manifest_number,
      detail: textOf('manifest', status),
      link: `/console${linkTo('manifests', manifest_id)}`,
    })),
    ...customers.data.map(({ user_code, first_name, last_name, courier_id, courier_name }): Entry => ({
      kind: t('common.customer'),
      title: `${user_code} · ${first_name} ${last_name}`,
      detail: courier_name,
      link: officeLink(['customers', user_code], { of: courier_id }),
    })),
    ...couriers.data.map(({ courier_code, courier_name }): Entry => ({
      kind: t('common.courier'),
      title: `${courier_code} · ${courier_name}`,
      link: officeLink(['couriers', courier_code]),
    })),
  ];
}
