import type { PackageStatistics } from '../../../../../sdk/typescript/src/index.js';
import { date, number, pounds, t, textOf } from '../../../texts/texts.js';
import { BarChart, type Bar } from '../../../ui/data/bar-chart.js';
import { officeLink } from '../../../ui/router.js';
import { lastDayOf, receivedPer, type Received, type Unit } from './periods.js';
import { countColumn, courierColumn, Section, weightColumn } from './section.js';
import { Figure } from '../../../ui/data/figure.js';

type Counts = Pick<Received, 'count' | 'countBefore'>;

/** Returns by how many percent a figure has changed, with one decimal. Nothing if there was none before. */
const changeOf = ({ count, countBefore }: Counts): number | '' =>
  countBefore === 0 ? '' : Math.round(((count - countBefore) / countBefore) * 1000) / 10;

/** Returns a change as it is read, such as +12.5 %. */
function changeText(counts: Counts): string {
  const change = changeOf(counts);
  const options = { style: 'percent', signDisplay: 'exceptZero', maximumFractionDigits: 1 } as const;
  return change === '' ? '' : number(change / 100, options);
}

type Filters = Record<'from' | 'to', string> & Partial<Record<'courier' | 'owner' | 'status', string>>;

/** A count of parcels that were received in a period, as a link to them. */
const ParcelsLink = ({ count, of: { courier = '', ...filters } }: { count: number; of: Filters }) => (
  <a href={officeLink('parcels', { ...filters, ...(courier ? { courier } : {}) })}>{number(count)}</a>
);

const beforeNote = (value: string): string => `${t('reports.before')}: ${value}`;

type Props = { of: PackageStatistics; unit: Unit; courier: string };

/** What was received in a period, and what is in the warehouse. */
export function Sections({ of, unit, courier }: Props) {
  const { from, to, total, total_before } = of;
  const period = `${from}-${to}`;
  return (
    <div class="stack home" data-testid="reports">
      <dl class="figures">
        <Figure title={t('reports.received')} note={beforeNote(number(total_before.count))}>
          {number(total.count)}
        </Figure>
        <Figure title={t('common.weight')} note={beforeNote(pounds(total_before.weight))}>
          {pounds(total.weight)}
        </Figure>
        <Figure title={t('reports.change')}>
          {changeText({ count: total.count, countBefore: total_before.count }) || '–'}
        </Figure>
      </dl>
      <Times
        rows={receivedPer(unit, of.days)}
        unit={unit}
        to={to}
        file={`received-per-${unit}-${period}`}
        courier={courier}
      />
      <Couriers of={of} file={`received-per-courier-${period}`} />
      <Section
        title={t('reports.statuses')}
        file={`statuses-${period}`}
        rows={of.statuses}
        keyOf={({ status }) => status}
        columns={[
          {
            title: t('common.status'),
            cell: ({ status }) => textOf('status', status),
            text: ({ status }) => textOf('status', status),
          },
          {
            ...countColumn<(typeof of.statuses)[number]>(),
            cell: ({ status, count }) => <ParcelsLink count={count} of={{ from, to, courier, status }} />,
          },
          weightColumn(),
        ]}
      />
      <Ages of={of} courier={courier} />
    </div>
  );
}

type TimesProps = { rows: Received[]; unit: Unit; to: string; file: string; courier: string };

function Times({ rows, unit, to, file, courier }: TimesProps) {
  const title = t('reports.time', { unit: t(`reportUnit.${unit}`) });
  const nameOf = (start: string) =>
    unit === 'day' ? date(start) : t('reports.weekOf', { day: date(start) });
  const bars = rows.map(({ start, count, countBefore }): Bar => ({
    label: start.slice(5),
    value: count,
    before: countBefore,
  }));
  return (
    <Section
      title={title}
      file={file}
      rows={rows}
      keyOf={({ start }) => start}
      columns={[
        { title: t(`office.date`), cell: ({ start }) => nameOf(start), text: ({ start }) => start },
        {
          ...countColumn<Received>(),
          title: t('reports.received'),
          cell: ({ start, count }) => (
            <ParcelsLink count={count} of={{ from: start, to: lastDayOf(unit, start, to), courier }} />
          ),
        },
        {
          title: t('reports.before'),
          isNumber: true,
          cell: ({ countBefore }) => number(countBefore),
          text: ({ countBefore }) => countBefore,
        },
        {
          title: t('reports.change'),
          isNumber: true,
          isExtra: true,
          cell: changeText,
          text: changeOf,
        },
        weightColumn(),
      ]}
    >
      <BarChart caption={title} title={t('reports.received')} beforeTitle={t('reports.before')} bars={bars} />
    </Section>
  );
}

function Couriers({ of: { couriers, from, to }, file }: { of: PackageStatistics; file: string }) {
  const title = t('reports.couriers');
  type Row = (typeof couriers)[number];
  return (
    <Section
      title={title}
      file={file}
      rows={couriers}
      keyOf={({ courier_id }) => courier_id ?? ''}
      columns={[
        courierColumn<Row>(),
        {
          ...countColumn<Row>(),
          title: t('reports.received'),
          cell: ({ courier_id, count }) => (
            <ParcelsLink
              count={count}
              of={{ from, to, ...(courier_id ? { courier: courier_id } : { owner: 'none' }) }}
            />
          ),
        },
        {
          title: t('reports.before'),
          isNumber: true,
          cell: ({ count_before }) => number(count_before),
          text: ({ count_before }) => count_before,
        },
        weightColumn(),
      ]}
    >
      <BarChart
        caption={title}
        title={t('reports.received')}
        beforeTitle={t('reports.before')}
        bars={couriers.map((row) => ({
          label: row.courier_code ?? '–',
          value: row.count,
          before: row.count_before,
        }))}
      />
    </Section>
  );
}

/** The links lead to all that are as old or older, which is what the list can show. */
function Ages({ of: { in_warehouse }, courier }: { of: PackageStatistics; courier: string }) {
  const title = t('reports.ages');
  const rows = in_warehouse.ages.map((age, index, ages) => ({
    ...age,
    atLeast: ages.slice(index).reduce((sum, { count }) => sum + count, 0),
  }));
  type Row = (typeof rows)[number];
  const nameOf = ({ min_days, max_days }: Row) =>
    max_days === null ? t('home.daysOver', { from: min_days }) : `${min_days} – ${max_days}`;
  return (
    <Section
      title={title}
      file="storage-age"
      rows={rows}
      keyOf={({ min_days }) => String(min_days)}
      columns={[
        { title: t('home.days'), cell: nameOf, text: nameOf },
        countColumn(),
        weightColumn(),
        {
          title: t('home.atLeast'),
          isNumber: true,
          cell: ({ min_days, atLeast }) => (
            <a href={officeLink('parcels', { age: String(min_days), ...(courier ? { courier } : {}) })}>
              {number(atLeast)}
            </a>
          ),
          text: ({ atLeast }) => atLeast,
        },
      ]}
    >
      <BarChart
        caption={title}
        title={t('common.packages')}
        bars={rows.map((row) => ({ label: nameOf(row), value: row.count }))}
      />
    </Section>
  );
}
