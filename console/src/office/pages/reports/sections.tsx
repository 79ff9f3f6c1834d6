import type { PackageStatistics } from '../../../../../sdk/typescript/src/index.js';
import { date, number, pounds, t, textOf } from '../../../texts/texts.js';
import { BarChart, type Bar } from '../../../ui/data/bar-chart.js';
import { officeLink } from '../../../ui/router.js';
import { receivedPer, type Received, type Unit } from './periods.js';
import { countColumn, Section, weightColumn } from './section.js';
import { Figure } from '../../../ui/data/figure.js';

/** The share by which a figure has changed, such as +12 %. Nothing if there was none before. */
const changeOf = (count: number, before: number): string =>
  before === 0 ? '' : number((count - before) / before, { style: 'percent', signDisplay: 'exceptZero' });

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
        <Figure title={t('reports.change')}>{changeOf(total.count, total_before.count) || '–'}</Figure>
      </dl>
      <Times
        rows={receivedPer(unit, of.days)}
        unit={unit}
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
          countColumn(),
          weightColumn(),
        ]}
      />
      <Ages of={of} />
    </div>
  );
}

type TimesProps = { rows: Received[]; unit: Unit; file: string; courier: string };

function Times({ rows, unit, file, courier }: TimesProps) {
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
          cell: ({ start, count }) =>
            unit === 'day' ? (
              <a href={officeLink('parcels', { from: start, to: start, ...(courier ? { courier } : {}) })}>
                {number(count)}
              </a>
            ) : (
              number(count)
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
          cell: ({ count, countBefore }) => changeOf(count, countBefore),
          text: ({ count, countBefore }) => changeOf(count, countBefore),
        },
        weightColumn(),
      ]}
    >
      <BarChart caption={title} title={t('reports.received')} beforeTitle={t('reports.before')} bars={bars} />
    </Section>
  );
}

function Couriers({ of: { couriers }, file }: { of: PackageStatistics; file: string }) {
  const title = t('reports.couriers');
  type Row = (typeof couriers)[number];
  const nameOf = ({ courier_name }: Row) => courier_name ?? t('today.unknown');
  return (
    <Section
      title={title}
      file={file}
      rows={couriers}
      keyOf={({ courier_id }) => courier_id ?? ''}
      columns={[
        { title: t('common.courier'), cell: nameOf, text: nameOf },
        { ...countColumn<Row>(), title: t('reports.received') },
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

function Ages({ of: { in_warehouse } }: { of: PackageStatistics }) {
  const title = t('reports.ages');
  type Row = (typeof in_warehouse.ages)[number];
  const nameOf = ({ min_days, max_days }: Row) =>
    max_days === null ? t('home.daysOver', { from: min_days }) : `${min_days} – ${max_days}`;
  return (
    <Section
      title={title}
      file="storage-age"
      rows={in_warehouse.ages}
      keyOf={({ min_days }) => String(min_days)}
      columns={[{ title: t('home.days'), cell: nameOf, text: nameOf }, countColumn(), weightColumn()]}
    >
      <BarChart
        caption={title}
        title={t('common.packages')}
        bars={in_warehouse.ages.map((row) => ({ label: nameOf(row), value: row.count }))}
      />
    </Section>
  );
}
