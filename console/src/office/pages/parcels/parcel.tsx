import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { PackageDetail } from '../../../../../sdk/typescript/src/index.js';
import { VoidReceipt } from '../../../find/void/void-receipt.js';
import { OwnerDialog } from '../../../owners/owner-dialog.js';
import { api, session } from '../../../session/session.js';
import { saveFile } from '../../../staff/label.js';
import { dateTime, money, number, pounds, t, textOf } from '../../../texts/texts.js';
import { useAction, useLoad } from '../../../ui/load.js';
import { Content, Heading, Problem, Tag } from '../../../ui/parts.js';
import { linkTo, officeLink, openAddress } from '../../../ui/router.js';
import { ManifestTag, StatusTag } from '../../../ui/status.js';
import { FactList } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';
import { Changes } from './history/changes.js';
import { EditDialog } from './edit.js';
import { EventDialog } from './event-dialog.js';
import { canRecord, EVENTS, type EventKind } from './events.js';
import { LabelDialog } from './label-dialog.js';
import { canBeAdded, ManifestDialog } from './manifest-dialog.js';
import { SendAgainDialog } from './send-again.js';
import { Timeline } from './history/timeline.js';
import { part } from '../../../ui/part.js';
import type { LinkProps } from '../../../integration/tracking/link-section.js';
import { Deliveries } from './history/deliveries.js';

/** It loads with the first parcel. */
const LinkSection = part<LinkProps>(
  async () => (await import('../../../integration/tracking/link-section.js')).LinkSection,
  { isOnUse: true },
);

/** Everything about one parcel. Its address is its house number. */
export function ParcelPage({ number: house }: { number: string }) {
  const [round, setRound] = useState(0);
  const parcel = useLoad(
    async (signal) => (await api().packages.get({ package: house }, { signal })).data,
    [house, round],
  );
  const reload = () => setRound((last) => last + 1);
  return (
    <>
      <p>
        <a href={officeLink('parcels')}>{t('officeParcels.title')}</a>
      </p>
      {parcel.error && !parcel.data && <h1 class="unseen">{house}</h1>}
      <Content of={parcel}>{(data) => <Parcel parcel={data} round={round} onChanged={reload} />}</Content>
    </>
  );
}

type Props = { parcel: PackageDetail; onChanged: () => void };
type Task = EventKind | 'edit' | 'owner' | 'labels' | 'send' | 'manifest';

function Parcel({ parcel, round, onChanged }: Props & { round: number }) {
  const { house_number, package_id, status, user_code, manifest, courier_id } = parcel;
  const [task, setTask] = useState<Task>();
  const isAdmin = session.value?.user.role === 'admin';
  const pdf = useAction(async () => {
    const file = await api().packages.label({ package_id, format: 'pdf' });
    await saveFile(file, `${house_number}.pdf`);
  });
  const addable = { ...parcel, manifest_number: manifest?.manifest_number ?? null };
  return (
    <div class="stack parcel">
      <Heading title={house_number}>
        <StatusTag status={status} />
        <button type="button" class="primary" onClick={() => setTask('edit')}>
          {t('parcel.edit')}
        </button>
      </Heading>
      {parcel.is_disputed && (
        <p class="notice">
          {t('parcel.disputed')} <a href={officeLink(['unknown', house_number])}>{t('parcel.decide')}</a>
        </p>
      )}
      {!user_code && !parcel.is_disputed && (
        <p class="notice">
          {t('receive.packageNoOwner')}{' '}
          <a href={officeLink(['unknown', house_number])}>{t('parcel.whoClaims')}</a>{' '}
          <button type="button" class="quiet" onClick={() => setTask('owner')}>
            {t('owner.give')}
          </button>
        </p>
      )}
      <div class="actions" role="group" aria-label={t('parcel.actions')}>
        {EVENTS.filter((event) => canRecord(status, event)).map((event) => (
          <button
            key={event}
            type="button"
            class={event === 'lost' || event === 'returned' ? 'danger' : undefined}
            onClick={() => setTask(event)}
          >
            {t(`parcelEvent.${event}`)}
          </button>
        ))}
        {canBeAdded(addable) && (
          <button type="button" onClick={() => setTask('manifest')}>
            {t('officeParcels.toManifest')}
          </button>
        )}
        <button type="button" onClick={() => setTask('labels')}>
          {t('label.print')}
        </button>
        <button type="button" disabled={pdf.isBusy} onClick={() => pdf.run()}>
          {t('parcel.labelPdf')}
        </button>
        {!parcel.bill && (
          <VoidReceipt
            parcel={addable}
            onDone={() => {
              toast(t('void.done', { number: parcel.tracking_number }));
              openAddress(officeLink('parcels'));
            }}
          />
        )}
      </div>
      <Problem text={pdf.error} />
      <div class="columns">
        <Section title={t('parcel.owner')}>
          <OwnerFacts parcel={parcel} />
        </Section>
        <Section title={t('parcel.measures')}>
          <MeasureFacts parcel={parcel} />
        </Section>
        <Section title={t('parcel.where')}>
          <PlaceFacts parcel={parcel} />
        </Section>
        <Section title={t('parcel.bill')}>
          <BillFacts parcel={parcel} />
        </Section>
      </div>
      {parcel.customer && <LinkSection key={user_code} packageId={package_id} />}
      <Announcements parcel={parcel} />
      <Section title={t('find.history')}>
        <Timeline packageId={package_id} round={round} />
      </Section>
      <Section
        title={t('parcel.webhooks')}
        action={
          courier_id && (
            <button type="button" onClick={() => setTask('send')}>
              {t('officeParcels.sendAgain')}
            </button>
          )
        }
      >
        <Deliveries packageId={package_id} round={round} />
      </Section>
      <Section title={t('parcel.audit')}>
        <Changes packageId={package_id} round={round} hasAudit={isAdmin} />
      </Section>
      {task && (
        <TaskDialog task={task} parcel={parcel} onClose={() => setTask(undefined)} onChanged={onChanged} />
      )}
    </div>
  );
}

