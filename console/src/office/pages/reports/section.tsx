import type { ComponentChildren } from 'preact';
import { number, pounds, t } from '../../../texts/texts.js';
import { Table, type Column } from '../../../ui/parts.js';
import { officeLink } from '../../../ui/router.js';
import { csvOf, type FileColumn } from '../../list/csv.js';
import { saveFile } from '../../list/export.js';

/** A column of a table that is also a file. */
export type ReportColumn<Row> = Omit<Column<Row>, 'isNumber'> & FileColumn<Row>;

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
  const save = () => saveFile(csvOf(columns, rows), `${file}.csv`);
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

type CourierRow = { courier_code: string | null; courier_name: string | null };

/** The courier, as a link to its page. Packages of no known courier have none. */
export const courierColumn = <Row extends CourierRow>(): ReportColumn<Row> => ({
  title: t('common.courier'),
  cell: ({ courier_code, courier_name }) =>
    courier_code ? <a href={officeLink(['couriers', courier_code])}>{courier_name}</a> : t('today.unknown'),
  text: ({ courier_name }) => courier_name ?? t('today.unknown'),
});
