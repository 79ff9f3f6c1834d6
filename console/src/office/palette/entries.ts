import uFuzzy from '@leeoniya/ufuzzy';
import { api } from '../../session/session.js';
import { t, textOf } from '../../texts/texts.js';
import { linkTo, officeLink } from '../../ui/router.js';
import { SHORTEST_TEXT } from '../list/package-search.js';
import { officePagesOf, type OfficePage } from '../pages.js';
import { localEntriesOf, type LocalEntry } from './local.js';

export type Entry = { kind: string; title: string; detail?: string; link: string };

const fuzzy = new uFuzzy({ intraMode: 1 });

/** Returns the pages and actions of the role whose names are like the text. All of them without a text. */
export function localEntries(text: string, role: string): Entry[] {
  const local = localEntriesOf(role);
  const entries = local.map(entryOf);
  if (text === '') return entries;
  const names = entries.map(({ title }, index) => {
    const words = local[index]?.words;
    return words ? `${title} ${t(words)}` : title;
  });
  const [found, , order] = fuzzy.search(uFuzzy.latinize(names), uFuzzy.latinize([text])[0] ?? '', 1);
  const indices = order ? order.map((index) => found[index] ?? -1) : (found ?? []);
  return indices.map((index) => entries[index]).filter((entry) => entry !== undefined);
}

function entryOf(entry: LocalEntry): Entry {
  const { kind, title, of, query } = entry;
  return {
    kind: t(`palette.${kind}`),
    title: of ? `${t(of)}: ${t(title)}` : t(title),
    link:
      'office' in entry
        ? officeLink(entry.part ? [entry.office, entry.part] : entry.office, query)
        : `/console${linkTo(entry.hash, undefined, query)}`,
  };
}

const SHOWN = 5;

/** Asks the service for customers, couriers, parcels and manifests, as far as the role has their pages. */
export async function remoteEntries(text: string, role: string, signal: AbortSignal): Promise<Entry[]> {
  if (text.length < 2) return [];
  return role === 'courier' ? ownEntries(text, signal) : staffEntries(text, officePagesOf(role), signal);
}

/** What a courier finds: its parcels by a part of the number, the house number or the customer, and its customers. */
async function ownEntries(text: string, signal: AbortSignal): Promise<Entry[]> {
  const client = api();
  const [customers, packages] = await Promise.all([
    client.customers.search({ q: text, advanced: isName(text), limit: SHOWN }, { signal }),
    text.length < SHORTEST_TEXT ? { data: [] } : client.packages.list({ q: text, limit: SHOWN }, { signal }),
  ]);
  return [
    ...packages.data.map((found) => parcelEntry(found, `/console${linkTo('parcels', found.house_number)}`)),
    ...customers.data.map((found) => customerEntry(found, `/console${linkTo('customers', found.user_code)}`)),
  ];
}

const isName = (text: string) => !/\d/.test(text);

async function staffEntries(text: string, pages: OfficePage[], signal: AbortSignal): Promise<Entry[]> {
  const client = api();
  const has = (id: OfficePage['id']) => pages.some((page) => page.id === id);
  const [customers, couriers, scan] = await Promise.all([
    has('customers')
      ? client.customers.search({ q: text, advanced: isName(text), limit: SHOWN }, { signal })
      : { data: [] },
    has('couriers') ? client.couriers.list({ search: text, limit: SHOWN }, { signal }) : { data: [] },
    client.packages.resolveScan({ scan: text }, { signal }),
  ]);
  const { manifests } = scan.data.matches;
  const packages = has('parcels') ? scan.data.matches.packages : [];
  return [
    ...packages
      .slice(0, SHOWN)
      .map((found) => parcelEntry(found, officeLink(['parcels', found.house_number]))),
    ...manifests.slice(0, SHOWN).map(({ manifest_id, manifest_number, status }): Entry => ({
      kind: t('common.manifest'),
      title: manifest_number,
      detail: textOf('manifest', status),
      link: `/console${linkTo('manifests', manifest_id)}`,
    })),
    ...customers.data.map((found) => ({
      ...customerEntry(found, officeLink(['customers', found.user_code], { of: found.courier_id })),
      detail: found.courier_name,
    })),
    ...couriers.data.map(({ courier_code, courier_name }): Entry => ({
      kind: t('common.courier'),
      title: `${courier_code} · ${courier_name}`,
      link: officeLink(['couriers', courier_code]),
    })),
  ];
}

type Parcel = { house_number: string; tracking_number: string; status: string };

const parcelEntry = (
  { house_number: house, tracking_number: number, status }: Parcel,
  link: string,
): Entry => ({
  kind: t('palette.parcel'),
  title: `${house} · ${number}`,
  detail: textOf('status', status),
  link,
});

type Named = { user_code: string; first_name: string; last_name: string };

const customerEntry = (
  { user_code: code, first_name: first, last_name: last }: Named,
  link: string,
): Entry => ({
  kind: t('common.customer'),
  title: `${code} · ${first} ${last}`,
  link,
});