function TaskDialog({ task, parcel, ...props }: Props & { task: Task; onClose: () => void }) {
  if (task === 'edit') return <EditDialog parcel={parcel} {...props} />;
  if (task === 'labels') return <LabelDialog parcels={[parcel]} {...props} />;
  if (task === 'send') return <SendAgainDialog parcels={[parcel]} {...props} />;
  if (task === 'manifest') return <ManifestDialog parcels={[parcel]} {...props} />;
  if (task === 'owner')
    return (
      <OwnerDialog
        parcel={parcel}
        onClose={props.onClose}
        onDone={({ user_code }) => {
          props.onClose();
          toast(t('owner.given', { package: parcel.house_number, customer: user_code }));
          props.onChanged();
        }}
      />
    );
  return <EventDialog kind={task} parcels={[parcel]} {...props} />;
}

type SectionProps = { title: string; action?: ComponentChildren; children: ComponentChildren };

const Section = ({ title, action, children }: SectionProps) => (
  <section class="card stack">
    <div class="heading">
      <h2>{title}</h2>
      {action}
    </div>
    {children}
  </section>
);

function OwnerFacts({ parcel }: { parcel: PackageDetail }) {
  const { user_code, first_name, last_name, courier_id, courier_code, courier_name, customer } = parcel;
  const name = [first_name, last_name].filter(Boolean).join(' ');
  if (!user_code && !courier_id && !name) return <p class="muted">{t('parcel.noOwner')}</p>;
  return (
    <FactList
      facts={[
        [
          t('common.customer'),
          user_code && (
            <a
              key="customer"
              href={officeLink(['customers', user_code], courier_id ? { of: courier_id } : {})}
            >
              {user_code}
            </a>
          ),
        ],
        [t('parcel.name'), name],
        [t('customers.branch'), customer?.branch],
        [
          t('common.courier'),
          courier_code && (
            <a key="courier" href={officeLink(['couriers', courier_code])}>
              {courier_name}
            </a>
          ),
        ],
        [t('parcel.problem'), user_code && !customer && t('parcel.noCustomer')],
        [t('parcel.claimed'), parcel.is_claimed && t('parcel.claimedHint')],
      ]}
    />
  );
}

function MeasureFacts({ parcel }: { parcel: PackageDetail }) {
  const { weight, received_weight, length, width, height } = parcel;
  const size = [length, width, height];
  return (
    <FactList
      facts={[
        [
          t('common.number'),
          <span key="number" class="mono break">
            {parcel.tracking_number}
          </span>,
        ],
        [t('common.carrier'), parcel.carrier_name],
        [t('common.weight'), pounds(weight)],
        [
          t('parcel.receivedWeight'),
          received_weight !== null && received_weight !== weight && pounds(received_weight),
        ],
        [
          t('parcel.size'),
          size.some((side) => side !== null) &&
            `${size.map((side) => (side === null ? '–' : number(side))).join(' × ')} in`,
        ],
        [t('parcel.type'), parcel.package_type],
        [t('officeParcels.shipper'), parcel.shipper],
        [t('officeParcels.contents'), parcel.description],
      ]}
    />
  );
}

function PlaceFacts({ parcel }: { parcel: PackageDetail }) {
  const { manifest } = parcel;
  return (
    <FactList
      facts={[
        [t('common.receivedAt'), dateTime(parcel.entry_date_time)],
        [t('office.changed'), dateTime(parcel.updated_at)],
        [t('parcel.warehouse'), parcel.warehouse_name],
        [t('officeParcels.place'), parcel.location],
        [
          t('common.manifest'),
          manifest && (
            <span key="manifest">
              <a class="mono" href={`/console${linkTo('manifests', manifest.manifest_id)}`}>
                {manifest.manifest_number}
              </a>{' '}
              <ManifestTag status={manifest.status} />
            </span>
          ),
        ],
        [t('parcel.flight'), [manifest?.flight_number, manifest?.awb_number].filter(Boolean).join(' · ')],
      ]}
    />
  );
}

function BillFacts({ parcel: { bill } }: { parcel: PackageDetail }) {
  if (!bill) return <p class="muted">{t('parcel.noBill')}</p>;
  return (
    <FactList
      facts={[
        [
          t('bills.number'),
          <a key="bill" class="mono" href={officeLink(['bills', bill.bill_id])}>
            {bill.invoice_number}
          </a>,
        ],
        [t('common.status'), textOf('officeBill', bill.status)],
        [t('parcel.fee'), money(bill.amount)],
      ]}
    />
  );
}

/** Who has announced the number. */
function Announcements({ parcel: { claims } }: { parcel: PackageDetail }) {
  if (claims.length === 0) return null;
  return (
    <Section title={t('parcel.announcements')}>
      <ul class="claims">
        {claims.map((claim) => (
          <li key={claim.prealert_id}>
            <span class="strong">
              {[claim.user_code, claim.first_name, claim.last_name].filter(Boolean).join(' ')}
            </span>
            <span>{claim.courier_name}</span>
            <span class="muted">
              {[claim.vendor, claim.tracking_number, dateTime(claim.created_at)].filter(Boolean).join(' · ')}
            </span>
            <Tag tint={claim.status === 'flagged' ? 'warn' : 'plain'}>{textOf('prealert', claim.status)}</Tag>
          </li>
        ))}
      </ul>
    </Section>
  );
}
