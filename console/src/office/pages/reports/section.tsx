import type { ComponentChildren } from 'preact';
import { number, pounds, t } from '../../../texts/texts.js';
import { Table, type Column } from '../../../ui/parts.js';
import { csvFile, saveFile } from '../../list/export.js';

export type ReportColumn<Row> = Column<Row> & {
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
  /** The text without rows. */
  none?: string;
  children?: ComponentChildren;
};

/** A report: its chart, its figures as a table, and the same figures as a file. */
export function Section<Row>({ title, file, rows, keyOf, columns, none, children }: SectionProps<Row>) {
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
        <p class="muted">{none ?? t('reports.none')}</p>
      ) : (
        <>
          {children}
          <Table caption={title} rows={rows} keyOf={keyOf} columns={columns} />
        </>
      )}
    </section>
  );
}

export const countColumn = <Row extends { count: number }>(): ReportColumn<Row> => ({
  title: t('common.packages'),
  isNumber: true,
  cell: ({ count }) => number(count),
  text: ({ count }) => count,
});

export const weightColumn = <Row extends { weight: number }>(): ReportColumn<Row> => ({
  title: t('reports.weight'),
  isNumber: true,
  isExtra: true,
  cell: ({ weight }) => pounds(weight),
  text: ({ weight }) => weight,
});

type FigureProps = { title: string; value: string; note?: string };

/** A total, with the figure to compare it with. */
export const Figure = ({ title, value, note }: FigureProps) => (
  <div class="figure">
    <dt>{title}</dt>
    <dd>{value}</dd>
    {note !== undefined && <dd class="figure-note">{note}</dd>}
  </div>
);
