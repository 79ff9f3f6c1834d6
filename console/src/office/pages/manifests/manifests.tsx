import { api } from '../../../session/session.js';
import { addTexts, t } from '../../../texts/texts.js';
import { Heading } from '../../../ui/parts.js';
import { linkTo, officeAddress, openAddress } from '../../../ui/router.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import { orderOf, type ListState } from '../../list/state.js';
import { manifestColumns } from './columns.js';
import { ManifestPanel } from './manifest-panel.js';
import { officeManifestsTexts } from './texts.js';

addTexts(officeManifestsTexts);

const STATUSES = ['draft', 'ready', 'shipped', 'completed'] as const;

async function load({ search, filters, sort, before }: ListState, signal: AbortSignal) {
  const { status, from, to } = filters;
  const { data, meta } = await api().manifests.list(
    {
      limit: PAGE_SIZE,
      ...(search ? { q: search } : {}),
      // A status or a column from elsewhere is refused by the service.
      ...(status ? { status: status as 'draft' } : {}),
      ...(from ? { flight_from: from } : {}),
      ...(to ? { flight_to: to } : {}),
      ...(before ? { before } : {}),
      ...orderOf(sort),
    },
    { signal },
  );
  return { rows: data, nextBefore: meta.next_before };
}

/** The manifests of all flights. They are changed on their page of the station. */
export function ManifestsPage() {
  const list = useList('manifests', load);
  const { address } = list;
  const number = officeAddress.value?.argument;
  return (
    <>
      <Heading title={t('manifests.title')}>
        <a class="button primary" href={`/console${linkTo('manifests', undefined, { new: 'manifest' })}`}>
          {t('manifests.create')}
        </a>
      </Heading>
      <DataList
        page="manifests"
        title={t('manifests.title')}
        of={list}
        columns={manifestColumns(address.linkTo)}
        keyOf={({ manifest_id }) => manifest_id}
        nameOf={({ manifest_number }) => manifest_number}
        onOpen={({ manifest_number }) => openAddress(address.linkTo(manifest_number))}
        isOpen={({ manifest_number }) => manifest_number === number}
        search={{ label: t('officeManifests.search') }}
        filters={[
          {
            name: 'status',
            label: t('common.status'),
            options: STATUSES.map((status) => [status, t(`manifest.${status}`)]),
          },
          { name: 'from', label: t('officeManifests.from'), type: 'date' },
          { name: 'to', label: t('officeManifests.to'), type: 'date' },
        ]}
        empty={{ title: t('manifests.none'), hint: t('manifests.noneHint') }}
        panel={number && <ManifestPanel key={number} number={number} closeLink={address.linkTo()} />}
      />
    </>
  );
}
