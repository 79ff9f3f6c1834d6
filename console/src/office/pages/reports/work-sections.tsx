import type { WorkStatistics } from '../../../../../sdk/typescript/src/index.js';
import { date, number, pounds, t, textOf } from '../../../texts/texts.js';
import { BarChart, type Bar } from '../../../ui/data/bar-chart.js';
import { officeLink } from '../../../ui/router.js';
import { isAdmin } from '../team/people.js';
import { receivedPer, type Unit } from './periods.js';
import { countColumn, courierColumn, Section, weightColumn, type ReportColumn } from './section.js';
import { Figure } from '../../../ui/data/figure.js';

/** The reports of what was done, by what they count. */
export const WORK_REPORTS = ['shipped', 'announced', 'unknown', 'people'] as const;
export type WorkReport = (typeof WORK_REPORTS)[number];

type Counted = Exclude<WorkReport, 'people'>;
type Amount = WorkStatistics['total'];

const AMOUNTS: Record<Counted, (of: Amount) => { count: number; weight: number }> = {
  shipped: ({ shipped, shipped_weight }) => ({ count: shipped, weight: shipped_weight }),
  // A pre-alert has no weight.
  announced: ({ announced }) => ({ count: announced, weight: 0 }),
  unknown: ({ unknown, unknown_weight }) => ({ count: unknown, weight: unknown_weight }),
};

type Props = { of: WorkStatistics; unit: Unit };

/** The report of a period that was chosen. */
export const WorkSections = ({ of, unit, report }: Props & { report: WorkReport }) => (
  <div class="stack home" data-testid="reports">
    {report === 'people' ? <People of={of} /> : <Amounts of={of} unit={unit} counted={report} />}
  </div>
);

function Amounts({ of, unit, counted }: Props & { counted: Counted }) {
  const total = AMOUNTS[counted](of.total);
  return (
    <>
      <dl class="figures">
        <Figure title={t(`report.${counted}`)}>{number(total.count)}</Figure>
        {counted !== 'announced' && <Figure title={t('common.weight')}>{pounds(total.weight)}</Figure>}
      </dl>
      <Times of={of} unit={unit} counted={counted} />
      <Couriers of={of} counted={counted} />
    </>
  );
}

/** The count and, of packages, their weight. */
const amountColumns = <Row extends { count: number; weight: number }>(
  counted: Counted,
): ReportColumn<Row>[] => [
  { ...countColumn<Row>(), title: t(`report.${counted}`) },
  ...(counted === 'announced' ? [] : [weightColumn<Row>()]),
];

const fileOf = (counted: string, by: string, { from, to }: WorkStatistics) =>
  `${counted}-per-${by}-${from}-${to}`;

function Times({ of, unit, counted }: Props & { counted: Counted }) {
  const title = t('reports.per', { what: t(`report.${counted}`), by: t(`reportUnit.${unit}`) });
  const days = of.days.map((day) => ({
    date: day.date,
    ...AMOUNTS[counted](day),
    count_before: 0,
    weight_before: 0,
  }));
  const rows = receivedPer(unit, days);
  const nameOf = (start: string) =>
    unit === 'day' ? date(start) : t('reports.weekOf', { day: date(start) });
  return (
    <Section
      title={title}
      file={fileOf(counted, unit, of)}
      rows={rows}
      keyOf={({ start }) => start}
      columns={[
        { title: t('office.date'), cell: ({ start }) => nameOf(start), text: ({ start }) => start },
        ...amountColumns<(typeof rows)[number]>(counted),
      ]}
    >
      <BarChart
        caption={title}
        title={t(`report.${counted}`)}
        bars={rows.map(({ start, count }): Bar => ({ label: start.slice(5), value: count }))}
      />
    </Section>
  );
}

function Couriers({ of, counted }: { of: WorkStatistics; counted: Counted }) {
  const title = t('reports.per', { what: t(`report.${counted}`), by: t('reports.courier') });
  const rows = of.couriers
    .map((row) => ({ ...row, ...AMOUNTS[counted](row) }))
    .filter(({ count }) => count > 0);
  type Row = (typeof rows)[number];
  return (
    <Section
      title={title}
      file={fileOf(counted, 'courier', of)}
      none={t('reports.nothing')}
      rows={rows}
      keyOf={({ courier_id }) => courier_id ?? ''}
      columns={[courierColumn<Row>(), ...amountColumns<Row>(counted)]}
    >
      <BarChart
        caption={title}
        title={t(`report.${counted}`)}
        bars={rows.map((row) => ({ label: row.courier_code ?? '–', value: row.count }))}
      />
    </Section>
  );
}

/** More bars than this cannot be read. The table has all people. */
const MOST_BARS = 12;
/** Letters that fit under all bars together. */
const LETTERS = 96;

/** Returns a name as it fits under one of so many bars. */
function shorten(name: string, bars: number): string {
  const most = Math.floor(LETTERS / Math.min(Math.max(bars, 1), MOST_BARS));
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

const FIGURES = ['received', 'weighed', 'loaded', 'shipped'] as const;

function People({ of }: { of: WorkStatistics }) {
  const title = t('reports.people');
  type Row = WorkStatistics['people'][number];
  return (
    <>
      <Section
        title={title}
        file={fileOf('work', 'person', of)}
        none={t('reports.nothing')}
        rows={of.people}
        keyOf={({ user_id }) => user_id}
        columns={[
          ...personColumns<Row>(),
          ...FIGURES.map((figure): ReportColumn<Row> => ({
            title: t(`reportWork.${figure}`),
            isNumber: true,
            cell: (row) => number(row[figure]),
            text: (row) => row[figure],
          })),
        ]}
      />
      {FIGURES.map((figure) => {
        const caption = t('reports.per', { what: t(`reportWork.${figure}`), by: t('reports.person') });
        const rows = of.people
          .map((row) => ({ ...row, count: row[figure] }))
          .filter(({ count }) => count > 0)
          .sort((one, other) => other.count - one.count);
        return (
          <Section
            key={figure}
            title={caption}
            file={fileOf(figure, 'person', of)}
            none={t('reports.nothing')}
            rows={rows}
            keyOf={({ user_id }) => user_id}
            columns={[
              ...personColumns<Row & { count: number }>(),
              { ...countColumn(), title: t(`reportWork.${figure}`) },
            ]}
          >
            <BarChart
              caption={caption}
              title={t(`reportWork.${figure}`)}
              bars={rows
                .slice(0, MOST_BARS)
                .map(({ username, count }) => ({ label: shorten(username, rows.length), value: count }))}
            />
          </Section>
        );
      })}
    </>
  );
}

/** Managers see the users of the warehouse and of the couriers in Team, administrators see all. */
const isInTeam = (role: string): boolean => isAdmin() || role === 'warehouse' || role === 'courier';

const personColumns = <Row extends WorkStatistics['people'][number]>(): ReportColumn<Row>[] => [
  {
    title: t('reports.user'),
    cell: ({ username, role }) =>
      isInTeam(role) ? <a href={officeLink(['team', username])}>{username}</a> : username,
    text: ({ username }) => username,
  },
  {
    title: t('office.name'),
    isExtra: true,
    cell: ({ full_name }) => full_name,
    text: ({ full_name }) => full_name,
  },
  {
    title: t('reports.role'),
    isExtra: true,
    cell: ({ role }) => textOf('role', role),
    text: ({ role }) => textOf('role', role),
  },
];
