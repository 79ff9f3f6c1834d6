import { useState } from 'preact/hooks';
import type { ParcelClaim } from '../../../../../sdk/typescript/src/index.js';
import { ClaimDocuments } from '../../../owners/claim-documents.js';
import { api, session } from '../../../session/session.js';
import { dateTime, t, textOf } from '../../../texts/texts.js';
import { Code } from '../../../ui/code.js';
import { Empty, Heading, Tag } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import type { ListState } from '../../list/state.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import type { ListColumn } from '../../list/table.js';
import { officePagesOf } from '../../pages.js';
import { FactList, Panel } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';
import { RefuseDialog } from './decide.js';

const STATUSES = ['open', 'approved', 'refused'] as const;

const ClaimTag = ({ status }: { status: string }) => (
  <Tag tint={status === 'open' ? 'warn' : status === 'approved' ? 'good' : 'plain'}>
    {textOf('claimStatus', status)}
  </Tag>
);

const columns = (): ListColumn<ParcelClaim>[] => [
  {
    id: 'tracking_number',
    title: t('common.number'),
    cell: ({ tracking_number }) => <Code text={tracking_number} isStrong />,
    text: ({ tracking_number }) => tracking_number,
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ status }) => <ClaimTag status={status} />,
    text: ({ status }) => textOf('claimStatus', status),
  },
  {
    id: 'user_code',
    title: t('common.customer'),
    cell: ({ user_code }) => user_code,
    text: ({ user_code }) => user_code,
  },
  {
    id: 'created_at',
    title: t('unknown.since'),
    cell: ({ created_at }) => dateTime(created_at),
    text: ({ created_at }) => created_at,
  },
  {
    id: 'decided_at',
    title: t('claims.decided'),
    cell: ({ decided_at }) => decided_at && dateTime(decided_at),
    text: ({ decided_at }) => decided_at ?? '',
  },
  {
    id: 'reason',
    title: t('flagged.reason'),
    cell: ({ reason }) => reason,
    text: ({ reason }) => reason ?? '',
  },
];

async function load({ filters, before }: ListState, signal: AbortSignal) {
  const { data, meta } = await api().claims.listParcel(
    {
      limit: PAGE_SIZE,
      // The service refuses a value that somebody has typed into the address.
      ...(filters['status'] ? { status: filters['status'] as 'open' } : {}),
      ...(before ? { before } : {}),
    },
    { signal },
  );
  return { rows: data, nextBefore: meta.next_before };
}

/** The claims of all couriers. One that fits no parcel is only here. */
export function ClaimsPage() {
  const list = useList('unknown', load);
  const { address, loaded } = list;
  const id = officeAddress.value?.query.get('of');
  const claim = loaded.data?.rows.find(({ claim_id }) => claim_id === id);
  const closeLink = address.linkTo('claims');
  return (
    <>
      <p>
        <a href={officeLink('unknown')}>{t('unknown.title')}</a>
      </p>
      <Heading title={t('claims.title')} />
      <DataList
        page="unknown/claims"
        title={t('claims.title')}
        of={list}
        columns={columns()}
        keyOf={({ claim_id }) => claim_id}
        nameOf={({ tracking_number }) => tracking_number}
        onOpen={({ claim_id }) => openAddress(address.linkTo('claims', { of: claim_id }))}
        isOpen={({ claim_id }) => claim_id === id}
        filters={[
          {
            name: 'status',
            label: t('common.status'),
            options: STATUSES.map((status) => [status, t(`claimStatus.${status}`)]),
          },
        ]}
        empty={{ title: t('claims.none'), hint: t('claims.noneHint') }}
        panel={
          id && (
            <Panel title={claim?.tracking_number ?? t('unknown.claim')} closeLink={closeLink}>
              {claim ? (
                <Details key={id} claim={claim} onChanged={loaded.reload} />
              ) : (
                loaded.data && <Empty title={t('unknown.elsewhere')}>{t('unknown.elsewhereHint')}</Empty>
              )}
            </Panel>
          )
        }
      />
    </>
  );
}

function Details({ claim, onChanged }: { claim: ParcelClaim; onChanged: () => void }) {
  const [isRefusing, setIsRefusing] = useState(false);
  const { status, user_code, tracking_number, package_id, reason, created_at, decided_at } = claim;
  const maySeeParcel = officePagesOf(session.value?.user.role ?? '').some(({ id }) => id === 'parcels');
  return (
    <div class="stack">
      <FactList
        facts={[
          [t('common.status'), <ClaimTag key="status" status={status} />],
          [t('common.customer'), user_code],
          [t('unknown.since'), dateTime(created_at)],
          [t('claims.decided'), decided_at && dateTime(decided_at)],
          [t('flagged.reason'), reason],
          [t('proof.title'), <ClaimDocuments key="documents" of={claim.documents} />],
          [
            t('palette.parcel'),
            package_id && maySeeParcel && (
              <a key="parcel" href={officeLink(['parcels', package_id])}>
                {t('unknown.all')}
              </a>
            ),
          ],
        ]}
      />
      {status === 'open' && (
        <>
          <p class="muted">{t('claims.openHint')}</p>
          <div class="actions">
            <button type="button" onClick={() => setIsRefusing(true)}>
              {t('unknown.refuseTitle')}
            </button>
          </div>
        </>
      )}
      {isRefusing && (
        <RefuseDialog
          claimId={claim.claim_id}
          claimant={user_code}
          number={tracking_number}
          onClose={() => setIsRefusing(false)}
          onDone={(said) => {
            setIsRefusing(false);
            toast(said);
            onChanged();
          }}
        />
      )}
    </div>
  );
}
