import { useState } from 'preact/hooks';
import type { PackageDetail } from '../../../../sdk/typescript/src/index.js';
import { PackageHistory } from '../../find/find.js';
import { FactList, Panel } from '../../office/ui/panel.js';
import { api } from '../../session/session.js';
import { date, dateTime, money, number, pounds, t, textOf } from '../../texts/texts.js';
import { Code } from '../../ui/code.js';
import { useLoad } from '../../ui/load.js';
import { Content } from '../../ui/parts.js';
import { linkTo } from '../../ui/router.js';
import { ManifestTag, StatusTag } from '../../ui/status.js';
import { part } from '../../ui/part.js';
import type { LinkProps } from '../../integration/tracking/link-section.js';
import { AssignDialog } from '../unknown/assign-dialog.js';

/** It loads with the first parcel. */
const LinkSection = part<LinkProps>(
  async () => (await import('../../integration/tracking/link-section.js')).LinkSection,
  { isOnUse: true },
);

type Props = {
  /** The house number, or the identifier. */
  number: string;
  closeLink: string;
  onChanged: () => void;
};

/** A parcel beside a list: its customer, flight, bill and history. */
export function ParcelPanel({ number: shown, closeLink, onChanged }: Props) {
  const parcel = useLoad(
    async (signal) => (await api().packages.get({ package: shown }, { signal })).data,
    [shown],
  );
  return (
    <Panel title={parcel.data?.house_number ?? shown} closeLink={closeLink}>
      <Content of={parcel}>
        {(data) => (
          <Details
            parcel={data}
            onChanged={() => {
              parcel.reload();
              onChanged();
            }}
          />
        )}
      </Content>
    </Panel>
  );
}

function Details({ parcel, onChanged }: { parcel: PackageDetail; onChanged: () => void }) {
  const [isAssigning, setIsAssigning] = useState(false);
  const { user_code, first_name, last_name, is_claimed, manifest, bill, claims } = parcel;
  return (
    <div class="stack">
      <FactList
        facts={[
          [t('common.status'), <StatusTag key="status" status={parcel.status} />],
          [t('common.number'), <Code key="number" text={parcel.tracking_number} />],
          [t('common.customer'), user_code ? <CustomerLink of={parcel} /> : t('parcels.unknown')],
          [t('myParcel.name'), [first_name, last_name].filter(Boolean).join(' ')],
          [t('customers.branch'), parcel.customer?.branch],
          [t('common.weight'), pounds(parcel.weight)],
          [t('myParcel.size'), sizeOf(parcel)],
          [t('common.vendor'), parcel.shipper],
          [t('announce.description'), parcel.description],
          [t('common.carrier'), parcel.carrier_name],
          [t('myParcel.warehouse'), parcel.warehouse_name],
          [t('common.receivedAt'), dateTime(parcel.entry_date_time)],
          [t('office.changed'), dateTime(parcel.updated_at)],
        ]}
      />
      {(!user_code || is_claimed) && (
        <div class="actions">
          <button
            type="button"
            class={user_code ? undefined : 'primary'}
            onClick={() => setIsAssigning(true)}
          >
            {t(user_code ? 'myParcel.otherCustomer' : 'myUnknown.assign')}
          </button>
        </div>
      )}
      {user_code && parcel.customer && <LinkSection key={user_code} packageId={parcel.package_id} />}
      <h3>{t('common.manifest')}</h3>
      {manifest ? <Flight of={manifest} /> : <p class="muted">{t('myParcel.noManifest')}</p>}
      <h3>{t('bills.number')}</h3>
      {bill ? (
        <FactList
          facts={[
            [
              t('bills.number'),
              <a key="bill" class="mono" href={linkTo('bills', bill.bill_id)}>
                {bill.invoice_number}
              </a>,
            ],
            [t('common.status'), textOf('officeBill', bill.status)],
            [t('statement.amount'), money(bill.amount)],
          ]}
        />
      ) : (
        <p class="muted">{t('myParcel.noBill')}</p>
      )}
      {claims.length > 0 && (
        <>
          <h3>{t('announce.at')}</h3>
          <ul class="stack">
            {claims.map(({ prealert_id, user_code: code, vendor, status, created_at }) => (
              <li key={prealert_id}>
                {[code, vendor, textOf('prealert', status), dateTime(created_at)].filter(Boolean).join(' · ')}
              </li>
            ))}
          </ul>
        </>
      )}
      <PackageHistory key={parcel.updated_at} packageId={parcel.package_id} />
      {isAssigning && (
        <AssignDialog
          parcel={parcel}
          onClose={() => setIsAssigning(false)}
          onDone={() => {
            setIsAssigning(false);
            onChanged();
          }}
        />
      )}
    </div>
  );
}

const CustomerLink = ({ of: { user_code } }: { of: PackageDetail }) =>
  user_code ? <a href={linkTo('customers', user_code)}>{user_code}</a> : null;

const Flight = ({ of }: { of: NonNullable<PackageDetail['manifest']> }) => (
  <FactList
    facts={[
      [
        t('common.manifest'),
        <span key="number" class="mono">
          {of.manifest_number}
        </span>,
      ],
      [t('common.status'), <ManifestTag key="status" status={of.status} />],
      [t('manifests.flightNumber'), of.flight_number],
      [t('manifests.flightDate'), of.flight_date && date(of.flight_date)],
      [t('manifests.awb'), of.awb_number],
      [
        t('common.packages'),
        <a key="link" href={linkTo('parcels', undefined, { manifest: of.manifest_id })}>
          {t('myParcel.sameManifest')}
        </a>,
      ],
    ]}
  />
);

const sizeOf = ({ length, width, height }: PackageDetail): string =>
  length !== null && width !== null && height !== null
    ? `${[length, width, height].map((side) => number(side)).join(' × ')} in`
    : '';
