import type { ComponentChildren } from 'preact';
import type { PackageStatistics } from '../../../../../sdk/typescript/src/index.js';
import { date, number, pounds, t, textOf } from '../../../texts/texts.js';
import { BarChart, type Bar } from '../../../ui/data/bar-chart.js';
import { Table, type Column } from '../../../ui/parts.js';
import { officeLink } from '../../../ui/router.js';
import { csvFile, saveFile } from '../../list/export.js';
import { receivedPer, type Received, type Unit } from './periods.js';

type ReportColumn<Row> = Column<Row> & {
  /** The value in the file. */
  text: (row: Row) => string | number;
};

type SectionProps<Row> = {
  title: string;
  /** The name of the file, without its end. */
  file: string;
  rows: Row[];
  keyOf: (row: Row) => string;
  columns: ReportColumn<Row>[];
  children?: ComponentChildren;
};

/** A report: its chart, its figures as a table, and the same figures as a file. */
function Section<Row>({ title, file, rows, keyOf, columns, children }: SectionProps<Row>) {
  const save = () =>
    saveFile(
      csvFile([
        columns.map((column) => column.title),
        ...rows.map((row) => columns.map(({ text }) => text(row))),
      ]),
      `${file}.csv`,
    );
  return (
    <section class="card stack">
      <div class="heading">
        <h2>{title}</h2>
        <button type="button" disabled={rows.length === 0} onClick={save}>
          {t('reports.export')}
          <span class="unseen"> {title}</span>
        </button>
      </div>
      {rows.length === 0 ? (
        <p class="muted">{t('reports.none')}</p>
      ) : (
        <>
          {children}
          <Table caption={title} rows={rows} keyOf={keyOf} columns={columns} />
        </>
      )}
    </section>
  );
}

/** The share by which a figure has changed, such as +12 %. Nothing if there was none before. */
const changeOf = (count: number, before: number): string =>
  before === 0 ? '' : number((count - before) / before, { style: 'percent', signDisplay: 'exceptZero' });

const weightColumn = <Row extends { weight: number }>(): ReportColumn<Row> => ({
  title: t('reports.weight'),
  isNumber: true,
  isExtra: true,
  cell: ({ weight }) => pounds(weight),
  text: ({ weight }) => weight,
});

type Props = { of: PackageStatistics; unit: Unit; courier: string };

/** The reports of a period. */
export function Sections({ of, unit, courier }: Props) {
  const { from, to, total, total_before } = of;
  const period = `${from}-${to}`;
  return (
    <div class="stack home" data-testid="reports">
      <dl class="figures">
        <Figure
          title={t('reports.received')}
          value={number(total.count)}
          before={number(total_before.count)}
        />
        <Figure
          title={t('common.weight')}
          value={pounds(total.weight)}
          before={pounds(total_before.weight)}
        />
        <Figure
          title={t('reports.change')}
          value={changeOf(total.count, total_before.count) || '–'}
          before={undefined}
        />
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

const countColumn = <Row extends { count: number }>(): ReportColumn<Row> => ({
  title: t('common.packages'),
  isNumber: true,
  cell: ({ count }) => number(count),
  text: ({ count }) => count,
});

type FigureProps = { title: string; value: string; before: string | undefined };

const Figure = ({ title, value, before }: FigureProps) => (
  <div class="figure">
    <dt>{title}</dt>
    <dd>{value}</dd>
    {before !== undefined && (
      <dd class="figure-note">
        {t('reports.before')}: {before}
      </dd>
    )}
  </div>
);

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
