import { useState } from 'preact/hooks';
import type { PackageEvent, PackageRecord, ScanResolution } from '../../../sdk/typescript/src/index.js';
import { GiveOwner } from '../owners/owner-dialog.js';
import { PrintButton } from '../station/print-button.js';
import { settings } from '../device/settings.js';
import { api } from '../session/session.js';
import { dateTime, pounds, t, textOf } from '../texts/texts.js';
import { useScans } from '../ui/keys.js';
import { useLoad } from '../ui/load.js';
import { Content, Empty, Field, Heading, Table, Tag } from '../ui/parts.js';
import { linkTo } from '../ui/router.js';
import { takeStrayWeight } from '../station/stray.js';
import { StatusTag } from '../ui/status.js';
import { Code } from '../ui/code.js';
import { Owner } from '../ui/owner.js';
import { findQuery } from './query.js';
import { VoidReceipt } from './void/void-receipt.js';
import { ClaimFact, meaningOf, ownerText } from '../staff/parcel-owner.js';
import { ManifestLink } from './record-links.js';

export function FindPage() {
  const [text, setText] = useState(findQuery.value);
  useScans((scan) => {
    findQuery.value = scan.text;
    setText(scan.text);
  }, takeStrayWeight);
  const query = findQuery.value;
  return (
    <>
      <Heading title={t('find.title')} />
      <form
        class="card"
        data-search
        data-takes-keys
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          findQuery.value = text.trim();
        }}
      >
        <Field label={t('find.label')} hint={t('find.hint')} value={text} onValue={setText} />
      </form>
      {query === '' ? (
        <Empty title={t('find.empty')}>{t('find.emptyHint')}</Empty>
      ) : (
        <Results key={query} query={query} />
      )}
    </>
  );
}

type Found = { resolution: ScanResolution; packages: PackageRecord[] };

const SHOWN = 25;

/** The records of a code, and the packages that contain it in their number, customer's name or code. */
async function find(query: string, abort: AbortSignal): Promise<Found> {
  const options = { signal: abort };
  const search = (filter: object) => api().packages.list({ ...filter, limit: SHOWN }, options);
  const [resolved, ...lists] = await Promise.all([
    api().packages.resolveScan({ scan: query }, options),
    search({ trackingNumber: query }),
    search({ userCode: query }),
    search({ lastName: query }),
  ]);
  const packages = new Map(lists.flatMap(({ data }) => data.map((found) => [found.package_id, found])));
  return { resolution: resolved.data, packages: [...packages.values()].slice(0, SHOWN) };
}

function Results({ query }: { query: string }) {
  const found = useLoad((abort) => find(query, abort), [query]);
  return (
    <Content of={found}>
      {({ resolution, packages }) => (
        <>
          <Meaning resolution={resolution} />
          <Packages resolution={resolution} packages={packages} />
        </>
      )}
    </Content>
  );
}

