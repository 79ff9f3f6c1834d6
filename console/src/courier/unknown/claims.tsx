import type { ParcelClaim } from '../../../../sdk/typescript/src/index.js';
import type { ListState } from '../../office/list/state.js';
import { DataList } from '../../office/list/data-list.js';
import { PAGE_SIZE, useHashList } from '../../office/list/listed.js';
import type { ListColumn } from '../../office/list/table.js';
import { FactList, Panel } from '../../office/ui/panel.js';
import { api } from '../../session/session.js';
import { dateTime, t, textOf } from '../../texts/texts.js';
import { Empty, Heading, Problem, Tag } from '../../ui/parts.js';
import { linkTo, openAddress, route } from '../../ui/router.js';
import { ClaimDocuments, DocumentField, MAX_DOCUMENTS } from '../../owners/claim-documents.js';
import { toast } from '../../office/ui/toasts.js';
import { useAction } from '../../ui/load.js';
import { PageTabs } from '../ui/page-tabs.js';
import { useWanted } from '../ui/wanted.js';
import { ClaimDialog } from './claim-dialog.js';

const STATUSES = ['open', 'approved', 'refused'] as const;

const ClaimTag = ({ status }: { status: string }) => (
  <Tag tint={status === 'approved' ? 'good' : status === 'refused' ? 'bad' : 'warn'}>
    {textOf('myClaimStatus', status)}
  </Tag>
);

/** The reason of a refusal. Without one, what is known of it. */
const reasonOf = ({ status, reason }: ParcelClaim): string =>
  reason ?? (status === 'refused' ? t('myClaim.noReason') : '');

const columns = (): ListColumn<ParcelClaim>[] => [
  {
    id: 'tracking_number',
    title: t('common.number'),
    cell: ({ claim_id, tracking_number }) => (
      <a class="mono strong" href={linkTo('claims', claim_id)}>
        {tracking_number}
      </a>
    ),
    text: ({ tracking_number }) => tracking_number,
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ status }) => <ClaimTag status={status} />,
    text: ({ status }) => textOf('myClaimStatus', status),
  },
  {
    id: 'user_code',
    title: t('common.customer'),
    cell: ({ user_code }) => user_code,
    text: ({ user_code }) => user_code,
  },
  { id: 'reason', title: t('myClaim.reason'), cell: reasonOf, text: reasonOf },
  {
    id: 'created_at',
    title: t('myClaim.at'),
    cell: ({ created_at }) => dateTime(created_at),
    text: ({ created_at }) => created_at,
  },
  {
    id: 'decided_at',
    title: t('myClaim.decided'),
    cell: ({ decided_at }) => decided_at && dateTime(decided_at),
    text: ({ decided_at }) => decided_at ?? '',
  },
];

async function load({ filters, before }: ListState, signal: AbortSignal) {
  const status = STATUSES.find((each) => each === filters['status']);
  const { data, meta } = await api().claims.listParcel(
    { limit: PAGE_SIZE, ...(status ? { status } : {}), ...(before ? { before } : {}) },
    { signal },
  );
  return { rows: data, nextBefore: meta.next_before };
}

/** The claims of the courier: what was claimed for whom, and what the warehouse has decided. */
export function ClaimsPage() {
  const list = useHashList('claims', load);
  const { address, loaded } = list;
  const { argument: shown } = route.value;
  const { opened, open, close } = useWanted(['claim'], address.linkTo(shown));
  const claim = loaded.data?.rows.find(({ claim_id }) => claim_id === shown);
  return (
    <>
      <Heading title={t('courierPage.claims')}>
        <button type="button" class="primary" onClick={() => open('claim')}>
          {t('myClaim.new')}
        </button>
      </Heading>
      <PageTabs of="unknown" />
      <p class="lead">{t('myClaim.lead')}</p>
      <DataList
        page="claims"
        title={t('courierPage.claims')}
        of={list}
        columns={columns()}
        keyOf={({ claim_id }) => claim_id}
        nameOf={({ tracking_number }) => tracking_number}
        onOpen={({ claim_id }) => openAddress(address.linkTo(claim_id))}
        isOpen={({ claim_id }) => claim_id === shown}
        filters={[
          {
            name: 'status',
            label: t('common.status'),
            options: STATUSES.map((each) => [each, t(`myClaimStatus.${each}`)]),
          },
        ]}
        empty={{ title: t('myClaim.none'), hint: t('myClaim.noneHint') }}
        panel={
          shown &&
          loaded.data && (
            <Panel
              key={shown}
              title={claim?.tracking_number ?? t('courierPage.claims')}
              closeLink={address.linkTo()}
            >
              {claim ? (
                <Claim of={claim} onChanged={loaded.reload} />
              ) : (
                <Empty title={t('myClaim.elsewhere')} />
              )}
            </Panel>
          )
        }
      />
      {opened && (
        <ClaimDialog
          onClose={close}
          onDone={() => {
            close();
            loaded.reload();
          }}
        />
      )}
    </>
  );
}

function Claim({ of: claim, onChanged }: { of: ParcelClaim; onChanged: () => void }) {
  const { claim_id, documents } = claim;
  const add = useAction(async (file: File) => {
    await api().claims.addDocument({ claim_id, document: file });
    toast(t('proof.added'));
    onChanged();
  });
  return (
    <div class="stack">
      <FactList
        facts={[
          [t('common.status'), <ClaimTag key="status" status={claim.status} />],
          [
            t('common.customer'),
            <a key="customer" href={linkTo('customers', claim.user_code)}>
              {claim.user_code}
            </a>,
          ],
          [t('myClaim.reason'), reasonOf(claim)],
          [t('myClaim.at'), dateTime(claim.created_at)],
          [t('myClaim.decided'), claim.decided_at && dateTime(claim.decided_at)],
          [t('proof.title'), <ClaimDocuments key="documents" of={documents} />],
        ]}
      />
      {claim.status === 'open' && (
        <>
          <p>{t('myClaim.next2')}</p>
          {documents.length < MAX_DOCUMENTS && (
            <DocumentField
              // A new field, so that the same file can be chosen again.
              key={documents.length}
              isBusy={add.isBusy}
              onFile={(file) => file && add.run(file)}
            />
          )}
          <Problem text={add.error} />
        </>
      )}
      {claim.package_id && (
        <p>
          <a href={linkTo('parcels', claim.package_id)}>{t('myClaim.parcel')}</a>
        </p>
      )}
    </div>
  );
}
