import type { PackageStatistics } from '../../../../../sdk/typescript/src/index.js';
import { date, dateTime, number, pounds, t } from '../../../texts/texts.js';
import { Figure, Waiting } from '../../../ui/data/figure.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty, Heading, Table } from '../../../ui/parts.js';
import { linkTo, officeLink } from '../../../ui/router.js';
import { ManifestTag } from '../../../ui/status.js';
import { readFigures, type Figures } from './figures.js';
import { HourChart } from '../../../ui/data/hour-chart.js';

/** What the warehouse is doing today, against the same day of last week, and what needs a person. Each figure leads to its list. */
export function HomePage() {
  const figures = useLoad((signal) => readFigures(signal), []);
  return (
    <>
      <Heading title={t('home.title')}>
        <button type="button" onClick={figures.reload}>
          {t('today.refresh')}
        </button>
      </Heading>
      <Content of={figures}>{(data) => <Overview of={data} />}</Content>
    </>
  );
}

function Overview({ of }: { of: Figures }) {
  const { today, before, statistics, hoursBefore, soFarBefore, attention, manifests } = of;
  const { total, total_before, in_warehouse } = statistics;
  const ofDay = (day: string, extra: Record<string, string> = {}) =>
    officeLink('parcels', { from: day, to: day, ...extra });
  return (
    <div class="stack home">
      <dl class="figures">
        <Figure title={t('today.received')} note={t('home.soFar', { count: soFarBefore })}>
          <a href={ofDay(today)}>{number(total.count)}</a>
        </Figure>
        <Figure title={t('common.weight')} note={t('home.wholeDay', { value: pounds(total_before.weight) })}>
          {pounds(total.weight)}
        </Figure>
        <Figure
          title={t('home.inWarehouse')}
          note={
            in_warehouse.oldest
              ? t('home.oldest', { at: dateTime(in_warehouse.oldest) })
              : pounds(in_warehouse.weight)
          }
        >
          <a href={officeLink('parcels', { age: '0' })}>{number(in_warehouse.count)}</a>
        </Figure>
      </dl>
      <section class="stack">
        <h2>{t('home.attention')}</h2>
        <Waiting items={attention} links={LINKS} />
      </section>
      <section class="card stack">
        <div class="heading">
          <h2>{t('home.hours')}</h2>
          <span class="muted">{t('home.compared', { day: date(before) })}</span>
        </div>
        <HourChart
          caption={t('home.hours')}
          title={t('today.title')}
          hours={statistics.hours.map(({ count }) => count)}
          before={{ title: t('home.sameDay'), hours: hoursBefore }}
        />
      </section>
      <div class="columns">
        <section class="stack">
          <h2>{t('home.couriers')}</h2>
          {statistics.couriers.length === 0 ? (
            <p class="muted">{t('home.noCouriers')}</p>
          ) : (
            <Couriers
              of={statistics}
              linkOf={(filter) => ofDay(today, filter)}
              linkBefore={(filter) => ofDay(before, filter)}
            />
          )}
        </section>
        <section class="stack">
          <h2>{t('home.ages')}</h2>
          <Ages of={statistics} />
        </section>
      </div>
      <section class="stack">
        <h2>{t('home.manifests')}</h2>
        <Manifests of={manifests} />
      </section>
    </div>
  );
}

/** Where the records of each kind are. Bills are with their couriers. */
const LINKS: Record<string, string> = {
  unknown_packages: officeLink('unknown'),
  open_claims: officeLink(['unknown', 'claims'], { status: 'open' }),
  flagged_prealerts: officeLink('announcements', { status: 'flagged' }),
  packages_on_hold: officeLink('parcels', { status: 'on_hold,customs_hold' }),
  old_packages: officeLink('parcels', { age: '30', sort: 'entry_date_time' }),
  failing_webhooks: officeLink('webhooks'),
  draft_bills: officeLink('bills', { status: 'draft' }),
  unpaid_bills: officeLink('bills', { status: 'published' }),
  missing_prealerts: officeLink('announcements', { status: 'missing' }),
  overdue_bills: officeLink('bills', { overdue: 'true' }),
};

