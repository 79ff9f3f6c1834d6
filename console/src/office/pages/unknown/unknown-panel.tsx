import { useState } from 'preact/hooks';
import type { UnknownParcel } from '../../../../../sdk/typescript/src/index.js';
import { ClaimDocuments } from '../../../owners/claim-documents.js';
import { OwnerDialog } from '../../../owners/owner-dialog.js';
import { session } from '../../../session/session.js';
import { dateTime, t } from '../../../texts/texts.js';
import { Content, Tag } from '../../../ui/parts.js';
import { officeLink, openAddress } from '../../../ui/router.js';
import { StatusTag } from '../../../ui/status.js';
import { officePagesOf } from '../../pages.js';
import { FactList, Panel } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';
import { AssignDialog, RefuseDialog } from './decide.js';
import { GuessWarning } from './guess-warning.js';
import { textOfClaimant, useNames, type Named } from './names.js';

type Props = { parcel: UnknownParcel; closeLink: string; onChanged: () => void };

type Opened = { task: 'assign' | 'refuse'; claimant: Named } | { task: 'owner' };

/** A parcel without an owner: who says that it is theirs, and the decision. */
export function UnknownPanel({ parcel, closeLink, onChanged }: Props) {
  const { house_number, tracking_number, status, entry_date_time, claimants } = parcel;
  const names = useNames(claimants);
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const done = (said: string) => {
    close();
    toast(said);
    onChanged();
  };
  const leave = (said: string) => {
    openAddress(closeLink);
    done(said);
  };
  const maySeeParcel = officePagesOf(session.value?.user.role ?? '').some(({ id }) => id === 'parcels');
  return (
    <Panel title={house_number} closeLink={closeLink}>
      <div class="stack">
        <FactList
          facts={[
            [
              t('common.number'),
              <span key="number" class="mono break">
                {tracking_number}
              </span>,
            ],
            [t('common.status'), <StatusTag key="status" status={status} />],
            [t('common.receivedAt'), dateTime(entry_date_time)],
          ]}
        />
        {maySeeParcel && (
          <p>
            <a href={officeLink(['parcels', house_number])}>{t('unknown.all')}</a>
          </p>
        )}
        <h3>{t('unknown.claimants')}</h3>
        {claimants.length === 0 && <p class="muted">{t('unknown.nobodyHint')}</p>}
        <Content of={names}>
          {(named) => (
            <ul class="claims">
              {named.map((claimant) => (
                <Claimant
                  key={claimant.claim_id ?? claimant.prealert_id}
                  claimant={claimant}
                  isOfOther={parcel.courier_id !== null && parcel.courier_id !== claimant.courier_id}
                  onOpen={(task) => setOpened({ task, claimant })}
                />
              ))}
            </ul>
          )}
        </Content>
        <div class="actions">
          <button type="button" onClick={() => setOpened({ task: 'owner' })}>
            {t('unknown.giveOther')}
          </button>
        </div>
      </div>
      {opened?.task === 'assign' && (
        <AssignDialog
          parcel={parcel}
          winner={opened.claimant}
          others={names.data?.filter((each) => each !== opened.claimant) ?? []}
          onClose={close}
          onDone={leave}
        />
      )}
      {opened?.task === 'refuse' && opened.claimant.claim_id && (
        <RefuseDialog
          claimId={opened.claimant.claim_id}
          claimant={textOfClaimant(opened.claimant)}
          number={tracking_number}
          onClose={close}
          onDone={done}
        />
      )}
      {opened?.task === 'owner' && (
        <OwnerDialog
          parcel={parcel}
          onClose={close}
          onDone={({ user_code }) => leave(t('owner.given', { package: house_number, customer: user_code }))}
        />
      )}
    </Panel>
  );
}

type ClaimantProps = { claimant: Named; isOfOther: boolean; onOpen: (task: 'assign' | 'refuse') => void };

function Claimant({ claimant, isOfOther, onOpen }: ClaimantProps) {
  const { claim_id, user_code, name, courier, since, after_receipt, documents } = claimant;
  return (
    <li>
      <span class="strong">{[user_code, name].filter(Boolean).join(' ')}</span>
      <span>{courier || t('unknown.noCustomer')}</span>
      <span class="muted">
        <Tag>{t(claim_id ? 'unknown.claim' : 'unknown.announcement')}</Tag> {dateTime(since)}
      </span>
      {!claim_id && after_receipt && <span>{t('unknown.afterReceipt')}</span>}
      <GuessWarning claimant={claimant} />
      {claim_id && <ClaimDocuments of={documents} />}
      {isOfOther ? (
        <span class="muted">{t('unknown.ofOther')}</span>
      ) : (
        <span class="actions">
          <button type="button" onClick={() => onOpen('assign')}>
            {t('unknown.give')}
            <span class="unseen"> {user_code}</span>
          </button>
        </span>
      )}
      {claim_id && (
        <span class="actions">
          <button type="button" class="quiet" onClick={() => onOpen('refuse')}>
            {t('unknown.refuse')}
            <span class="unseen"> {user_code}</span>
          </button>
        </span>
      )}
    </li>
  );
}
