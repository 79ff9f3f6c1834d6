import { loadAnnouncedTexts } from '../../../texts/on-use/announced/announced.js';
import type { UnknownParcel } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, t } from '../../../texts/texts.js';
import { Code } from '../../../ui/code.js';
import { Empty, Heading, Tag } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { StatusTag } from '../../../ui/status.js';
import type { ListState } from '../../list/state.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import type { ListColumn } from '../../list/table.js';
import { ClaimsPage } from './claims.js';
import { Panel } from '../../ui/panel.js';
import { UnknownPanel } from './unknown-panel.js';

/** The part of the address that opens the claims. House numbers have capital letters. */
const CLAIMS = 'claims';

const codesOf = ({ claimants }: UnknownParcel) => claimants.map(({ user_code }) => user_code).join(', ');

const columns = (): ListColumn<UnknownParcel>[] => [
  {
    id: 'house_number',
    title: t('common.house'),
    cell: ({ house_number }) => (
      <a class="mono strong" href={officeLink(['unknown', house_number])}>
        {house_number}
      </a>
    ),
    text: ({ house_number }) => house_number,
  },
  {
    id: 'claimants',
    title: t('unknown.claimants'),
    cell: ({ claimants }) => <ClaimantsTag count={claimants.length} />,
    text: ({ claimants }) => claimants.length,
  },
  { id: 'codes', title: t('unknown.who'), cell: codesOf, text: codesOf },
  {
    id: 'tracking_number',
    title: t('common.number'),
    cell: ({ tracking_number }) => <Code text={tracking_number} />,
    text: ({ tracking_number }) => tracking_number,
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ status }) => <StatusTag status={status} />,
    text: ({ status }) => status,
  },
  {
    id: 'entry_date_time',
    title: t('common.receivedAt'),
    cell: ({ entry_date_time }) => dateTime(entry_date_time),
    text: ({ entry_date_time }) => entry_date_time,
  },
];

const ClaimantsTag = ({ count }: { count: number }) =>
  count === 0 ? (
    <span class="muted">{t('unknown.nobody')}</span>
  ) : (
    <Tag tint={count > 1 ? 'warn' : 'good'}>
      {count > 1 ? t('unknown.several', { count }) : t('unknown.one')}
    </Tag>
  );

async function load({ before }: ListState, signal: AbortSignal) {
  const { data, meta } = await api().claims.listUnknownParcels(
    { limit: PAGE_SIZE, ...(before ? { before } : {}) },
    { signal },
  );
  return { rows: data, nextBefore: meta.next_before };
}

/** The page with its texts. */
export async function loadUnknownPage() {
  await loadAnnouncedTexts();
  return UnknownPage;
}

/** The parcels without an owner, or the claims. */
const UnknownPage = () => (officeAddress.value?.argument === CLAIMS ? <ClaimsPage /> : <UnknownParcels />);

function UnknownParcels() {
  const list = useList('unknown', load);
  const { address, loaded } = list;
  const house = officeAddress.value?.argument;
  const parcel = loaded.data?.rows.find(({ house_number }) => house_number === house);
  return (
    <>
      <Heading title={t('unknown.title')}>
        <a class="button" href={officeLink(['unknown', CLAIMS])}>
          {t('claims.title')}
        </a>
      </Heading>
      <DataList
        page="unknown"
        title={t('unknown.title')}
        of={list}
        columns={columns()}
        keyOf={({ package_id }) => package_id}
        nameOf={({ house_number }) => house_number}
        onOpen={({ house_number }) => openAddress(address.linkTo(house_number))}
        isOpen={({ house_number }) => house_number === house}
        empty={{ title: t('unknown.none'), hint: t('unknown.noneHint') }}
        panel={
          house &&
          (parcel ? (
            <UnknownPanel
              key={house}
              parcel={parcel}
              closeLink={address.linkTo()}
              onChanged={loaded.reload}
            />
          ) : (
            <Panel title={house} closeLink={address.linkTo()}>
              {loaded.data && <Empty title={t('unknown.elsewhere')}>{t('unknown.elsewhereHint')}</Empty>}
            </Panel>
          ))
        }
      />
    </>
  );
}