type CouriersProps = {
  of: PackageStatistics;
  linkOf: (filter: Record<string, string>) => string;
  linkBefore: (filter: Record<string, string>) => string;
};

function Couriers({ of: { couriers }, linkOf, linkBefore }: CouriersProps) {
  const filterOf = (id: string | null): Record<string, string> => (id ? { courier: id } : { owner: 'none' });
  return (
    <Table
      caption={t('home.couriers')}
      rows={couriers}
      keyOf={({ courier_id }) => courier_id ?? ''}
      columns={[
        { title: t('common.courier'), cell: ({ courier_name }) => courier_name ?? t('today.unknown') },
        {
          title: t('today.title'),
          isNumber: true,
          cell: ({ courier_id, count }) => <a href={linkOf(filterOf(courier_id))}>{number(count)}</a>,
        },
        {
          title: t('home.sameDay'),
          isNumber: true,
          cell: ({ courier_id, count_before }) => (
            <a href={linkBefore(filterOf(courier_id))}>{number(count_before)}</a>
          ),
        },
        { title: t('common.weight'), isNumber: true, isExtra: true, cell: ({ weight }) => pounds(weight) },
      ]}
    />
  );
}

/** How long parcels have been in the warehouse. The links lead to all that are as old or older, which is what the list can show. */
function Ages({ of: { in_warehouse } }: { of: PackageStatistics }) {
  const { ages } = in_warehouse;
  const rows = ages.map((age, index) => ({
    ...age,
    atLeast: ages.slice(index).reduce((sum, { count }) => sum + count, 0),
  }));
  return (
    <Table
      caption={t('home.ages')}
      rows={rows}
      keyOf={({ min_days }) => String(min_days)}
      columns={[
        {
          title: t('home.days'),
          cell: ({ min_days, max_days }) =>
            max_days === null ? t('home.daysOver', { from: min_days }) : `${min_days} – ${max_days}`,
        },
        { title: t('common.packages'), isNumber: true, cell: ({ count }) => number(count) },
        { title: t('common.weight'), isNumber: true, isExtra: true, cell: ({ weight }) => pounds(weight) },
        {
          title: t('home.atLeast'),
          isNumber: true,
          cell: ({ min_days, atLeast }) => (
            <a href={officeLink('parcels', { age: String(min_days), sort: 'entry_date_time' })}>
              {number(atLeast)}
            </a>
          ),
        },
      ]}
    />
  );
}

function Manifests({ of: manifests }: { of: Figures['manifests'] }) {
  if (manifests.length === 0)
    return (
      <Empty title={t('officeParcels.noOpenManifest')}>
        <a href={`/console${linkTo('manifests')}`}>{t('officeParcels.createManifest')}</a>
      </Empty>
    );
  return (
    <Table
      caption={t('home.manifests')}
      rows={manifests}
      keyOf={({ manifest_id }) => manifest_id}
      columns={[
        {
          title: t('common.manifest'),
          cell: ({ manifest_id, manifest_number }) => (
            <a class="mono" href={`/console${linkTo('manifests', manifest_id)}`}>
              {manifest_number}
            </a>
          ),
        },
        { title: t('common.status'), cell: ({ status }) => <ManifestTag status={status} /> },
        {
          title: t('manifests.flightDate'),
          cell: ({ flight_date }) => flight_date && date(flight_date),
        },
        {
          title: t('common.packages'),
          isNumber: true,
          cell: ({ manifest_number, packages }) => (
            <a href={officeLink('parcels', { manifest: manifest_number })}>{number(packages)}</a>
          ),
        },
        {
          title: t('common.weight'),
          isNumber: true,
          isExtra: true,
          cell: ({ weight_lb }) => pounds(weight_lb),
        },
      ]}
    />
  );
}