/** What the text is: the format of a carrier, and the records that have it. */
function Meaning({ resolution }: { resolution: ScanResolution }) {
  const { candidates, matches, next } = resolution;
  const hasMatch = Object.values(matches).some((records) => records.length > 0);
  if (candidates.length === 0 && !hasMatch && resolution.kind !== 'several_numbers') return null;
  // The next step is one of a parcel. A customer's code has none.
  const isParcel = candidates.length + matches.packages.length + matches.prealerts.length > 0;
  const noParcel = meaningOf(resolution);
  return (
    <section class="section card">
      <div class="heading">
        <h2>{t('find.meaning')}</h2>
        {isParcel && <Tag tint={next === 'review' ? 'warn' : 'plain'}>{textOf('next', next)}</Tag>}
      </div>
      <dl class="facts">
        {candidates.slice(0, 3).map(({ format, carrier_name, tracking_number, check, explanation }) => (
          <div key={format} class="fact-wide">
            <dt>{carrier_name}</dt>
            <dd>
              <span class="mono">{tracking_number}</span>{' '}
              <span class="muted">
                {settings.value.language === 'en' ? explanation : textOf('check', check)}
              </span>
            </dd>
          </div>
        ))}
        {noParcel && (
          <div class="fact-wide">
            <dt>{t('find.scanned')}</dt>
            <dd class="strong">{noParcel}</dd>
          </div>
        )}
        {isParcel && !noParcel && (
          <div>
            <dt>{t('common.owner')}</dt>
            <dd class="strong">{ownerText({ scan: resolution.text, resolution })}</dd>
          </div>
        )}
        {matches.prealerts.map((claim) => (
          <ClaimFact key={claim.prealert_id} of={claim} />
        ))}
        {matches.manifests.map(({ manifest_id, manifest_number, status }) => (
          <div key={manifest_id}>
            <dt>{t('common.manifest')}</dt>
            <dd>
              <a class="mono" href={linkTo('manifests', manifest_id)}>
                {manifest_number}
              </a>{' '}
              <Tag>{textOf('manifest', status)}</Tag>
            </dd>
          </div>
        ))}
        {matches.customers.map(({ courier_customer_id, user_code, first_name, last_name, courier_name }) => (
          <div key={courier_customer_id}>
            <dt>{t('find.customer')}</dt>
            <dd>
              {user_code} · {first_name} {last_name} · {courier_name}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

type Shown = Pick<
  PackageRecord,
  | 'package_id'
  | 'house_number'
  | 'tracking_number'
  | 'status'
  | 'user_code'
  | 'courier_name'
  | 'manifest_number'
  | 'entry_date_time'
> & { weight?: number };

function Packages({ resolution, packages }: Found) {
  const matched: Shown[] = resolution.matches.packages;
  const ids = new Set(matched.map(({ package_id }) => package_id));
  const rows: Shown[] = [
    ...matched.map((row) => packages.find(({ package_id }) => package_id === row.package_id) ?? row),
    ...packages.filter(({ package_id }) => !ids.has(package_id)),
  ];
  const [opened, setOpened] = useState(rows.length === 1 ? rows[0]?.package_id : undefined);
  const [voided, setVoided] = useState<Shown>();
  const shown = rows.find((row) => row.package_id === opened);
  const ownerless = shown && !shown.user_code ? shown : undefined;
  if (voided)
    return (
      <p class="success" role="status">
        {t('void.done', { number: voided.tracking_number })}
      </p>
    );
  if (rows.length === 0 && resolution.matches.prealerts.length > 0)
    return <Empty title={t('find.announced')}>{t('find.announcedHint')}</Empty>;
  if (rows.length === 0) return <Empty title={t('find.nothing')}>{t('find.nothingHint')}</Empty>;
  return (
    <section class="section">
      <h2>{t('common.packages')}</h2>
      <Table
        caption={t('common.packages')}
        rows={rows}
        keyOf={({ package_id }) => package_id}
        columns={[
          {
            title: t('common.house'),
            cell: ({ package_id, house_number }) => (
              <button
                type="button"
                class="link mono strong"
                aria-expanded={opened === package_id}
                onClick={() => setOpened(opened === package_id ? undefined : package_id)}
              >
                {house_number}
              </button>
            ),
          },
          { title: t('common.status'), cell: ({ status }) => <StatusTag status={status} /> },
          {
            title: t('common.number'),
            cell: ({ tracking_number }) => <Code text={tracking_number} />,
          },
          {
            title: t('common.owner'),
            cell: (row) => <Owner of={row} />,
          },
          {
            title: t('common.weight'),
            isNumber: true,
            isExtra: true,
            cell: ({ weight }) => (weight === undefined ? '' : pounds(weight)),
          },
          {
            title: t('common.manifest'),
            isExtra: true,
            cell: ({ manifest_number }) => <ManifestLink number={manifest_number} />,
          },
          {
            title: t('common.receivedAt'),
            isExtra: true,
            cell: ({ entry_date_time }) => dateTime(entry_date_time),
          },
        ]}
      />
      {ownerless && <GiveOwner key={ownerless.package_id} parcel={ownerless} />}
      {opened && <PackageHistory key={opened} packageId={opened} canPrint />}
      {shown && (
        <div class="section actions">
          <VoidReceipt key={shown.package_id} parcel={shown} onDone={() => setVoided(shown)} />
        </div>
      )}
    </section>
  );
}

/** Says in the language of the device that an earlier scan has changed the weight. */
const changeText = ({ previous_weight: before, weight: after }: Change, user: string | null): string =>
  t('find.receiptChanged', { before: pounds(before), after: pounds(after), user: user ?? '–' });

type Change = NonNullable<PackageEvent['weight_change']>;

/** What happened to a package, the latest first. */
export function PackageHistory({ packageId, canPrint }: { packageId: string; canPrint?: boolean }) {
  const history = useLoad(
    async (abort) => (await api().packages.listEvents({ package_id: packageId }, { signal: abort })).data,
    [packageId],
  );
  return (
    <section class="section card" aria-label={t('find.history')}>
      <div class="heading">
        <h2>{t('find.history')}</h2>
        {canPrint && <PrintButton packageId={packageId} text={t('label.print')} />}
      </div>
      <Content of={history}>
        {({ events }) => (
          <ol class="timeline">
            {events.map(
              ({ event_id, status, occurred_at, location, remarks, weight_change, recorded_by }) => (
                <li key={event_id}>
                  <StatusTag status={status} />
                  <span>{dateTime(occurred_at)}</span>
                  <span class="muted">
                    {weight_change
                      ? changeText(weight_change, recorded_by)
                      : [location, remarks].filter(Boolean).join(' · ')}
                  </span>
                </li>
              ),
            )}
          </ol>
        )}
      </Content>
    </section>
  );
}
